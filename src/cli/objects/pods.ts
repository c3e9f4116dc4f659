/** Pods of a name or a workload, and their containers. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import type { Io } from '../io.ts';
import type { VerbContext } from '../verb.ts';
import { findResource, kindName } from './discovery.ts';
import { type CollectionTarget, listPath, type ObjectTarget, targetPath } from './object-target.ts';
import { hasEnded, metadataOf, podSelectorOf, recordsAt, textAt } from './objects.ts';
import { resolveTargets } from './targets.ts';

export interface Pod {
  readonly target: ObjectTarget;
  readonly object: JsonObject;
}

/** Flags of commands that work with one container. */
export const containerFlag = {
  container: { type: 'string', short: 'c', hint: 'NAME', about: 'name of the container' },
} as const satisfies FlagTable;

/** Flags of commands that work with one pod. */
export const runningTimeoutFlag = {
  'pod-running-timeout': {
    type: 'string',
    hint: 'DURATION',
    about: 'time to wait until a pod is running',
    usual: '1m',
  },
} as const satisfies FlagTable;

/** Flags of commands that connect to a program. */
export const joinFlags = {
  quiet: { type: 'boolean', short: 'q', about: 'print only the output of the container' },
  stdin: { type: 'boolean', short: 'i', about: 'pass standard input to the container' },
  tty: { type: 'boolean', short: 't', about: 'standard input is a terminal' },
  ...runningTimeoutFlag,
} as const satisfies FlagTable;

/** Flags of commands that connect to a program in a container. */
export const detachFlag = {
  'detach-keys': {
    type: 'string',
    hint: 'KEY,…',
    about: 'keys that end the connection and leave the program running, such as ctrl-p,ctrl-q or q',
    usual: 'ctrl-p,ctrl-q',
  },
} as const satisfies FlagTable;

export const programFlags = { ...containerFlag, ...joinFlags } as const satisfies FlagTable;

/** Returns the pods with the labels, running and ready ones first, then the oldest. */
export async function selectPods(
  cluster: Cluster,
  namespace: string,
  labelSelector: string,
): Promise<{ readonly pods: Pod[]; readonly collection: CollectionTarget; readonly revision: string }> {
  const resource = findResource(await cluster.resources(), 'pods');
  const collection = { resource, namespace, labelSelector, fieldSelector: undefined };
  const list = await cluster.get(listPath(collection));
  const pods = recordsAt(list, 'items').map((object) => podOf(collection, object));
  return { pods: pods.sort(byReadiness), collection, revision: textAt(list, 'metadata', 'resourceVersion') };
}

function podOf({ resource, namespace }: CollectionTarget, object: JsonObject): Pod {
  return { target: { resource, namespace, name: metadataOf(object).name }, object };
}

/** Returns the message of a container that waits; empty if it does not wait or has no message. */
export function waitingMessage(pod: JsonObject, container: string): string {
  const statuses = ['initContainerStatuses', 'containerStatuses'].flatMap((field) =>
    recordsAt(pod, 'status', field),
  );
  const status = statuses.find((one) => textAt(one, 'name') === container);
  return textAt(status, 'state', 'waiting', 'message').replaceAll(/\s+/g, ' ').trim();
}

function byReadiness(a: Pod, b: Pod): number {
  const rank = ({ object }: Pod) => {
    const conditions = recordsAt(object, 'status', 'conditions');
    const ready = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    return (textAt(object, 'status', 'phase') === 'Running' ? 0 : 2) + (ready ? 0 : 1);
  };
  const born = ({ object }: Pod) => metadataOf(object).creationTimestamp ?? '';
  return rank(a) - rank(b) || (born(a) < born(b) ? -1 : 1);
}

/**
 * Resolves to the pod that `web`, `pod/web` or `deploy/web` names: the object itself, or the first pod of the
 * workload. `of` is the named object.
 */
export async function findPod(
  context: VerbContext,
  word: string | undefined,
): Promise<Pod & { readonly of: Pod }> {
  const cluster = context.cluster();
  const words = word === undefined ? [] : [word.includes('/') ? word : `pods/${word}`];
  const [target, ...more] = await resolveTargets(context, words);
  if (!target || target.name === undefined || more.length > 0)
    throw new UsageError(`${word ?? '-f'} is not one object: say POD or TYPE/NAME`);
  const of = { target, object: await cluster.get(targetPath(target)) };
  if (target.resource.subresources.includes('exec')) return { ...of, of };
  const labels = podSelectorOf(of.object);
  if (!labels) throw new Error(`${kindName(target.resource)}/${target.name} has no pod selector`);
  return { ...(await firstPod(context, target.namespace, labels)), of };
}

/** Resolves to the first pod with the labels; waits for one until --pod-running-timeout. */
export async function firstPod(
  { flags, io, cluster }: VerbContext,
  namespace: string,
  labels: string,
): Promise<Pod> {
  const { pods, collection, revision } = await selectPods(cluster(), namespace, labels);
  const [first] = pods;
  if (first) return first;
  const late = new AbortController();
  const timer = io.clock.after(podTimeoutOf(flags), () =>
    late.abort(new Error('timed out waiting for the condition')),
  );
  try {
    const path = listPath(collection, { watch: true, resourceVersion: revision });
    for await (const { type, object } of cluster().watch(path, { until: late.signal }))
      if (type === 'ADDED') return podOf(collection, object);
  } finally {
    timer.cancel();
  }
  throw new Error(`no pod with ${labels} appeared before the server ended the watch: try again`);
}

/** Returns the timeout in milliseconds; throws UsageError unless it is above 0. */
export function podTimeoutOf(flags: Flags): number {
  const ms = flags.duration('pod-running-timeout') ?? 60_000;
  if (ms > 0) return ms;
  throw new UsageError('--pod-running-timeout must be higher than zero');
}

export const containersOf = (
  pod: JsonObject,
  field: 'containers' | 'initContainers' | 'ephemeralContainers' = 'containers',
): JsonObject[] => recordsAt(pod, 'spec', field);

const defaultAnnotation = 'kubectl.kubernetes.io/default-container';

/** Returns the default container of a pod; prints its name if the pod has several, unless `quiet` is set. */
export function defaultContainer(pod: JsonObject, io: Pick<Io, 'err'>, quiet = false): string {
  const names = containersOf(pod).map((container) => textAt(container, 'name'));
  const annotated = metadataOf(pod).annotations[defaultAnnotation];
  if (annotated !== undefined) return annotated;
  const [first = ''] = names;
  if (names.length > 1 && !quiet) io.err(`Defaulted container "${first}" out of: ${names.join(', ')}\n`);
  return first;
}

/**
 * Returns the name of the container. Throws for a pod that has ended; `doing` is a phrase such as `exec
 * into`.
 */
export function chooseContainer({ flags, io }: VerbContext, { object }: Pod, doing: string): string {
  if (hasEnded(object)) {
    const phase = textAt(object, 'status', 'phase');
    throw new Error(`cannot ${doing} a container in a completed pod; current phase is ${phase}`);
  }
  return flags.text('container') ?? defaultContainer(object, io, flags.on('quiet'));
}
