/** Field ownership after every kind of write other than apply. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { ValueTooLargeError } from '../../../src/storage/store.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { openTestWatch } from '../../fixtures/watch-reader.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const autoscalers = (version: string) =>
  `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;

interface Entry {
  manager: string;
  operation: string;
  apiVersion: string;
  subresource?: string;
  time?: string;
  fieldsType: string;
  fieldsV1: object;
}

const entriesOf = ({ metadata }: KubeObject) => (metadata.managedFields ?? []) as Entry[];
const managersOf = (object: KubeObject) =>
  entriesOf(object).map(({ manager, subresource }) => (subresource ? `${manager}/${subresource}` : manager));
const fieldsOf = (object: KubeObject, name: string) =>
  entriesOf(object).find(({ manager, subresource }) =>
    subresource ? `${manager}/${subresource}` === name : manager === name,
  )?.fieldsV1;

const deployment = (name: string) => ({
  metadata: { name },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'one' }] },
    },
  },
});

describe('managedFields', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const send = (method: string, path: string, body: unknown, agent: string, type = 'application/json') =>
    server.call(method, path, body, { headers: { 'user-agent': `${agent}/v1`, 'content-type': type } });
  const merge = (path: string, body: unknown, agent: string) =>
    send('PATCH', path, body, agent, 'application/merge-patch+json');
  const get = async <T extends KubeObject>(path: string) => (await server.call('GET', path)).json<T>();

  it('begin with the creator, who also owns the defaults, and without fields that only the server sets', async () => {
    const body = { metadata: { name: 'new', labels: { a: 'b' }, finalizers: ['x.io/f'] }, data: { k: 'v' } };
    const made = (await send('POST', maps, body, 'maker')).json();
    assert.deepEqual(entriesOf(made), [
      {
        manager: 'maker',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:data': { '.': {}, 'f:k': {} },
          'f:metadata': {
            'f:finalizers': { '.': {}, 'v:"x.io/f"': {} },
            'f:labels': { '.': {}, 'f:a': {} },
          },
        },
      },
    ]);
    const web = (await send('POST', deployments, deployment('web'), 'maker')).json();
    const { 'f:spec': spec } = fieldsOf(web, 'maker') as { 'f:spec': Record<string, object> };
    assert.ok(spec['f:progressDeadlineSeconds'], 'a default');
    const named = await send(
      'POST',
      `${maps}?fieldManager=named`,
      { metadata: { generateName: 'g' }, data: { a: '' } },
      'x',
    );
    assert.deepEqual(managersOf(named.json()), ['named']);
  });

  it('follow every type of write', async () => {
    await send('POST', deployments, deployment('ways'), 'maker');
    const at = `${deployments}/ways`;
    const object = await get<KubeObject & { spec: { replicas: number } }>(at);
    object.spec.replicas = 2;
    await send('PUT', at, object, 'putter');
    assert.deepEqual(fieldsOf(await get(at), 'putter'), { 'f:spec': { 'f:replicas': {} } });
    const json = [{ op: 'add', path: '/metadata/annotations', value: { a: 'b' } }];
    await send('PATCH', at, json, 'patcher', 'application/json-patch+json');
    const image = { spec: { template: { spec: { containers: [{ name: 'c', image: 'two' }] } } } };
    await send('PATCH', at, image, 'strategist', 'application/strategic-merge-patch+json');
    const scale = {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'ways' },
      spec: { replicas: 3 },
    };
    await send('PUT', `${at}/scale`, scale, 'scaler');
    await merge(`${at}/status`, { status: { replicas: 3 }, spec: { replicas: 9 } }, 'watcher');
    const now = await get(at);
    assert.deepEqual(managersOf(now).sort(), [
      'maker',
      'patcher',
      'scaler/scale',
      'strategist',
      'watcher/status',
    ]);
    assert.deepEqual(fieldsOf(now, 'patcher'), { 'f:metadata': { 'f:annotations': { '.': {}, 'f:a': {} } } });
    assert.deepEqual(fieldsOf(now, 'strategist'), {
      'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"c"}': { 'f:image': {} } } } } },
    });
    assert.deepEqual(fieldsOf(now, 'scaler/scale'), { 'f:spec': { 'f:replicas': {} } });
    assert.deepEqual(fieldsOf(now, 'watcher/status'), { 'f:status': { 'f:replicas': {} } });
  });

  it('are no reason to write an object that is otherwise unchanged, at any time', async () => {
    await send('POST', maps, { metadata: { name: 'same' }, data: { k: 'v' } }, 'maker');
    const before = await get(`${maps}/same`);
    await server.clock.advance(60_000);
    for (const answer of [
      await send('PUT', `${maps}/same`, before, 'maker'),
      await send('PUT', `${maps}/same`, { metadata: { name: 'same' }, data: { k: 'v' } }, 'other'),
      await merge(`${maps}/same`, { data: { k: 'v' } }, 'maker'),
    ])
      assert.deepEqual(answer.json(), before);
    // No client owns the field: only the server sets the status of a deployment in this way.
    const web = await get(`${deployments}/web`);
    assert.deepEqual((await merge(`${deployments}/web`, { status: { replicas: 5 } }, 'maker')).json(), web);
  });

  it('are no reason to write again a value that the server restores', async () => {
    await send('POST', maps, { metadata: { name: 'back' }, data: { k: 'v' } }, 'maker');
    // A client that tries to set the field becomes its owner, as upstream, although only the server sets it.
    const tried = { metadata: { name: 'back', deletionGracePeriodSeconds: 5 }, data: { k: 'v' } };
    const first = await send('PUT', `${maps}/back`, tried, 'maker');
    await server.clock.advance(60_000);
    const second = await send('PUT', `${maps}/back`, tried, 'maker');
    assert.deepEqual(second.json(), first.json());
  });

  it('have the time of the last change, and one entry for a manager that writes twice', async () => {
    await send('POST', maps, { metadata: { name: 'twice' }, data: { k: 'v' } }, 'maker');
    const [{ time: first } = assert.fail()] = entriesOf(await get(`${maps}/twice`));
    await server.clock.advance(60_000);
    await merge(`${maps}/twice`, { data: { l: 'w' } }, 'maker');
    const [entry, ...others] = entriesOf(await get(`${maps}/twice`));
    assert.deepEqual(others, []);
    assert.deepEqual(entry?.fieldsV1, { 'f:data': { '.': {}, 'f:k': {}, 'f:l': {} } });
    assert.ok(Date.parse(entry?.time ?? '') >= Date.parse(first ?? '') + 60_000);
  });

  it('lose fields that are removed, and managers without fields', async () => {
    await send('POST', maps, { metadata: { name: 'less' }, data: { k: 'v' } }, 'maker');
    await merge(`${maps}/less`, { data: { l: 'w' } }, 'other');
    assert.deepEqual(managersOf(await get(`${maps}/less`)), ['maker', 'other']);
    await merge(`${maps}/less`, { data: { l: null } }, 'third');
    assert.deepEqual(managersOf(await get(`${maps}/less`)), ['maker']);
  });

  it('are restored when a client sends none or invalid ones; a client may change and remove them', async () => {
    await send('POST', maps, { metadata: { name: 'said' }, data: { k: 'v' } }, 'maker');
    const at = `${maps}/said`;
    const replace = (value: unknown) =>
      send(
        'PATCH',
        at,
        [{ op: 'add', path: '/metadata/managedFields', value }],
        'patcher',
        'application/json-patch+json',
      );
    const before = await get(at);
    const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' };
    for (const broken of [
      { ...entry, operation: 'Take' },
      { ...entry, apiVersion: '' },
      { ...entry, fieldsType: 'FieldsV9' },
      { ...entry, fieldsV1: { wrong: {} } },
      { ...entry, fieldsV1: { 'k:{': {} } },
      { ...entry, fieldsV1: { 'k:[]': {} } },
      { ...entry, fieldsV1: { 'i:x': {} } },
      { ...entry, fieldsV1: { 'f:a': 1 } },
      { manager: 'm' },
    ]) {
      const answer = await replace([broken]);
      assert.deepEqual(answer.json(), before, JSON.stringify(broken));
    }
    const fieldsV1 = { 'f:data': { 'f:k': {} } };
    const changed = await replace([{ ...entry, fieldsV1 }]);
    assert.deepEqual(entriesOf(changed.json()), [{ ...entry, fieldsV1 }]);
    for (const reset of [[], [{}]]) {
      await send('PUT', at, before, 'maker');
      const forgotten = await replace(reset);
      assert.equal(forgotten.status, 200, forgotten.text);
      assert.deepEqual(entriesOf(forgotten.json()), []);
      const unknown = await merge(at, { data: { more: String(reset.length) } }, 'late');
      assert.deepEqual(entriesOf(unknown.json()), [], 'who made it what it is, is not known any more');
      await server.call('DELETE', at);
      await send('POST', maps, { metadata: { name: 'said' }, data: { k: 'v' } }, 'maker');
    }
  });

  it('exist for JSON patches that test them', async () => {
    await send('POST', maps, { metadata: { name: 'json' }, data: { k: 'v' } }, 'maker');
    const patch = (...operations: object[]) =>
      send('PATCH', `${maps}/json`, operations, 'patcher', 'application/json-patch+json');
    const at = '/metadata/managedFields/0/manager';
    const renamed = await patch(
      { op: 'test', path: at, value: 'maker' },
      { op: 'replace', path: at, value: 'm' },
    );
    assert.equal(renamed.status, 200, renamed.text);
    assert.deepEqual(managersOf(renamed.json()), ['m']);
    const copied = await patch({ op: 'copy', from: at, path: '/data/manager' });
    assert.deepEqual(copied.json<KubeObject & { data: object }>().data, { k: 'v', manager: 'm' });
    const { metadata } = await get(`${maps}/json`);
    const whole = await patch({ op: 'test', path: '/metadata', value: metadata });
    assert.equal(whole.status, 200, whole.text);
  });

  it('cannot be changed through a subresource', async () => {
    await send('POST', deployments, deployment('sub'), 'maker');
    const before = await get(`${deployments}/sub`);
    const forged = { metadata: { managedFields: [{}] }, status: { replicas: 1 } };
    const after = await merge(`${deployments}/sub/status`, forged, 'watcher');
    assert.deepEqual(entriesOf(after.json())[0], entriesOf(before)[0]);
  });

  it('keep ten managers that update, and merge the older ones into one entry', async () => {
    await send('POST', maps, { metadata: { name: 'many' }, data: { k: 'v' } }, 'm0');
    for (let i = 1; i <= 12; i++) {
      await server.clock.advance(1_000);
      await merge(`${maps}/many`, { data: { [`k${i}`]: 'v' } }, `m${i}`);
    }
    const object = await get(`${maps}/many`);
    assert.deepEqual(managersOf(object), [
      'ancient-changes',
      ...Array.from({ length: 9 }, (_, i) => `m${i + 4}`),
    ]);
    assert.deepEqual(fieldsOf(object, 'ancient-changes'), {
      'f:data': { '.': {}, 'f:k': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {} },
    });
  });

  it('have the fields in the version in which they were written', async () => {
    const spec = {
      ...{ scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
      ...{ minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
    };
    const made = await send('POST', autoscalers('v1'), { metadata: { name: 'h' }, spec }, 'old');
    assert.equal(made.status, 201, made.text);
    const [entry] = entriesOf(made.json());
    assert.equal(entry?.apiVersion, 'autoscaling/v1');
    assert.match(JSON.stringify(entry?.fieldsV1), /f:targetCPUUtilizationPercentage/);
    const at = `${autoscalers('v2')}/h`;
    const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } };
    const metrics = [{ type: 'Resource', resource }];
    const patched = await merge(at, { spec: { metrics } }, 'new');
    assert.equal(patched.status, 200, patched.text);
    assert.deepEqual(fieldsOf(patched.json(), 'new'), { 'f:spec': { 'f:metrics': {} } });
    const before = fieldsOf(patched.json(), 'old') as { 'f:spec': Record<string, object> };
    assert.equal(before['f:spec']['f:targetCPUUtilizationPercentage'], undefined, 'it is the other one now');
    assert.ok(before['f:spec']['f:maxReplicas']);
  });

  it('have no entry for a binding', async () => {
    const pod = { metadata: { name: 'bound' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await send('POST', pods, pod, 'maker');
    const before = await get(`${pods}/bound`);
    await send('POST', `${pods}/bound/binding`, { target: { name: 'n' } }, 'scheduler');
    const after = await get<KubeObject & { spec: { nodeName?: string } }>(`${pods}/bound`);
    assert.equal(after.spec.nodeName, 'n');
    assert.deepEqual(entriesOf(after), entriesOf(before));
  });

  it('are not cached by controllers, and stay when a controller sends an object without them', async () => {
    await send('POST', maps, { metadata: { name: 'read' }, data: { k: 'v' } }, 'maker');
    const stopping = new AbortController();
    const client = createClient(inProcessTransport(server.handlerFor(admin), 'a-controller'));
    const informers = createInformerFactory({
      ...{ client, clock: server.ownClock, random: new SeededRandom(1), log: silentLogger },
    });
    const { lister } = informers.informerFor(configMapResource);
    await informers.start(stopping.signal);
    const seen = lister.get('default/read') ?? assert.fail('the informer has it');
    assert.equal(seen.metadata.managedFields, undefined);
    await client.resource(configMapResource).update({ ...structuredClone(seen), data: { k: 'v', l: 'w' } });
    assert.deepEqual(managersOf(await get(`${maps}/read`)), ['a-controller', 'maker']);
    stopping.abort();
    await informers.stopped();
  });

  it('are omitted in lists and watches on request, also for metadata', async () => {
    await send(
      'POST',
      maps,
      { metadata: { name: 'bare', labels: { bare: 'yes' } }, data: { k: 'v' } },
      'maker',
    );
    const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    for (const type of ['application/json', partial]) {
      for (const isOwned of [true, false]) {
        const headers = { accept: isOwned ? type : `${type};managedFields=none,${type}` };
        const path = `${maps}?labelSelector=bare`;
        const list = (await server.call('GET', path, undefined, { headers })).json<{ items: KubeObject[] }>();
        const one = (await server.call('GET', `${maps}/bare`, undefined, { headers })).json<KubeObject>();
        const watch = await openTestWatch(server, `${path}&watch=1`, headers);
        const first = await watch.next();
        await merge(`${maps}/bare`, { data: { k: `${type} ${isOwned}` } }, 'maker');
        const second = await watch.next();
        watch.abort();
        assert.ok(first && second);
        for (const object of [...list.items, one, first.object, second.object]) {
          assert.equal(object.metadata.name, 'bare');
          assert.equal(object.metadata.managedFields !== undefined, isOwned, `${type} ${isOwned}`);
        }
      }
    }
  });

  it('are dropped if the object is so large that they would be too many', async () => {
    const data = (from: number) =>
      Object.fromEntries(Array.from({ length: 14_000 }, (_, i) => [`k${from + i}`, '']));
    const made = await send('POST', maps, { metadata: { name: 'large' }, data: data(0) }, 'maker');
    assert.equal(entriesOf(made.json()).length, 1);
    const again = await send('PUT', `${maps}/large`, made.json(), 'maker');
    assert.equal(again.status, 200, again.text.slice(0, 200));
    const grown = await merge(`${maps}/large`, { data: data(20_000) }, 'other');
    assert.equal(grown.status, 200, grown.text.slice(0, 200));
    assert.deepEqual(entriesOf(grown.json()), []);
    assert.deepEqual(entriesOf(await get(`${maps}/large`)), []);
  });
});

describe('managedFields in a store without room for them', () => {
  it('are left out, except entries of appliers', async () => {
    const most = 600;
    const check = (value: Uint8Array) => {
      if (value.length > most) throw new ValueTooLargeError('etcdserver: request is too large');
    };
    const server = await startTestServer({
      wrapStore: (store) => ({
        ...store,
        async create(key, value, claims) {
          if (key.startsWith('/registry/configmaps/')) check(value);
          return store.create(key, value, claims);
        },
        async update(key, value, revision, claims) {
          if (key.startsWith('/registry/configmaps/')) check(value);
          return store.update(key, value, revision, claims);
        },
      }),
    });
    try {
      const data = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`k${i}`, '']));
      const made = await server.call('POST', maps, { metadata: { name: 'full' }, data });
      assert.equal(made.status, 201, made.text);
      assert.deepEqual(entriesOf(made.json()), []);
      const small = await server.call('POST', maps, { metadata: { name: 'small' }, data: { k: '' } });
      assert.equal(entriesOf(small.json()).length, 1);
      const grown = await server.call('PUT', `${maps}/small`, { metadata: { name: 'small' }, data });
      assert.equal(grown.status, 200, grown.text);
      assert.deepEqual(entriesOf(grown.json()), []);
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data };
      const headers = { 'content-type': 'application/apply-patch+yaml' };
      const applied = await server.call('PATCH', `${maps}/applied?fieldManager=m`, map, { headers });
      assert.equal(applied.status, 413, applied.text);
    } finally {
      await server.stop();
    }
  });
});
