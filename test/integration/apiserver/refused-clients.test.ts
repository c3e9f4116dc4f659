/**
 * Unmodified client libraries that get 410 for a compacted version, and 429 for a user with too many
 * requests in progress.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  ApiException,
  CoreV1Api,
  KubeConfig,
  makeInformer,
  type V1ConfigMap,
  type V1ConfigMapList,
  Watch,
} from '@kubernetes/client-node';
import type { KubeList } from '../../../src/apimachinery/meta.ts';
import type { Store } from '../../../src/storage/store.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { pythonClient, unlessPythonClients } from '../../fixtures/python-clients.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const namespace = 'default';

/** Holds the creation of the ConfigMap `held` until `release` is called. */
class HoldingStore {
  readonly began = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<void>();
  readonly store: Store;

  constructor(store: Store) {
    this.store = {
      ...store,
      create: async (key, ...rest) => {
        if (key.endsWith('/held')) {
          this.began.resolve();
          await this.#over.promise;
        }
        return store.create(key, ...rest);
      },
    };
  }

  release(): void {
    this.#over.resolve();
  }
}

describe('410 and 429', { timeout: 300_000 }, () => {
  let earlier: TestServer;
  let holding: HoldingStore;
  let server: HttpsTestServer;
  let held: Promise<unknown>;
  let own: string;
  let busy: string;
  /** Version that the store has forgotten, and a token of a list in pieces at that version. */
  let forgotten: KubeList['metadata'];

  const apiOf = (kubeconfig: string) => {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    return { config, api: config.makeApiClient(CoreV1Api) };
  };

  before(async () => {
    earlier = await startTestServer();
    for (const name of ['a', 'b']) await earlier.call('POST', maps, { metadata: { name } });
    forgotten = (await earlier.call('GET', `${maps}?limit=1`)).json<KubeList>().metadata;
    const last = await earlier.call('POST', maps, { metadata: { name: 'c' } });
    await earlier.store.compact(Number(last.json().metadata.resourceVersion));
    holding = new HoldingStore(earlier.store);
    const limits = { requests: 2, watches: 10 };
    server = await startHttpsTestServer({ wrapStore: () => holding.store, bare: true, limits });
    own = await server.kubeconfigFor('own', ['system:masters']);
    busy = await server.kubeconfigFor('busy', ['system:masters']);
    // One user may have half of all requests.
    held = apiOf(busy).api.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'held' } } });
    await holding.began.promise;
  });
  after(async () => {
    holding?.release();
    await held;
    await server?.stop();
    await earlier.stop();
  });

  it('are reported by the Python clients, with the seconds to wait', {
    skip: unlessPythonClients,
  }, async () => {
    const tooMany = [429, 'TooManyRequests', '1'];
    const expired = [410, 'Expired'];
    assert.deepEqual(await pythonClient('refusals', own, busy, forgotten.resourceVersion ?? ''), {
      official: { expired, create: tooMany, read: tooMany },
      asyncio: { expired, create: tooMany, read: tooMany },
      kr8s: { create: tooMany },
    });
  });

  it('429 is reported by @kubernetes/client-node with the seconds to wait', async () => {
    const { api, config } = apiOf(busy);
    await assert.rejects(api.readNamespacedConfigMap({ name: 'a', namespace }), (error) => {
      assert.ok(error instanceof ApiException);
      const { reason, details } = JSON.parse(error.body);
      assert.deepEqual(
        [error.code, error.headers['retry-after'], reason, details.retryAfterSeconds],
        [429, '1', 'TooManyRequests', 1],
      );
      return true;
    });
    // Watches have a limit of their own.
    const seen = Promise.withResolvers<string>();
    const watch = await new Watch(config).watch(
      maps,
      {},
      (_, { metadata }) => seen.resolve(metadata.name),
      () => {},
    );
    assert.equal(await seen.promise, 'a');
    watch.abort();
  });

  it('410 is an event for a watch of @kubernetes/client-node, and its informer lists again', async () => {
    const { api, config } = apiOf(own);
    const { resourceVersion } = forgotten;
    const events: string[] = [];
    const over = Promise.withResolvers<void>();
    await new Watch(config).watch(
      maps,
      { resourceVersion },
      (phase, { code, reason }) => events.push(`${phase} ${code} ${reason}`),
      () => over.resolve(),
    );
    await over.promise;
    assert.deepEqual(events, ['ERROR 410 Expired']);
    let lists = 0;
    const list = async (): Promise<V1ConfigMapList> => {
      if (lists++ > 0) return api.listNamespacedConfigMap({ namespace });
      return { items: [], metadata: resourceVersion === undefined ? {} : { resourceVersion } };
    };
    const informer = makeInformer<V1ConfigMap>(config, maps, list);
    const known: (string | undefined)[] = [];
    const all = Promise.withResolvers<void>();
    informer.on('add', ({ metadata }) => {
      if (known.push(metadata?.name) === 3) all.resolve();
    });
    informer.on('error', all.reject);
    await informer.start();
    await all.promise;
    await informer.stop();
    assert.deepEqual([lists, known], [2, ['a', 'b', 'c']]);
  });

  it('410 of a paged list contains the token with which @kubernetes/client-node continues', async () => {
    const { api } = apiOf(own);
    const next = (_continue: string | undefined) =>
      api.listNamespacedConfigMap({ namespace, limit: 1, ...(_continue && { _continue }) });
    const error = await next(forgotten.continue).then(
      () => assert.fail('the token was accepted'),
      (error: unknown) => error,
    );
    assert.ok(error instanceof ApiException);
    const { code, reason, metadata } = JSON.parse(error.body);
    assert.deepEqual([error.code, code, reason], [410, 410, 'Expired']);
    const names: (string | undefined)[] = [];
    for (let token = metadata.continue; token; ) {
      const page = await next(token);
      names.push(...page.items.map((item) => item.metadata?.name));
      token = page.metadata?._continue;
    }
    assert.deepEqual(names, ['b', 'c']);
  });
});
