import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiException, CoreV1Api, makeInformer, type V1ConfigMap } from '@kubernetes/client-node';
import { Cluster } from './harness/cluster.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

const namespace = 'default';
const writers = 4;
const kills = ['etcd', 'minik8s', 'etcd', 'minik8s', 'minik8s', 'etcd'] as const;

/** What a client was told of its writes, and what it can not know. */
interface Ledger {
  /** Content by name. */
  readonly acknowledged: Map<string, string>;
  /** Sent, and never answered: there or not. */
  readonly unknown: Map<string, string>;
  /** The content of one object each, from the first to the last that was acknowledged. */
  readonly counters: Map<string, number>;
}

/** Creates objects and counts up one of its own until the signal aborts. */
async function write(api: CoreV1Api, writer: number, ledger: Ledger, signal: AbortSignal): Promise<void> {
  const counter = `counter-${writer}`;
  for (let i = 0; !signal.aborted; i++) {
    const name = `w${writer}-${i}`;
    const body = { metadata: { name }, data: { content: `${name} of ${process.pid}` } };
    ledger.unknown.set(name, body.data.content);
    try {
      await api.createNamespacedConfigMap({ namespace, body });
      ledger.acknowledged.set(name, body.data.content);
      ledger.unknown.delete(name);
      await count(api, counter, i);
      ledger.counters.set(counter, i);
    } catch (error) {
      // No name is sent twice: that the object is there already would mean that a write was done twice.
      if (hasCode(error, 409)) throw error;
      await pause(50);
    }
  }
}

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

test('no acknowledged write is lost while minik8s and etcd are killed with kill -9', async (context) => {
  const host = await Host.start(context, { images: [] });
  const cluster = await Cluster.start(context, { host });
  const api = cluster.kubeConfig().makeApiClient(CoreV1Api);
  const ledger: Ledger = { acknowledged: new Map(), unknown: new Map(), counters: new Map() };

  const seen = new Map<string, V1ConfigMap>();
  const added: string[] = [];
  const informer = makeInformer(cluster.kubeConfig(), `/api/v1/namespaces/${namespace}/configmaps`, () =>
    api.listNamespacedConfigMap({ namespace }),
  );
  const nameOf = ({ metadata }: V1ConfigMap) => metadata?.name ?? '';
  informer.on('add', (object) => {
    added.push(nameOf(object));
    seen.set(nameOf(object), object);
  });
  informer.on('update', (object) => seen.set(nameOf(object), object));
  informer.on('delete', (object) => seen.delete(nameOf(object)));
  const watching = new AbortController();
  // client-node's informer ends with an error when its server is away: then it is started again, as its users do.
  const restart = () => {
    if (!watching.signal.aborted) informer.start().catch(() => undefined);
  };
  informer.on('error', () => {
    setTimeout(restart, 100);
  });
  await informer.start();

  const stop = new AbortController();
  const writing = Promise.all(
    Array.from({ length: writers }, (_, writer) => write(api, writer, ledger, stop.signal)),
  );
  writing.catch(() => undefined);

  const downs: number[] = [];
  for (const victim of kills) {
    const before = ledger.acknowledged.size;
    await waitFor('some writes', () => ledger.acknowledged.size >= before + 40, { intervalMs: 5 });
    const start = performance.now();
    if (victim === 'minik8s') {
      await cluster.end('SIGKILL');
      await cluster.up();
    } else {
      const [pid] = cluster.processes('etcd');
      assert.ok(pid, 'etcd runs');
      process.kill(pid, 'SIGKILL');
    }
    const now = ledger.acknowledged.size;
    await waitFor(`writes after ${victim} was killed`, () => ledger.acknowledged.size > now + 10, {
      intervalMs: 5,
    });
    downs.push(Math.round(performance.now() - start));
  }
  stop.abort();
  await writing;
  context.diagnostic(`${ledger.acknowledged.size} writes; until they went on: ${downs.join(', ')} ms`);

  const { items } = await api.listNamespacedConfigMap({ namespace });
  const there = new Map(items.map((item) => [nameOf(item), item.data ?? {}]));

  await context.test('each is there, with its content', () => {
    const lost = [...ledger.acknowledged].filter(([name, content]) => there.get(name)?.content !== content);
    assert.deepEqual(lost, []);
    assert.ok(ledger.acknowledged.size > kills.length * 40);
  });

  await context.test('what is there beside them was sent, and never answered', () => {
    const names = [...there.keys()].filter((name) => name.startsWith('w') && !ledger.acknowledged.has(name));
    for (const name of names) assert.equal(there.get(name)?.content, ledger.unknown.get(name), name);
    assert.equal(there.size, items.length, 'none is there twice');
  });

  await context.test('an object has the last content acknowledged, or the one sent after it', () => {
    for (const [name, count] of ledger.counters) {
      assert.ok(Number(there.get(name)?.count) >= count, `${name}: ${there.get(name)?.count} < ${count}`);
    }
  });

  await context.test('a client that watches has them all', async () => {
    const wanted = items.map((item) => `${nameOf(item)} ${item.metadata?.resourceVersion}`).sort();
    await waitFor('the informer', () => {
      const has = [...seen.values()].map((item) => `${nameOf(item)} ${item.metadata?.resourceVersion}`);
      return has.sort().join() === wanted.join();
    });
    assert.equal(new Set(added).size, added.length, 'no object was told of as new twice');
    watching.abort();
    await informer.stop();
  });
});
