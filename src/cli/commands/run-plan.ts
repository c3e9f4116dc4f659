/** The pod that `ctl run` creates, and the interpretation of its end. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { isImageReference } from '../debug/image-reference.ts';
import { metadataOf, numberAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

export interface RunRequest {
  readonly name: string;
  readonly image: string;
  /** Arguments of the image's program; with `isCommand` they include the program. */
  readonly args: readonly string[];
  readonly isCommand: boolean;
  /** Labels such as `key=value,key=value`; `run=NAME` if undefined. */
  readonly labels: string | undefined;
  /** Each `KEY=VALUE`. */
  readonly annotations: readonly string[];
  readonly env: readonly string[];
  readonly port: number | undefined;
  readonly restartPolicy: RestartPolicy;
  readonly imagePullPolicy: string | undefined;
  readonly privileged: boolean;
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  readonly tty: boolean;
}

/**
 * Returns the pod in kubectl's form: fields in the order of Go's types, also those without a value. Throws
 * UsageError for entries that are not `KEY=VALUE`, and for an image that no registry could have.
 */
export function podOf(request: RunRequest): JsonObject {
  const { name, annotations, image } = request;
  if (!isImageReference(image))
    throw new UsageError(`Invalid image name ${JSON.stringify(image)}: invalid reference format`);
  const labels = request.labels === undefined ? [`run=${name}`] : request.labels.split(',');
  const container = containerOf(request);
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name,
      creationTimestamp: null,
      labels: labelsOf(labels),
      ...(annotations.length > 0 && {
        annotations: Object.fromEntries(annotations.map((entry) => pairOf(entry, 'annotation'))),
      }),
    },
    spec: { containers: [container], restartPolicy: request.restartPolicy, dnsPolicy: 'ClusterFirst' },
    status: {},
  };
}

/** Returns the Service for the pod of --expose. */
export function serviceOf({ name, labels, port }: Pick<RunRequest, 'name' | 'labels' | 'port'>): JsonObject {
  const given = labels === undefined ? undefined : labelsOf(labels.split(','));
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name, creationTimestamp: null, ...(given && { labels: given }) },
    spec: {
      ports: [{ protocol: 'TCP', port, targetPort: port }],
      selector: given ?? { run: name },
    },
    status: { loadBalancer: {} },
  };
}

/** Returns labels by key, sorted as Go writes a map. */
const labelsOf = (entries: readonly string[]): JsonObject =>
  Object.fromEntries(entries.map((entry) => pairOf(entry, 'label')).sort(([a], [b]) => (a < b ? -1 : 1)));

function containerOf(request: RunRequest): JsonObject {
  const { name, image, args, port, imagePullPolicy } = request;
  const env = request.env.map((entry) => pairOf(entry, 'env'));
  return {
    name,
    image,
    ...(args.length > 0 && { [request.isCommand ? 'command' : 'args']: args }),
    ...(port !== undefined && { ports: [{ containerPort: port }] }),
    ...(env.length > 0 && { env: env.map(([key, value]) => ({ name: key, ...(value && { value }) })) }),
    resources: {},
    ...(imagePullPolicy !== undefined && { imagePullPolicy }),
    ...(request.privileged && { securityContext: { privileged: true } }),
    ...(request.stdin && { stdin: true }),
    ...(request.stdinOnce && { stdinOnce: true }),
    ...(request.tty && { tty: true }),
  };
}

function pairOf(entry: string, what: string): readonly [string, string] {
  const equals = entry.indexOf('=');
  if (equals < 1) throw new UsageError(`invalid ${what}: ${JSON.stringify(entry)}: say KEY=VALUE`);
  return [entry.slice(0, equals), entry.slice(equals + 1)];
}

/** Returns true if a client may attach to the pod's program. */
export const isRunning = (pod: JsonObject): boolean =>
  textAt(pod, 'status', 'phase') === 'Running' &&
  recordsAt(pod, 'status', 'conditions').some(({ type, status }) => type === 'Ready' && status === 'True');

/**
 * Returns the failure of a pod, with the exit code of its container, or 1 if it is unknown; undefined for a
 * pod that succeeded.
 */
export function failureOf(pod: JsonObject): { readonly code: number; readonly message: string } | undefined {
  if (textAt(pod, 'status', 'phase') !== 'Failed') return undefined;
  const [container] = recordsAt(pod, 'status', 'containerStatuses');
  const terminated = valueAt(container, 'state', 'terminated');
  const code = numberAt(terminated, 'exitCode');
  const { name, namespace } = metadataOf(pod);
  const which = `pod ${namespace}/${name}`;
  if (code === 0) return { code: 1, message: `${which} failed with unknown exit code` };
  return { code, message: `${which} terminated (${textAt(terminated, 'reason')})` };
}
