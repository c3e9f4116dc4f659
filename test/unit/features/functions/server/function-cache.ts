/** A cache of functions and their pods that a test fills, for a gateway. */
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import { storageKey } from '../../../../../src/apimachinery/resource-definition.ts';
import { type Fn, functionResource } from '../../../../../src/features/functions/api/function.ts';
import type { CacheEvent, CacheWatch, IndexDeclaration } from '../../../../../src/storage/cache.ts';
import { meta } from '../../../controllers/objects.ts';

/** A cache that a test fills, and whose watches the test can inspect. */
export class FakeCache {
  readonly #objects = new Map<string, KubeObject>();
  readonly watches = new Map<CacheWatch, string>();
  revision = 1;

  get = (key: string) => this.#cached(key);
  /** Names of listed objects that the cache keeps decoded from now on. */
  readonly kept: string[] = [];
  list = (prefix: string) =>
    this.#under(prefix).map(([, unowned]) => {
      const keep = () => void this.kept.push(unowned.metadata.name);
      return {
        unowned,
        get object() {
          keep();
          return unowned;
        },
      };
    });
  index = ({ prefix, keysOf }: IndexDeclaration) => ({
    get: (wanted: string) =>
      this.#under(prefix)
        .filter(([, object]) => [...keysOf(object)].includes(wanted))
        .map(([, object]) => ({ object })),
  });
  watch = (prefix: string, _: number, watch: CacheWatch) => {
    this.watches.set(watch, prefix);
    return () => void this.watches.delete(watch);
  };

  put(object: KubeObject, isSeen = true): void {
    const ref = object.kind === 'Pod' ? podResource : functionResource;
    const key = storageKey(ref, 'default', object.metadata.name);
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    const event = { key, current: { object }, ...(before && { previous: { object: before } }) };
    if (!isSeen) return;
    for (const [watch, prefix] of [...this.watches])
      if (key.startsWith(prefix)) watch.onEvents([event as unknown as CacheEvent], ++this.revision);
  }

  expire(): void {
    for (const watch of [...this.watches.keys()]) {
      this.watches.delete(watch);
      watch.onExpired();
    }
  }

  remove(object: KubeObject, isSeen = true): void {
    const ref = object.kind === 'Pod' ? podResource : functionResource;
    const key = storageKey(ref, 'default', object.metadata.name);
    this.#objects.delete(key);
    if (!isSeen) return;
    const event = { key, current: { object }, previous: { object } };
    for (const [watch, prefix] of [...this.watches])
      if (key.startsWith(prefix)) watch.onEvents([event as unknown as CacheEvent], ++this.revision);
  }

  #cached(key: string) {
    const object = this.#objects.get(key);
    return object && { object };
  }

  #under = (prefix: string) => [...this.#objects].filter(([key]) => key.startsWith(prefix));
}

export const fn = (status: object = { activeVersion: 'v1' }, over: object = {}): Fn =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'Function', metadata: meta('f', over) },
    spec: {
      concurrency: 1,
      target: 1,
      maxScale: 5,
      windowSeconds: 30,
      idleSeconds: 60,
      metric: 'Concurrency',
      timeoutSeconds: 30,
      runtime: 'python',
    },
    status,
  }) as unknown as Fn;
export const pod = (name: string, over: object = {}): Pod =>
  ({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: meta(name, {
      labels: { 'minik8s.io/function': 'f', 'minik8s.io/function-version': 'v1' },
      ownerReferences: [{ uid: 'uid-f', controller: true } as never],
      ...over,
    }),
    spec: {},
    status: { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [{ state: { running: {} } }] },
  }) as unknown as Pod;
