/** The containers and pods that `ctl debug` makes. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { metadataOf, recordAt, recordsAt, textAt } from '../objects/objects.ts';
import {
  type KeptParts,
  type Profile,
  profiledContainer,
  profiledCopy,
  profiledNodePod,
} from './profiles.ts';

export interface DebugRequest {
  readonly image: string | undefined;
  /** Name of the container; chosen if undefined. */
  readonly container: string | undefined;
  /** The words after `--`: the command, or with `argumentsOnly` the arguments. */
  readonly args: readonly string[];
  readonly argumentsOnly: boolean;
  readonly env: readonly (readonly [name: string, value: string])[];
  readonly imagePullPolicy: string | undefined;
  readonly stdin: boolean;
  readonly tty: boolean;
  readonly profile: Profile;
  readonly target: string | undefined;
  readonly copyTo: string | undefined;
  readonly sameNode: boolean;
  /** Undefined if the copy keeps the setting of its pod. */
  readonly shareProcesses: boolean | undefined;
  /** New images by container; `*` stands for all containers. */
  readonly setImages: ReadonlyMap<string, string>;
  readonly kept: KeptParts;
}

/** Applies the file of --custom to a finished container. */
export type Customize = (container: JsonObject) => JsonObject;

/** Returns the fields that --image, --env, -i, -t, and the words behind `--` give to a new container. */
function newContainer(request: DebugRequest, name: string): JsonObject {
  const { image, env, imagePullPolicy, args } = request;
  return {
    name,
    ...(image && { image }),
    ...(args.length > 0 && { [request.argumentsOnly ? 'args' : 'command']: args }),
    ...(env.length > 0 && { env: variables(request) }),
    ...(imagePullPolicy && { imagePullPolicy }),
    ...(request.stdin && { stdin: true }),
    ...(request.tty && { tty: true }),
    terminationMessagePolicy: 'File',
  };
}

const variables = ({ env }: DebugRequest) => env.map(([name, value]) => ({ name, value }));

/** Returns the ephemeral container that is added to a pod. */
export function ephemeralContainer(request: DebugRequest, name: string, customize: Customize): JsonObject {
  const made = {
    ...newContainer(request, name),
    ...(request.target && { targetContainerName: request.target }),
  };
  return customize(profiledContainer(made, request.profile, 'ephemeral'));
}

/** Returns the debugging pod for a node; `name` becomes the name of the pod. */
export function nodePod(request: DebugRequest, node: string, name: string, customize: Customize): JsonObject {
  const made = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      containers: [newContainer(request, request.container ?? 'debugger')],
      nodeName: node,
      restartPolicy: 'Never',
      tolerations: [{ operator: 'Exists' }],
    },
  };
  return customized(profiledNodePod(made, request.profile), request.container ?? 'debugger', customize);
}

/** A copy of a pod, and the name of its debugging container, which is absent if only images are changed. */
export interface PodCopy {
  readonly pod: JsonObject;
  readonly container?: string;
}

/** Returns the copy of a pod. `chooseName` is called if the container needs a new name. */
export function podCopy(
  request: DebugRequest,
  original: JsonObject,
  chooseName: () => string,
  customize: Customize,
): PodCopy {
  const copied = copyOf(request, original);
  const { image, setImages } = request;
  const name = request.container ?? '';
  const isKnown = containersOfCopy(copied).some((container) => container.name === name);
  if (!isKnown && !image) {
    if (setImages.size > 0) return { pod: copied };
    throw new UsageError('ctl debug: you must specify --image when creating a new container');
  }
  const container = isKnown ? name : name || chooseName();
  const spec = recordAt(copied, 'spec');
  const change = (list: 'containers' | 'initContainers') =>
    recordsAt(spec, list).map((one) => (textAt(one, 'name') === container ? changed(one, request) : one));
  const containers = isKnown
    ? change('containers')
    : [...recordsAt(spec, 'containers'), newContainer(request, container)];
  const withContainer = {
    ...copied,
    spec: {
      ...spec,
      ...(spec.initContainers !== undefined && { initContainers: change('initContainers') }),
      containers,
    },
  };
  const profiled = profiledCopy(withContainer, container, request.profile, request.kept);
  return { pod: customized(profiled, container, customize), container };
}

/** Returns the fields of a pod that a copy has, with the images of --set-image. */
function copyOf(request: DebugRequest, original: JsonObject): JsonObject {
  const { copyTo, sameNode, shareProcesses, setImages } = request;
  const { ephemeralContainers: _, nodeName, ...spec } = recordAt(original, 'spec');
  const { namespace } = metadataOf(original);
  const { labels, annotations } = recordAt(original, 'metadata');
  const imageOf = (name: string) => setImages.get(name) ?? setImages.get('*');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: copyTo,
      namespace,
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
    },
    spec: {
      ...spec,
      ...(sameNode && nodeName !== undefined && { nodeName }),
      ...(shareProcesses !== undefined && { shareProcessNamespace: shareProcesses }),
      containers: recordsAt(spec, 'containers').map((container) => {
        const image = imageOf(textAt(container, 'name'));
        return image ? { ...container, image } : container;
      }),
    },
  };
}

const containersOfCopy = (pod: JsonObject): JsonObject[] => [
  ...recordsAt(pod, 'spec', 'containers'),
  ...recordsAt(pod, 'spec', 'initContainers'),
];

/**
 * Returns a container of the copy with the settings of the request; -i and -t replace its fields stdin and
 * tty.
 */
function changed(container: JsonObject, request: DebugRequest): JsonObject {
  const { image, env, imagePullPolicy, args, argumentsOnly } = request;
  const { stdin: _, tty: __, ...rest } = container;
  const { args: ___, ...withoutArgs } = rest;
  return {
    ...(args.length > 0 && !argumentsOnly ? { ...withoutArgs, command: args } : rest),
    ...(args.length > 0 && argumentsOnly && { args }),
    ...(env.length > 0 && { env: variables(request) }),
    ...(image && { image }),
    ...(imagePullPolicy && { imagePullPolicy }),
    ...(request.stdin && { stdin: true }),
    ...(request.tty && { tty: true }),
  };
}

function customized(pod: JsonObject, name: string, customize: Customize): JsonObject {
  const spec = recordAt(pod, 'spec');
  const containers = recordsAt(spec, 'containers').map((container) =>
    textAt(container, 'name') === name ? customize(container) : container,
  );
  return { ...pod, spec: { ...spec, containers } };
}

/** Returns the names of all containers of a pod, which a new container must not have. */
export const takenNames = (pod: JsonObject): ReadonlySet<string> =>
  new Set(
    ['containers', 'initContainers', 'ephemeralContainers'].flatMap((list) =>
      recordsAt(pod, 'spec', list).map((container) => textAt(container, 'name')),
    ),
  );

/** Returns the state of a container, such as `{ running: … }`; undefined if the pod reports none. */
export function stateOf(pod: JsonObject, name: string): JsonObject | undefined {
  const status = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses']
    .flatMap((list) => recordsAt(pod, 'status', list))
    .find((one) => one.name === name);
  return status && recordAt(status, 'state');
}

/** Fields of a container that --custom may not change. */
const fixedFields = ['name', 'command', 'image', 'lifecycle', 'volumeDevices'];

/** Returns the partial container of --custom. Throws UsageError for a fixed field. */
export function customContainer(value: JsonObject): JsonObject {
  if (fixedFields.some((field) => isSet(value[field])))
    throw new UsageError(
      'ctl debug: name, command, image, lifecycle and volume devices are not modifiable via custom profile',
    );
  return value;
}

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
