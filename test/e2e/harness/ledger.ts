/** The answers to clients' writes, for comparison with the final objects. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import {
  ApiException,
  CoreV1Api,
  type KubeConfig,
  makeInformer,
  type V1ConfigMap,
} from '@kubernetes/client-node';
import { waitFor } from './wait-for.ts';

const namespace = 'default';
/**
 * Milliseconds between two writes of one writer: short enough for every kill to interrupt a write, and
 * long enough to cause little load.
 */
const restMs = 10;

export class Ledger {
  /** Content by name. */
  readonly acknowledged = new Map<string, string>();
  /** Writes without an answer, which may or may not have been stored. */
  readonly unknown = new Map<string, string>();
  /** Last acknowledged value of each counter, by the name of its object. */
  readonly counters = new Map<string, number>();

  /**
   * Creates objects and increments a counter of its own until the signal aborts, with each client in turn.
   */
  async write(apis: readonly CoreV1Api[], writer: number, signal: AbortSignal): Promise<void> {
    const counter = `counter-${writer}`;
    let turn = writer;
    for (let i = 0; !signal.aborted; i++) {
      const api = apis[turn % apis.length] as CoreV1Api;
      const name = `w${writer}-${i}`;
      const body = { metadata: { name }, data: { content: `${name} of ${process.pid}` } };
      this.unknown.set(name, body.data.content);
      try {
        await api.createNamespacedConfigMap({ namespace, body });
        this.acknowledged.set(name, body.data.content);
        this.unknown.delete(name);
        await count(api, counter, i);
        this.counters.set(counter, i);
        await pause(restMs);
      } catch (error) {
        // No name is sent twice: an existing object would mean that a write was applied twice.
        if (hasCode(error, 409)) throw error;
        turn++;
        await pause(50);
      }
    }
  }

  /** Resolves when `count` more writes have been acknowledged. */
  async more(count: number, timeoutMs = 60_000): Promise<void> {
    const enough = this.acknowledged.size + count;
    await waitFor(`${count} writes`, () => this.acknowledged.size >= enough, { intervalMs: 5, timeoutMs });
  }

  /**
   * Checks in subtests that every acknowledged write exists once, and that all other objects are from writes
   * without an answer.
   */
  async check(context: TestContext, api: CoreV1Api): Promise<readonly V1ConfigMap[]> {
    const { items } = await api.listNamespacedConfigMap({ namespace });
    const there = new Map(items.map((item) => [nameOf(item), item.data ?? {}]));
    await context.test('each acknowledged object exists with its content', () => {
      const lost = [...this.acknowledged].filter(([name, content]) => there.get(name)?.content !== content);
      assert.deepEqual(lost, []);
    });
    await context.test('every other object is from a write that was sent and never answered', () => {
      const names = [...there.keys()].filter((name) => /^w\d/.test(name) && !this.acknowledged.has(name));
      for (const name of names) assert.equal(there.get(name)?.content, this.unknown.get(name), name);
      assert.equal(there.size, items.length, 'none is there twice');
    });
    await context.test(
      'an object has the content of its last acknowledged write, or of the write sent after it',
      () => {
        for (const [name, count] of this.counters) {
          assert.ok(Number(there.get(name)?.count) >= count, `${name}: ${there.get(name)?.count} < ${count}`);
        }
      },
    );
    return items;
  }
}

/** client-node's informer, restarted when its server was unavailable, as its users do. */
export class Watcher {
  readonly seen = new Map<string, V1ConfigMap>();
  readonly added: string[] = [];
  readonly #stopping = new AbortController();
  readonly #informer;

  constructor(config: KubeConfig) {
    const api = config.makeApiClient(CoreV1Api);
    this.#informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
      api.listNamespacedConfigMap({ namespace }),
    );
    this.#informer.on('add', (object) => {
      this.added.push(nameOf(object));
      this.seen.set(nameOf(object), object);
    });
    this.#informer.on('update', (object) => this.seen.set(nameOf(object), object));
    this.#informer.on('delete', (object) => this.seen.delete(nameOf(object)));
    const restart = () => {
      if (!this.#stopping.signal.aborted) this.#informer.start().catch(() => undefined);
    };
    this.#informer.on('error', () => {
      setTimeout(restart, 100);
    });
  }

  start(): Promise<void> {
    return this.#informer.start();
  }

  /**
   * Resolves when the informer has exactly these objects in these versions; rejects if an object was reported
   * as added twice.
   */
  async hasAll(items: readonly V1ConfigMap[]): Promise<void> {
    const versions = (all: Iterable<V1ConfigMap>) =>
      [...all]
        .map((item) => `${nameOf(item)} ${item.metadata?.resourceVersion}`)
        .sort()
        .join();
    const wanted = versions(items);
    await waitFor('the informer', () => versions(this.seen.values()) === wanted);
    assert.equal(new Set(this.added).size, this.added.length, 'no object was told of as new twice');
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#informer.stop();
  }
}

const nameOf = ({ metadata }: V1ConfigMap) => metadata?.name ?? '';

async function count(api: CoreV1Api, name: string, i: number): Promise<void> {
  const body = { metadata: { name }, data: { count: String(i) } };
  try {
    await api.replaceNamespacedConfigMap({ name, namespace, body });
  } catch (error) {
    if (!hasCode(error, 404)) throw error;
    await api.createNamespacedConfigMap({ namespace, body });
  }
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof ApiException && error.code === code;
}
