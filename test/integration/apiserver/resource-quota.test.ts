/**
 * Created objects must fit the quotas of their namespace, also when they are created concurrently and through
 * several masters on one store.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { ResourceQuota } from '../../../src/api/core/v1/resource-quota.ts';
import { resourceQuotaResource } from '../../../src/api/core/v1/resource-quota.ts';
import type { Service } from '../../../src/api/core/v1/service/service.ts';
import { deepEqual } from '../../../src/apimachinery/equality.ts';
import { storageKey, storagePrefix } from '../../../src/apimachinery/resource-definition.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import type { Store } from '../../../src/storage/store.ts';
import {
  type Answer,
  startTestServer,
  storedObject,
  type TestServer,
  type TestServerOptions,
} from '../../fixtures/api-server.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { LaggingStore } from '../../fixtures/lagging-store.ts';

const inDefault = '/api/v1/namespaces/default';
type Amounts = Readonly<Record<string, string>>;

async function start(t: TestContext, options?: TestServerOptions): Promise<TestServer> {
  const server = await startTestServer(options);
  t.after(() => server.stop());
  return server;
}

/** A list waits until the cache is as new as the store, so the server has seen all earlier writes. */
const seen = (server: TestServer) => server.call('GET', `${inDefault}/resourcequotas`);

/** Creates a quota with the status that the controller would write; this server has no controller. */
async function quota(server: TestServer, name: string, hard: Amounts, used: Amounts, spec: object = {}) {
  const body = { metadata: { name }, spec: { hard, ...spec } };
  const made = await server.call('POST', `${inDefault}/resourcequotas`, body);
  assert.deepEqual([made.status, made.headers.get('warning')], [201, null], made.text);
  const path = `${inDefault}/resourcequotas/${name}/status`;
  const told = await server.call('PUT', path, { ...made.json<ResourceQuota>(), status: { hard, used } });
  assert.equal(told.status, 200, told.text);
  await seen(server);
}

const usedOf = async (server: TestServer, name: string) => {
  const stored = await storedObject(server, storageKey(resourceQuotaResource, 'default', name));
  return (stored as ResourceQuota | undefined)?.status?.used;
};

const pod = (server: TestServer, name: string, resources: object = {}, query = '') =>
  server.call('POST', `${inDefault}/pods${query}`, {
    metadata: { name },
    spec: { containers: [{ name: 'a', image: 'b', resources }] },
  });

const message = (answer: Answer) => [answer.status, answer.json<Status>().message];
const podsIn = async ({ store }: TestServer) =>
  (await store.list(storagePrefix(podResource, 'default'))).items.length;

describe('a quota', () => {
  it('releases the charge of a write at once if the write is rejected later', async (t) => {
    const server = await start(t);
    await quota(
      server,
      'a',
      { services: '3', 'services.nodeports': '3', 'count/services': '9' },
      {
        services: '0',
        'services.nodeports': '0',
        'count/services': '0',
      },
    );
    const service = (name: string, nodePort = 30_080, query = '') =>
      server.call('POST', `${inDefault}/services${query}`, {
        metadata: { name },
        spec: { type: 'NodePort', ports: [{ port: 80, nodePort }] },
      });
    assert.equal((await service('first')).status, 201);
    const used = { services: '1', 'services.nodeports': '1', 'count/services': '1' };
    assert.deepEqual(await usedOf(server, 'a'), used);
    for (let time = 0; time < 4; time++) assert.equal((await service(`other-${time}`)).status, 422);
    await eventually(server.clock, 'what is used is one Service', async () =>
      deepEqual(await usedOf(server, 'a'), used),
    );
    assert.equal((await service('dry', 30_080, '?dryRun=All')).status, 422);
    assert.equal((await service('second', 30_081)).status, 201);
    const both = { services: '2', 'services.nodeports': '2', 'count/services': '2' };
    assert.deepEqual(await usedOf(server, 'a'), both, 'a dry run has nothing to get back');
  });

  it('is charged for created objects until it is used up', async (t) => {
    const server = await start(t);
    await quota(server, 'q', { pods: '2', 'requests.cpu': '1' }, { pods: '0', 'requests.cpu': '0' });
    assert.equal((await pod(server, 'a', { requests: { cpu: '600m' } })).status, 201);
    assert.deepEqual(await usedOf(server, 'q'), { pods: '1', 'requests.cpu': '600m' });
    assert.deepEqual(message(await pod(server, 'b', { requests: { cpu: '600m' } })), [
      403,
      'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1',
    ]);
    assert.deepEqual(message(await pod(server, 'b')), [
      403,
      'pods "b" is forbidden: failed quota: q: must specify requests.cpu for: a',
    ]);
    assert.deepEqual(await usedOf(server, 'q'), { pods: '1', 'requests.cpu': '600m' });
    assert.equal((await pod(server, 'b', { requests: { cpu: '400m' } })).status, 201);
    assert.deepEqual(await usedOf(server, 'q'), { pods: '2', 'requests.cpu': '1' });
  });

  it('without a computed usage rejects every object', async (t) => {
    const server = await start(t);
    await quota(server, 'q', { pods: '2', 'count/pods': '2' }, { pods: '0' });
    assert.deepEqual(message(await pod(server, 'a')), [
      403,
      'pods "a" is forbidden: status unknown for quota: q, resources: count/pods,pods',
    ]);
    assert.equal(
      (await server.call('POST', `${inDefault}/configmaps`, { metadata: { name: 'c' } })).status,
      201,
    );
  });

  it('is checked by a dry run, but not charged', async (t) => {
    const server = await start(t);
    await quota(server, 'q', { pods: '1' }, { pods: '0' });
    assert.equal((await pod(server, 'a', {}, '?dryRun=All')).status, 201);
    assert.equal((await pod(server, 'b', {}, '?dryRun=All')).status, 201);
    assert.deepEqual(await usedOf(server, 'q'), { pods: '0' });
    assert.equal((await pod(server, 'a')).status, 201);
    assert.equal((await pod(server, 'b', {}, '?dryRun=All')).status, 403);
  });

  it('is not charged for an object that is refused for another reason or exists already', async (t) => {
    const server = await start(t);
    await quota(server, 'q', { pods: '5' }, { pods: '0' });
    assert.equal((await pod(server, 'not a name')).status, 422);
    const ofNobody = {
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'a', image: 'b' }], serviceAccountName: 'x' },
    };
    assert.equal((await server.call('POST', `${inDefault}/pods`, ofNobody)).status, 403);
    assert.equal((await pod(server, 'a')).status, 201);
    await seen(server);
    assert.equal((await pod(server, 'a')).status, 409);
    assert.deepEqual(await usedOf(server, 'q'), { pods: '1' });
  });

  it('is not evaded by creating again an object that is being deleted', async (t) => {
    const key = storageKey(podResource, 'default', 'a');
    let deletes = false;
    const wrapStore = (store: Store): Store => ({
      ...store,
      async get(asked) {
        const found = await store.get(asked);
        if (deletes && found && asked === key) await store.delete(key, found.revision);
        return found;
      },
    });
    const server = await start(t, { wrapStore });
    await quota(server, 'q', { pods: '1' }, { pods: '0' });
    assert.equal((await pod(server, 'a')).status, 201);
    await seen(server);
    deletes = true;
    const again = await pod(server, 'a');
    assert.deepEqual(message(again), [409, 'pods "a" already exists']);
    assert.equal(await podsIn(server), 0, 'what was taken for the first stands for none that exists');
  });

  it('is charged for every node port of a load balancer', async (t) => {
    const server = await start(t);
    await quota(server, 'q', { 'services.nodeports': '1' }, { 'services.nodeports': '0' });
    const ports = ['a', 'b', 'c'].map((name, index) => ({ name, port: 1 + index }));
    const spec = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports };
    const made = await server.call('POST', `${inDefault}/services`, { metadata: { name: 's' }, spec });
    assert.deepEqual([made.status, made.headers.get('warning')], [201, null], made.text);
    const got = made.json<Service>().spec.ports ?? [];
    assert.deepEqual(
      [got.filter(({ nodePort }) => nodePort).length, await usedOf(server, 'q')],
      [0, { 'services.nodeports': '0' }],
    );
  });

  it('is charged for added ports of a Service and for the growth of a claim', async (t) => {
    const server = await start(t);
    const hard = { services: '5', 'services.nodeports': '3', 'requests.storage': '3Gi' };
    await quota(server, 'q', hard, { services: '0', 'services.nodeports': '0', 'requests.storage': '0' });
    const spec = {
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2 },
      ],
    };
    const made = await server.call('POST', `${inDefault}/services`, { metadata: { name: 's' }, spec });
    assert.equal(made.status, 201, made.text);
    const used = { services: '1', 'services.nodeports': '0', 'requests.storage': '0' };
    assert.deepEqual(await usedOf(server, 'q'), used);
    const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
    const path = `${inDefault}/services/s`;
    const patched = await server.call('PATCH', path, { spec: { type: 'NodePort' } }, merge);
    assert.equal(patched.status, 200, patched.text);
    assert.deepEqual(await usedOf(server, 'q'), { ...used, 'services.nodeports': '2' });
    const labelled = await server.call('PATCH', path, { metadata: { labels: { a: 'b' } } }, merge);
    assert.equal(labelled.status, 200);
    const ports = ['c', 'd'].map((name, index) => ({ name, port: 3 + index }));
    const more = await server.call('PATCH', path, { spec: { ports: [...spec.ports, ...ports] } }, merge);
    assert.deepEqual(message(more), [
      403,
      'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=2, limited: services.nodeports=3',
    ]);
    assert.deepEqual(await usedOf(server, 'q'), { ...used, 'services.nodeports': '2' });
  });

  it('applies in its own namespace, and to the objects that its scopes select', async (t) => {
    const server = await start(t);
    await quota(server, 'best', { pods: '1' }, { pods: '1' }, { scopes: ['BestEffort'] });
    assert.equal((await pod(server, 'a')).status, 403);
    assert.equal((await pod(server, 'a', { requests: { cpu: '1' } })).status, 201);
    const elsewhere = { metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'b' }] } };
    assert.equal((await server.call('POST', '/api/v1/namespaces/kube-public/pods', elsewhere)).status, 201);
    assert.deepEqual(await usedOf(server, 'best'), { pods: '1' });
  });

  it('may be required by the configuration of the server', async (t) => {
    const limited = { apiGroup: '', resource: 'pods', matchContains: ['requests.cpu'], matchScopes: [] };
    const server = await start(t, { limitedResources: [limited] });
    const asked = { requests: { cpu: '1' } };
    assert.equal((await pod(server, 'a')).status, 201);
    assert.deepEqual(message(await pod(server, 'b', asked)), [
      403,
      'pods "b" is forbidden: insufficient quota to consume: requests.cpu',
    ]);
    await quota(server, 'q', { 'requests.cpu': '1' }, { 'requests.cpu': '0' });
    assert.equal((await pod(server, 'b', asked)).status, 201);
  });
});

describe('many creates at once', () => {
  it('never exceed the limits of two quotas', async (t) => {
    const server = await start(t);
    await quota(server, 'q', { pods: '20' }, { pods: '0' });
    await quota(
      server,
      'r',
      { 'count/pods': '17', 'requests.cpu': '100' },
      { 'count/pods': '0', 'requests.cpu': '0' },
    );
    const requests = { requests: { cpu: '1' } };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => pod(server, `p${index}`, requests)),
    );
    const made = answers.filter(({ status }) => status === 201);
    assert.equal(made.length, 17);
    assert.deepEqual(
      new Set(answers.filter((answer) => !made.includes(answer)).map((answer) => answer.status)),
      new Set([403]),
    );
    assert.equal(await podsIn(server), 17);
    assert.deepEqual(
      [await usedOf(server, 'q'), await usedOf(server, 'r')],
      [{ pods: '17' }, { 'count/pods': '17', 'requests.cpu': '17' }],
    );
  });

  it('never exceed the limits through two masters', async (t) => {
    const one = await start(t);
    const two = await start(t, { clock: one.clock, wrapStore: () => one.store, bare: true });
    await quota(one, 'q', { pods: '25' }, { pods: '0' });
    await seen(two);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => pod(index % 2 ? one : two, `p${index}`)),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 25);
    assert.equal(await podsIn(one), 25);
    assert.deepEqual(await usedOf(two, 'q'), { pods: '25' });
  });
});

describe('a cache that is behind', () => {
  let lagging: LaggingStore;
  const lagged = (store: Store) => {
    lagging = new LaggingStore(store);
    return lagging.store;
  };

  it('accepts no object beyond the quota, and refuses none within it', async (t) => {
    const server = await start(t, { wrapStore: lagged });
    await quota(server, 'q', { pods: '2' }, { pods: '0' });
    lagging.holdEvents();
    const answers = [];
    for (const name of ['a', 'b', 'c']) answers.push((await pod(server, name)).status);
    assert.deepEqual(answers, [201, 201, 403]);
    const key = storageKey(resourceQuotaResource, 'default', 'q');
    const stored = await storedObject(server, key);
    const grown = { ...stored, status: { hard: { pods: '3' }, used: { pods: '2' } } };
    const told = await server.call('PUT', `${inDefault}/resourcequotas/q/status`, grown);
    assert.equal(told.status, 200, told.text);
    assert.equal((await pod(server, 'c')).status, 201);
    assert.deepEqual(await usedOf(server, 'q'), { pods: '3' });
    lagging.releaseEvents();
  });
});

describe('an update charged to a quota that loses against another writer', () => {
  const hard = { services: '5', 'services.nodeports': '9' };
  const ports = [
    { name: 'a', port: 1 },
    { name: 'b', port: 2 },
  ];
  const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
  const path = `${inDefault}/services/s`;

  /** Creates a Service that has two node ports in the store and none yet in the cache. */
  async function overtaken(t: TestContext) {
    let lagging: LaggingStore | undefined;
    const server = await start(t, {
      wrapStore(store) {
        lagging = new LaggingStore(store);
        return lagging.store;
      },
    });
    t.after(() => lagging?.releaseEvents());
    await quota(server, 'q', hard, { services: '0', 'services.nodeports': '0' });
    const made = await server.call('POST', `${inDefault}/services`, {
      metadata: { name: 's' },
      spec: { ports },
    });
    assert.equal(made.status, 201, made.text);
    await server.call('GET', `${inDefault}/services`);
    lagging?.holdEvents();
    const patched = await server.call('PATCH', path, { spec: { type: 'NodePort' } }, merge);
    assert.equal(patched.status, 200, patched.text);
    const used = { services: '1', 'services.nodeports': '2' };
    assert.deepEqual(await usedOf(server, 'q'), used);
    const isUsed = (most: Amounts) =>
      eventually(server.clock, `what is used is ${JSON.stringify(most)}`, async () =>
        deepEqual(await usedOf(server, 'q'), most),
      );
    return { server, made: made.json<Service>(), used, isUsed };
  }

  it('releases its charge at once when it is rejected', async (t) => {
    const { server, made, used, isUsed } = await overtaken(t);
    const late = await server.call('PUT', path, { ...made, spec: { ...made.spec, type: 'NodePort' } });
    assert.equal(late.status, 409, late.text);
    await isUsed(used);
  });

  it('is charged once if it is retried and stored', async (t) => {
    const { server, used, isUsed } = await overtaken(t);
    const spec = { type: 'NodePort', ports: [...ports, { name: 'c', port: 3 }] };
    assert.equal((await server.call('PATCH', path, { spec }, merge)).status, 200);
    await isUsed({ ...used, 'services.nodeports': '3' });
  });
});

describe('a namespace without a quota', () => {
  it('causes no further reads of the store', async (t) => {
    let [reads, names] = [0, 0];
    const server = await start(t, {
      wrapStore: (store) => ({
        ...store,
        get: (key) => {
          reads++;
          return store.get(key);
        },
        list: (prefix, options) => {
          reads++;
          return store.list(prefix, options);
        },
      }),
    });
    const count = async () => {
      const before = reads;
      assert.equal((await pod(server, `p${names++}`)).status, 201);
      return reads - before;
    };
    assert.equal(await count(), 0);
    await quota(server, 'q', { pods: '10' }, { pods: '0' });
    assert.equal(await count(), 0);
  });
});
