/**
 * Metrics of the store: number, duration and failures of its calls, under kube-apiserver's names for etcd.
 */
import type { Clock } from '../base/clock.ts';
import { Counter, Histogram } from '../base/metrics/instruments.ts';
import { gauge } from '../base/metrics/metric-family.ts';
import type { Registry } from '../base/metrics/registry.ts';
import { ClaimTakenError, KeyExistsError, RevisionMismatchError, type Store } from './store.ts';

const labels = ['operation', 'type'] as const;
/** Bounds in seconds, as upstream's. */
const bounds = [
  ...[0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60],
];

const roomValues = { free: 2, scarce: 1, critical: 0, exhausted: 0 };

/** Returns the same store with metrics. */
export function measuredStore(store: Store, registry: Registry, clock: Clock): Store {
  const counter = (name: string, help: string) => registry.add(new Counter({ name, help, labels }));
  const total = counter('etcd_requests_total', 'Requests to etcd, by operation and resource.');
  const errors = counter('etcd_request_errors_total', 'Requests to etcd that failed.');
  const seconds = registry.add(
    new Histogram({
      name: 'etcd_request_duration_seconds',
      help: 'Seconds until etcd had answered.',
      labels,
      bounds,
    }),
  );
  const { room } = store;
  if (room) {
    registry.collect(() => [
      gauge('apiserver_storage_size_bytes', 'Size of the database of etcd, of its largest member.', [
        { value: room.size() },
      ]),
      gauge(
        'minik8s_storage_room',
        'Room in etcd: 2 free, 1 scarce (new and large objects are refused), 0 critical (only deletions, Leases and, as long as there is room, small changes of statuses are written).',
        [{ value: roomValues[room.level()] }],
      ),
    ]);
  }
  const measured = async <T>(operation: string, key: string, asked: Promise<T>): Promise<T> => {
    const begun = clock.monotonic();
    const type = typeOf(key);
    total.add(operation, type);
    try {
      return await asked;
    } catch (error) {
      if (!isAnswer(error)) errors.add(operation, type);
      throw error;
    } finally {
      seconds.observe((clock.monotonic() - begun) / 1000, operation, type);
    }
  };
  return {
    ...store,
    get: (key) => measured('get', key, store.get(key)),
    list: (prefix, options) => measured('list', prefix, store.list(prefix, options)),
    create: (key, ...rest) => measured('create', key, store.create(key, ...rest)),
    update: (key, ...rest) => measured('update', key, store.update(key, ...rest)),
    delete: (key, ...rest) => measured('delete', key, store.delete(key, ...rest)),
  };
}

/**
 * Returns the resource of a key, such as `pods` or `deployments.apps`; for other keys their first segment,
 * such as `claims`.
 */
function typeOf(key: string): string {
  const [, first = '', second = ''] = key.split('/', 3);
  return first === 'registry' ? second : first;
}

/** Returns whether the error is a regular answer of the store, which does not count as a failure. */
const isAnswer = (error: unknown) =>
  error instanceof KeyExistsError ||
  error instanceof RevisionMismatchError ||
  error instanceof ClaimTakenError;
