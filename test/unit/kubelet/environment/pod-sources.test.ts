/** ConfigMaps and Secrets that are watched for pods, and the pods that are notified. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import { newNotFound } from '../../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import type { Client, ClientListOptions, ClientWatchOptions } from '../../../../src/client/client.ts';
import { PodSources } from '../../../../src/kubelet/environment/pod-sources.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { makePod } from '../builders.ts';

const object = (version: number, more: object = {}) => ({
  metadata: { name: 'c', namespace: 'shop', uid: 'u', resourceVersion: String(version) },
  ...more,
});

/** An API server with one object, which can be unreachable. */
class Server {
  object: object | undefined = object(1);
  away = false;
  silent = false;
  readonly asked: string[] = [];
  readonly watches: ClientWatchOptions[] = [];
  maxAtOnce = 0;
  #listing = 0;
  #tell: (type: string) => void = () => {};

  readonly client = {
    resource: () => ({
      list: async ({ fieldSelector, namespace }: ClientListOptions) => {
        this.asked.push(`list ${namespace} ${fieldSelector}`);
        this.maxAtOnce = Math.max(this.maxAtOnce, ++this.#listing);
        await new Promise((resolve) => setImmediate(resolve));
        this.#listing--;
        if (this.away) throw new Error('away');
        if (this.silent) return new Promise(() => undefined);
        return { items: this.object ? [this.object] : [], metadata: { resourceVersion: '5' } };
      },
      get: async (name: string) => {
        this.asked.push(`get ${name}`);
        if (this.away) throw new Error('away');
        if (!this.object) throw newNotFound(configMapResource, name);
        return this.object;
      },
      watch: (options: ClientWatchOptions) => this.#watch(options),
    }),
  } as unknown as Client;

  change(next: object | undefined): void {
    const type = next ? 'MODIFIED' : 'DELETED';
    this.object = next ?? this.object;
    this.#tell(type);
    this.object = next;
  }

  async *#watch(options: ClientWatchOptions): AsyncIterable<unknown> {
    this.watches.push(options);
    while (!options.signal.aborted) {
      const next = Promise.withResolvers<unknown>();
      options.signal.addEventListener('abort', () => next.resolve(undefined));
      this.#tell = (type) => next.resolve({ type, object: this.object as KubeObject });
      const event = await next.promise;
      if (event) yield event;
    }
  }
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

const podWith = (uid: string, ...names: string[]) =>
  makePod({ volumes: names.map((name) => ({ name, configMap: { name } })) }, { uid });

describe('ConfigMaps and Secrets of pods', () => {
  let server: Server;
  let sources: PodSources;
  let clock: FakeClock;
  let told: string[];
  beforeEach(() => {
    server = new Server();
    clock = new FakeClock(0);
    told = [];
    sources = new PodSources({
      client: server.client,
      clock,
      random: new SeededRandom(1),
      log: silentLogger,
    });
    sources.onChange = (uid) => told.push(uid);
  });
  const read = async () => (await sources.configMap('shop', 'c'))?.metadata.resourceVersion;
  const open = () => server.watches.filter(({ signal }) => !signal.aborted).length;

  it('are watched once for all pods, until the last pod is deleted', async () => {
    sources.observe(podWith('one', 'c'));
    sources.observe(podWith('two', 'c', 'c'));
    sources.observe(podWith('one', 'c'));
    assert.equal(await read(), '1');
    await turns();
    assert.deepEqual(server.asked, ['list shop metadata.name=c']);
    assert.equal(open(), 1);
    told.length = 0;
    server.change(object(6));
    await turns();
    assert.deepEqual(told, ['one', 'two']);
    assert.equal(await read(), '6');
    assert.deepEqual(server.asked, ['list shop metadata.name=c'], 'from memory');
    sources.forget('one');
    assert.equal(open(), 1);
    sources.forget('two');
    assert.equal(open(), 0);
  });

  it('are watched no longer than a pod refers to them', async () => {
    sources.observe(podWith('one', 'c', 'd'));
    await turns();
    assert.equal(open(), 2);
    sources.observe(podWith('one', 'd'));
    assert.equal(open(), 1);
    sources.close();
    assert.equal(open(), 0);
  });

  it('may be created and deleted while they are watched', async () => {
    server.object = undefined;
    sources.observe(podWith('one', 'c'));
    assert.equal(sources.version('configMap', 'shop', 'c'), 'unread');
    assert.equal(await read(), undefined);
    assert.equal(sources.version('configMap', 'shop', 'c'), 'none');
    await turns();
    server.change(object(6));
    await turns();
    assert.equal(sources.version('configMap', 'shop', 'c'), 'u 6');
    server.change(undefined);
    await turns();
    assert.equal(await read(), undefined);
    assert.equal(told.length, 3);
  });

  it('are not watched when they are immutable', async () => {
    server.object = object(1, { immutable: true });
    sources.observe(podWith('one', 'c'));
    assert.equal(await read(), '1');
    await turns();
    assert.equal(open(), 0);
    assert.equal(await read(), '1');
  });

  it('are read again on the next request after a failed read', async () => {
    server.away = true;
    sources.observe(podWith('one', 'c'));
    await assert.rejects(read(), /away/);
    server.away = false;
    assert.equal(await read(), '1');
    assert.deepEqual(told, []);
    await clock.advance(2000);
    await turns();
    assert.deepEqual(told, ['one'], 'the watch has begun');
  });

  it('are not awaited if the server does not answer', async () => {
    server.silent = true;
    sources.observe(podWith('one', 'c'));
    const failed = assert.rejects(read(), {
      message: 'failed to sync configmap cache: timed out waiting for the condition',
    });
    await clock.advance(5000);
    await failed;
  });

  it('are watched up to a limit for a pod and for the node, eight lists at a time, and others are read on demand', async () => {
    const names = Array.from({ length: 400 }, (_, index) => `c${index}`);
    sources.observe(podWith('one', ...names));
    await turns();
    assert.equal(server.maxAtOnce, 8);
    for (let turn = 0; turn < 20; turn++) await turns();
    assert.equal(open(), 250);
    assert.ok(await sources.configMap('shop', 'c399'));
    assert.equal(server.asked.at(-1), 'get c399');
    for (let pod = 0; pod < 10; pod++)
      sources.observe(podWith(`more${pod}`, ...names.map((name) => `${pod}-${name}`)));
    for (let turn = 0; turn < 100; turn++) await turns();
    assert.equal(open(), 1500);
    sources.close();
    assert.equal(open(), 0);
  });

  it('are read once for a pod that is not on this node', async () => {
    assert.equal(await read(), '1');
    server.object = undefined;
    assert.equal(await read(), undefined);
    assert.equal(open(), 0);
  });
});
