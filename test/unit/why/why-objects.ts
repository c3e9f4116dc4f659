/** Objects of a snapshot, with the fields that rules read. */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { recordAt } from '../../../src/apimachinery/fields.ts';
import type { KindKey, ObjectRef } from '../../../src/why/kinds.ts';

/** Returns a reference to an object of the namespace default. */
export const about = (key: KindKey, name: string): ObjectRef => ({ key, namespace: 'default', name });

/** Time of every snapshot. */
export const now = '2026-01-02T00:00:00Z';

/** An object of the namespace default, created a day before the snapshot. */
export function object(kind: string, name: string, more: JsonObject = {}): JsonObject {
  const metadata = {
    ...{
      name,
      namespace: 'default',
      uid: `uid-of-${kind}-${name}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    ...recordAt(more, 'metadata'),
  };
  return { ...more, kind, metadata };
}

export function pod(name: string, more: JsonObject = {}): JsonObject {
  const containers = [{ name: 'main', image: 'hello' }];
  return object('Pod', name, { ...more, spec: { containers, ...recordAt(more, 'spec') } });
}

export const node = (name: string, more: JsonObject = {}): JsonObject =>
  object('Node', name, {
    status: { conditions: [condition('Ready', 'True')] },
    ...more,
    metadata: { ...recordAt(more, 'metadata'), namespace: '' },
  });

export const condition = (type: string, status: string, reason = '', message = ''): JsonObject => ({
  ...{ type, status, reason, message },
  lastHeartbeatTime: '2026-01-01T10:00:00Z',
});

const kinds: Readonly<Record<string, string>> = {
  pods: 'Pod',
  services: 'Service',
  pvc: 'PersistentVolumeClaim',
};

/** An event about an object of the namespace default; the first word is a plural name or a kind. */
export const event = (kind: string, name: string, reason: string, message: string): JsonObject =>
  object('Event', `${name}.${reason}`, {
    ...{ type: 'Warning', reason, message, lastTimestamp: '2026-01-01T12:00:00Z' },
    involvedObject: { uid: `uid-of-${kinds[kind] ?? kind}-${name}` },
  });

/** A pod on a node whose container waits. */
export const waiting = (
  name: string,
  reason: string,
  message: string,
  container: JsonObject = {},
): JsonObject =>
  pod(name, {
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'hello', ...container }] },
    status: {
      phase: 'Pending',
      containerStatuses: [{ name: 'main', state: { waiting: { reason, message } } }],
    },
  });
