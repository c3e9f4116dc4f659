/** A fault that users make, and what must be named as its first cause. */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import type { KindKey } from '../../../src/why/kinds.ts';

export interface Fault {
  /** The action of the user, as a sentence without its subject. */
  readonly fault: string;
  /** Objects that the user creates, in a namespace of their own unless they belong to the cluster. */
  readonly objects: readonly JsonObject[];
  /** Object that the user asks about, as WORD/NAME. */
  readonly subject: string;
  /** Object of the first cause, as WORD/NAME or a pattern of it; the subject unless given. */
  readonly cause?: string | RegExp;
  /** Words of the first cause and its evidence. */
  readonly says: RegExp;
  /** Status that the node reports for the pods of the fault once they are bound. */
  readonly status?: JsonObject;
  /** Events about the pod, as reason and message. */
  readonly events?: readonly (readonly [reason: string, message: string])[];
  /** Objects as controllers report them after a time that the test does not let pass. */
  readonly later?: Readonly<Partial<Record<KindKey, readonly JsonObject[]>>>;
}

export const labels = { app: 'web' };

export const podSpec = (container: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  ...more,
  containers: [{ name: 'main', image: 'shop:1', ...container }],
});

export const pod = (container: JsonObject = {}, spec: JsonObject = {}, name = 'web'): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: podSpec(container, spec),
});

export const workload = (
  kind: 'Deployment' | 'StatefulSet',
  container: JsonObject = {},
  podMore: JsonObject = {},
  spec: JsonObject = {},
): JsonObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: labels },
    ...(kind === 'StatefulSet' && { serviceName: 'web' }),
    template: { metadata: { labels }, spec: podSpec(container, podMore) },
    ...spec,
  },
});

export const object = (apiVersion: string, kind: string, spec: JsonObject, name = 'web'): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name },
  spec,
});

export const claim = (spec: JsonObject, name = 'data'): JsonObject =>
  object(
    'v1',
    'PersistentVolumeClaim',
    { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
    name,
  );

/** The status of a pod whose container waits. */
export const waits = (reason: string, message = '', more: JsonObject = {}): JsonObject => ({
  phase: 'Pending',
  conditions: [{ type: 'Ready', status: 'False' }],
  containerStatuses: [containerStatus({ waiting: { reason, message } }, more)],
});

export const containerStatus = (state: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ name: 'main', image: 'shop:1', imageID: '', ready: false, restartCount: 3 },
  state,
  ...more,
});

export const ended = (exitCode: number, reason = 'Error', message = ''): JsonObject => ({
  terminated: { exitCode, reason, message },
});
