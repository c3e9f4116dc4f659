/**
 * `ctl debug`: adds a container to a pod, or creates a changed copy of a pod, or a pod on a node, for
 * debugging.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isRecord } from '../../apimachinery/equality.ts';
import { requiredType } from '../../apimachinery/field-types.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { applyStrategicPatch } from '../../apimachinery/patch-strategic.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import { parseYaml } from '../../apimachinery/yaml.ts';
import { errorMessage } from '../../base/log.ts';
import { randomName } from '../../base/random.ts';
import { UsageError } from '../../base/usage-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import { readBounded } from '../../os/bounded-file.ts';
import { attachWhenStarted } from '../debug/attach-when-started.ts';
import {
  type Customize,
  customContainer,
  type DebugRequest,
  ephemeralContainer,
  nodePod,
  podCopy,
  takenNames,
} from '../debug/debug-plan.ts';
import { debugFlags, debugRequest } from '../debug/debug-request.ts';
import { findResource, kindName } from '../objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { hasEnded, metadataOf, textAt } from '../objects/objects.ts';
import type { Pod } from '../objects/pods.ts';
import { resolveTargets } from '../objects/targets.ts';
import type { Verb, VerbContext } from '../verb.ts';

export const debug: Verb = {
  about: 'debug a pod or a node with a container of another image',
  group: 'Troubleshooting and Debugging Commands',
  words: ['POD', 'TYPE/NAME'],
  flags: debugFlags,
  examples: [
    'ctl debug web -it --image=busybox --target=web --profile=general # open a shell beside the processes of a container',
    'ctl debug web -it --image=busybox --copy-to=web-debug --share-processes # open a shell in a copy of the pod',
    'ctl debug web --copy-to=web-debug --set-image=*=web:debug # copy the pod with another image',
    'ctl debug node/node-1 -it --image=busybox --profile=sysadmin # open a shell on a node, whose files are in /host',
  ],
  async run(context) {
    const { flags, io } = context;
    const { request, words, attaches } = debugRequest(flags);
    const customize = await customizer(context, flags.text('custom'));
    if (request.target && !flags.on('quiet'))
      io.out(
        `Targeting container "${request.target}". If you don't see processes from this container it may be because the container runtime doesn't support this feature.\n`,
      );
    if (request.profile === 'legacy')
      io.err(
        '--profile=legacy is deprecated and will be removed in the future. It is recommended to explicitly specify a profile, for example "--profile=general".\n',
      );
    for (const target of await targetsOf(context, words)) {
      const made = await make(context, target, request, customize);
      if (attaches && made.container) await attachWhenStarted(context, made.pod, made.container);
    }
  },
};

/** Returns what --custom does to a container. */
async function customizer({ io }: VerbContext, path: string | undefined): Promise<Customize> {
  if (!path) return (container) => container;
  const value = await readCustom(path, io.signal);
  const type = requiredType(await io.kubernetesFields(), 'core.v1.Container');
  return (container) => applyStrategicPatch(container, value, type);
}

async function readCustom(path: string, signal: AbortSignal): Promise<JsonObject> {
  let text: string;
  try {
    text = (await readBounded(path, { signal })).toString('utf8');
  } catch (error) {
    throw new UsageError(
      `ctl debug: must pass a container spec json file for custom profile: ${errorMessage(error)}`,
    );
  }
  try {
    const { value } = parseYaml(text);
    if (isRecord(value)) return customContainer(value);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `ctl debug: ${path} does not contain a valid container spec: ${errorMessage(error)}`,
    );
  }
  throw new UsageError(`ctl debug: ${path} does not contain a valid container spec`);
}

/** Returns the named objects; a name without a type is that of a pod. */
async function targetsOf(context: VerbContext, words: readonly string[]): Promise<ObjectTarget[]> {
  const named = words.map((word) => (word.includes('/') ? word : `pods/${word}`));
  const found = await resolveTargets(context, named);
  return found.flatMap((target) => (target.name === undefined ? [] : [target]));
}

interface Made {
  readonly pod: Pod;
  readonly container?: string | undefined;
}

async function make(
  context: VerbContext,
  target: ObjectTarget,
  request: DebugRequest,
  customize: Customize,
): Promise<Made> {
  const { kind, group, version } = target.resource;
  const object = await context.cluster().get(targetPath(target));
  switch (kindName(target.resource)) {
    case 'node':
      return makeNodePod(context, target, request, customize);
    case 'pod':
      return request.copyTo === undefined
        ? addContainer(context, { target, object }, request, customize)
        : makeCopy(context, { target, object }, request, customize);
    default:
      throw new Error(`"${group ? `${group}/` : '/'}${version}, Kind=${kind}" not supported by debug`);
  }
}

async function makeNodePod(
  context: VerbContext,
  node: ObjectTarget,
  request: DebugRequest,
  customize: Customize,
): Promise<Made> {
  const { io, flags, cluster } = context;
  const name = `node-debugger-${node.name}-${randomName(io.random, 5)}`;
  const container = request.container ?? 'debugger';
  if (!flags.on('quiet'))
    io.out(`Creating debugging pod ${name} with container ${container} on node ${node.name}.\n`);
  const { namespace } = cluster();
  return {
    pod: await createPod(context, nodePod(request, node.name, name, customize), namespace),
    container,
  };
}

async function createPod({ cluster }: VerbContext, pod: JsonObject, namespace: string): Promise<Pod> {
  const resource = findResource(await cluster().resources(), 'pods');
  const object = await cluster().send('POST', collectionPath(resource, namespace), pod);
  return { target: { resource, namespace, name: metadataOf(object).name }, object };
}

async function makeCopy(
  context: VerbContext,
  { target, object }: Pod,
  request: DebugRequest,
  customize: Customize,
): Promise<Made> {
  const { flags, cluster } = context;
  const copy = podCopy(request, object, () => chooseName(context, object), customize);
  const pod = await createPod(context, copy.pod, target.namespace);
  const now = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 };
  if (flags.on('replace')) await cluster().send('DELETE', targetPath(target), now);
  return { pod, container: copy.container };
}

async function addContainer(
  context: VerbContext,
  { target, object }: Pod,
  request: DebugRequest,
  customize: Customize,
): Promise<Made> {
  if (hasEnded(object))
    throw new Error(
      `no container can start in pod ${target.name}, which has ended (${textAt(object, 'status', 'phase')}); debug a copy of it: --copy-to=NAME`,
    );
  const container = request.container ?? chooseName(context, object);
  const patch = { spec: { ephemeralContainers: [ephemeralContainer(request, container, customize)] } };
  const path = targetPath(target, 'ephemeralcontainers');
  try {
    const changed = await context.cluster().send('PATCH', path, patch, patchTypes.strategic);
    return { pod: { target, object: changed }, container };
  } catch (error) {
    throw isWithoutSubresource(error)
      ? new Error(
          `ephemeral containers are disabled for this cluster (error from server: ${JSON.stringify(errorMessage(error))})`,
        )
      : error;
  }
}

/** Returns true for the 404 of a server without the subresource, which names no pod. */
const isWithoutSubresource = (error: unknown): boolean =>
  error instanceof StatusError && error.status.reason === 'NotFound' && !error.status.details?.name;

function chooseName({ io, flags }: VerbContext, pod: JsonObject): string {
  const taken = takenNames(pod);
  let name: string;
  do name = `debugger-${randomName(io.random, 5)}`;
  while (taken.has(name));
  if (!flags.on('quiet')) io.out(`Defaulting debug container name to ${name}.\n`);
  return name;
}
