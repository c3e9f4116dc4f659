/**
 * `ctl logs`: prints the logs of containers, of a pod, of the pods of a workload, or of pods with a label;
 * also what a feature prints as the log of an object.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { query } from '../../client/resource-path.ts';
import { isTransportError } from '../../client/transport-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import { type Flags, type FlagTable, selectorFlag } from '../flags/flags.ts';
import { kindName } from '../objects/discovery.ts';
import { reportNothingIn } from '../objects/nothing-found.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { podSelectorOf, textAt } from '../objects/objects.ts';
import {
  containersOf,
  defaultContainer,
  firstPod,
  type Pod,
  runningTimeoutFlag,
  selectPods,
  waitingMessage,
} from '../objects/pods.ts';
import { resolveTargets } from '../objects/targets.ts';
import { printBody } from '../print-body.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  follow: { type: 'boolean', short: 'f', about: 'keep printing new lines as the containers write them' },
  container: {
    type: 'string',
    short: 'c',
    hint: 'NAME',
    about: 'container whose log is printed',
    usual: 'the first',
  },
  'all-containers': { type: 'boolean', about: 'print the logs of all containers' },
  previous: { type: 'boolean', short: 'p', about: 'print the log of the run before the last restart' },
  tail: {
    type: 'string',
    hint: 'LINES',
    about: 'print only this many of the last lines',
    usual: '-1, all lines; 10 with a selector',
  },
  since: {
    type: 'string',
    hint: 'DURATION',
    about: 'print only lines newer than this, such as 5m',
    usual: 'all',
  },
  'since-time': {
    type: 'string',
    hint: 'TIME',
    about: 'print only lines after a time (RFC 3339)',
    usual: 'all',
  },
  timestamps: { type: 'boolean', about: 'print the time before each line' },
  'limit-bytes': { type: 'string', hint: 'BYTES', about: 'print at most this many bytes', usual: 'no limit' },
  'all-pods': { type: 'boolean', about: 'print the logs of all pods of TYPE/NAME; sets --prefix' },
  'all-nodes': {
    type: 'boolean',
    on: true,
    about: 'print the logs of all selected pods, on all nodes',
  },
  'max-log-requests': {
    type: 'string',
    hint: 'COUNT',
    about: 'with -f: maximum number of logs to follow at once',
    usual: '5',
  },
  prefix: { type: 'boolean', about: 'print pod and container before each line' },
  'ignore-errors': {
    type: 'boolean',
    about: 'print the errors of single logs between the lines, and succeed',
  },
  'insecure-skip-tls-verify-backend': {
    type: 'boolean',
    about: 'ask the server not to verify the certificate of the node; a minik8s server always verifies it',
  },
  'pod-running-timeout': {
    ...runningTimeoutFlag['pod-running-timeout'],
    about: 'time to wait until TYPE/NAME has a pod',
    usual: '0',
  },
  ...selectorFlag,
} as const satisfies FlagTable;

export const logs: Verb = {
  about: 'print the logs of the containers of pods',
  group: 'Troubleshooting and Debugging Commands',
  words: ['POD [-c CONTAINER]', 'TYPE/NAME', '-l SELECTOR'],
  flags: flagTable,
  examples: [
    'ctl logs web # print the log of a pod',
    'ctl logs -f deployment/web # follow the log of a pod of a Deployment',
    'ctl logs web -p # print the log of the run before the last restart',
    'ctl logs -l app=web --all-containers --tail=20 # print the last lines of several pods',
    'ctl logs web --since=10m # print the lines of the last ten minutes',
  ],
  async run(context) {
    const cluster = context.cluster();
    const found = await podsOf(context, cluster);
    if ('print' in found) return found.print();
    const { pods } = found;
    const sources = pods.flatMap((pod) => sourcesOf(context, pod));
    const options = logQuery(context.flags);
    const prefixed = context.flags.on('prefix') || context.flags.on('all-pods');
    requireFew(context.flags, sources.length);
    const print = (source: Source) =>
      printLog(context, cluster, source, { options, prefixed, alone: sources.length === 1 });
    if (context.flags.on('follow')) await Promise.all(sources.map(print));
    else for (const source of sources) await print(source);
  },
};

const maxFollowed = 5;

/**
 * Throws UsageError, in kubectl's words, if more streams would be followed than --max-log-requests allows.
 */
function requireFew(flags: Flags, count: number): void {
  const most = flags.whole('max-log-requests') ?? maxFollowed;
  if (most < 1) throw new UsageError(`--max-log-requests must be 1 or more, got ${most}`);
  if (flags.on('follow') && count > most)
    throw new UsageError(
      `you are attempting to follow ${count} log streams, but maximum allowed concurrency is ${most}, use --max-log-requests to increase the limit`,
    );
}

type LogOf = { readonly pods: readonly Pod[] } | { readonly print: () => Promise<void> };

interface Source {
  readonly pod: ObjectTarget;
  readonly container: string;
  /**
   * Message of the pod's status on why the container waits; empty if it does not wait, or without a message.
   */
  readonly waits: string;
}

async function podsOf(context: VerbContext, cluster: Cluster): Promise<LogOf> {
  const { flags, io } = context;
  if (!flags.on('all-nodes'))
    throw new UsageError(
      'ctl logs: pods of all nodes are always included; select pods by name or with -l SELECTOR',
    );
  const selector = flags.text('selector');
  if (selector !== undefined) {
    if (flags.words.length > 0) throw new UsageError('only a selector (-l) or a pod name is allowed');
    const { pods } = await selectPods(cluster, cluster.namespace, selector);
    if (pods.length === 0) await reportNothingIn(cluster, io);
    return { pods };
  }
  const target = await namedObject(context);
  const { group, plural } = target.resource;
  const load = Object.entries(io.features.logs).find(([kind]) => kind === `${plural}.${group}`)?.[1];
  if (load) {
    const print = await load();
    const given = Object.keys(flagTable).filter((flag) => flags.given(flag));
    return { print: () => print(context, target, given) };
  }
  return { pods: await podsBehind(context, cluster, target) };
}

/** Returns the object whose log is printed. Throws UsageError if the words name none. */
async function namedObject(context: VerbContext): Promise<ObjectTarget> {
  const { flags } = context;
  const [word, container, ...more] = flags.words;
  if (word === undefined || more.length > 0)
    throw new UsageError('ctl logs: say which pod: POD, TYPE/NAME or -l SELECTOR, and at most one container');
  if (container !== undefined && flags.given('container'))
    throw new UsageError('ctl logs: only one of -c or a CONTAINER argument is allowed');
  const [target] = await resolveTargets(context, [word.includes('/') ? word : `pods/${word}`]);
  if (!target || target.name === undefined) throw new UsageError(`ctl logs: ${word} does not name an object`);
  return { ...target, name: target.name };
}

/** Returns the object if it is a pod, else the pods that it selects: all or the first of them. */
async function podsBehind(
  context: VerbContext,
  cluster: Cluster,
  target: ObjectTarget,
): Promise<readonly Pod[]> {
  const { flags, io } = context;
  const object = await cluster.get(targetPath(target));
  if (target.resource.subresources.includes('log')) return [{ target, object }];
  const labels = podSelectorOf(object);
  if (!labels) throw new Error(`${kindName(target.resource)}/${target.name} has no pod selector`);
  const { pods } = await selectPods(cluster, target.namespace, labels);
  const [first] = pods;
  if (!first && flags.given('pod-running-timeout'))
    return [await firstPod(context, target.namespace, labels)];
  if (!first) throw new Error(`no pods found for ${kindName(target.resource)}/${target.name}: ${labels}`);
  if (flags.on('all-pods')) return pods;
  if (pods.length > 1) io.err(`Found ${pods.length} pods, using pod/${first.target.name}\n`);
  return [first];
}

function sourcesOf({ flags, io }: VerbContext, { target, object }: Pod): Source[] {
  if (flags.on('all-containers')) {
    const all = [...containersOf(object, 'initContainers'), ...containersOf(object)];
    return all.map((one) => sourceOf(target, object, textAt(one, 'name')));
  }
  const [, word] = flags.words;
  const container = flags.text('container') ?? word ?? defaultContainer(object, io);
  return [sourceOf(target, object, container)];
}

const sourceOf = (pod: ObjectTarget, object: JsonObject, container: string): Source => ({
  pod,
  container,
  waits: waitingMessage(object, container),
});

function logQuery(flags: Flags): Readonly<Record<string, string | number | boolean | undefined>> {
  const tail = flags.whole('tail');
  const sinceMs = flags.duration('since');
  const several = flags.given('selector') && tail === undefined;
  return {
    follow: flags.on('follow') || undefined,
    previous: flags.on('previous') || undefined,
    timestamps: flags.on('timestamps') || undefined,
    // kubectl's default for several pods is the last ten lines of each.
    tailLines: several ? 10 : tail !== undefined && tail >= 0 ? tail : undefined,
    sinceSeconds: sinceMs === undefined ? undefined : Math.ceil(sinceMs / 1000),
    sinceTime: flags.text('since-time'),
    limitBytes: flags.whole('limit-bytes'),
    insecureSkipTLSVerifyBackend: flags.on('insecure-skip-tls-verify-backend') || undefined,
  };
}

interface LogOptions {
  readonly options: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly prefixed: boolean;
  readonly alone: boolean;
}

async function printLog(
  { io, flags, report }: VerbContext,
  cluster: Cluster,
  { pod, container, waits }: Source,
  { options, prefixed, alone }: LogOptions,
): Promise<void> {
  try {
    const path = targetPath(pod, 'log') + query({ container, ...options });
    const { body } = await cluster.open({ method: 'GET', path, headers: { accept: '*/*' } });
    const whole = untilCut(body, `the log of container "${container}" in pod "${pod.name}" is not complete`);
    if (alone && !prefixed) return await printBody(io, whole);
    const prefix = prefixed ? `[pod/${pod.name}/${container}] ` : '';
    for await (const line of logLines(whole)) {
      io.out(`${prefix}${line}\n`);
      await io.room?.();
    }
  } catch (error) {
    if (io.signal.aborted) throw error;
    if (flags.on('ignore-errors')) io.out(`error: ${errorMessage(error)}\n`);
    else report(error);
    noteWait(io, error, waits);
  }
}

/** Prints why a container without a log waits. The server's error has only the reason. */
function noteWait(io: VerbContext['io'], error: unknown, waits: string): void {
  if (waits !== '' && error instanceof StatusError && / is waiting to start: /.test(error.message))
    io.err(`Note: ${waits}\n`);
}

/**
 * Yields the body, and replaces a transport error. The broken connection may be the one to the API server, or
 * one behind it: to the kubelet, or from the kubelet to the container engine.
 */
async function* untilCut(body: AsyncIterable<Uint8Array>, what: string): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw isTransportError(error) ? new Error(what, { cause: error }) : error;
  }
}

/** Yields lines; the last line needs no newline. */
async function* logLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
  if (rest) yield rest;
}
