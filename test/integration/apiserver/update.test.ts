import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Deployment } from '../../../src/api/apps/v1/deployment.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, storedObject, type TestServer } from '../../fixtures/api-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';

const deployment = (name: string, replicas = 1) => ({
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'one', env: [{ name: 'A', value: '1' }] }] },
    },
  },
});

describe('update', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const createMap = async (name: string, data = {}) =>
    (await server.call('POST', configMaps, { metadata: { name }, data })).json();
  const createDeployment = async (name: string) =>
    (await server.call('POST', deployments, deployment(name))).json<Deployment>();

  it('replaces the object and keeps what only the server sets', async () => {
    const made = await createMap('put', { a: '1' });
    const body = {
      metadata: { name: 'put', uid: made.metadata.uid, creationTimestamp: null },
      data: { b: '2' },
    };
    const answer = await server.call('PUT', `${configMaps}/put`, body);
    assert.equal(answer.status, 200, answer.text);
    const stored = await storedObject(server, '/registry/configmaps/default/put');
    assert.deepEqual(stored, answer.json());
    assert.equal(stored?.metadata.creationTimestamp, made.metadata.creationTimestamp);
    assert.deepEqual((stored as unknown as { data: unknown }).data, { b: '2' });
  });

  it('refuses an update of an old version, and leaves the object unchanged', async () => {
    const made = await createMap('stale');
    await server.call('PUT', `${configMaps}/stale`, { metadata: { name: 'stale' }, data: { now: '1' } });
    const answer = await server.call('PUT', `${configMaps}/stale`, made);
    assert.equal(answer.status, 409);
    assert.equal(
      answer.json<Status>().message,
      'Operation cannot be fulfilled on configmaps "stale": the object has been modified; please apply your changes to the latest version and try again',
    );
    const stored = await storedObject(server, '/registry/configmaps/default/stale');
    assert.deepEqual((stored as unknown as { data: unknown }).data, { now: '1' });
  });

  it('refuses another uid and another name', async () => {
    await createMap('ident');
    const other = { metadata: { name: 'ident', uid: 'another' } };
    assert.equal((await server.call('PUT', `${configMaps}/ident`, other)).status, 409);
    assert.equal((await server.call('PUT', `${configMaps}/ident`, { metadata: { name: 'x' } })).status, 400);
    assert.equal(
      (await server.call('PUT', `${configMaps}/gone`, { metadata: { name: 'gone' } })).status,
      404,
    );
  });

  it('writes nothing when nothing changes', async () => {
    const made = await createMap('same', { a: '1' });
    const answer = await server.call('PUT', `${configMaps}/same`, {
      metadata: { name: 'same' },
      data: { a: '1' },
    });
    assert.equal(answer.json().metadata.resourceVersion, made.metadata.resourceVersion);
    const patch = { headers: { 'content-type': 'application/merge-patch+json' } };
    const patched = await server.call('PATCH', `${configMaps}/same`, { data: { a: '1' } }, patch);
    assert.equal(patched.json().metadata.resourceVersion, made.metadata.resourceVersion);
  });

  it('increments the generation only for a change of the spec', async () => {
    const made = await createDeployment('generations');
    const path = `${deployments}/generations`;
    const labelled = { ...made, metadata: { ...made.metadata, labels: { x: 'y' } } };
    const first = (await server.call('PUT', path, labelled)).json<Deployment>();
    assert.equal(first.metadata.generation, 1);
    const scaled = { ...first, spec: { ...first.spec, replicas: 7 } };
    const second = (await server.call('PUT', path, scaled)).json<Deployment>();
    assert.equal(second.metadata.generation, 2);
    const status = { ...second, status: { observedGeneration: 2, replicas: 7 } };
    const third = (await server.call('PUT', `${path}/status`, status)).json<Deployment>();
    assert.equal(third.metadata.generation, 2);
    assert.equal(third.status?.replicas, 7);
  });

  it('changes either the status or the specification', async () => {
    const made = await createDeployment('apart');
    const path = `${deployments}/apart`;
    const both = { ...made, spec: { ...made.spec, replicas: 3 }, status: { replicas: 3 } };
    const main = (await server.call('PUT', path, both)).json<Deployment>();
    assert.equal(main.spec.replicas, 3);
    assert.equal(main.status?.replicas, made.status?.replicas);
    const reverse = { ...main, spec: { ...main.spec, replicas: 9 }, status: { replicas: 2 } };
    const status = (await server.call('PUT', `${path}/status`, reverse)).json<Deployment>();
    assert.equal(status.spec.replicas, 3);
    assert.equal(status.status?.replicas, 2);
  });

  it('lets a write of the status change metadata as far as upstream does for the kind', async () => {
    const owners = [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }];
    const told = {
      labels: { a: 'b' },
      annotations: { c: 'd' },
      ownerReferences: owners,
      finalizers: ['e.f/g'],
    };
    const pod = { metadata: { name: 'told' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { host: 'told.example', paths: [] };
    const dns = { apiVersion: 'minik8s.io/v1', kind: 'Dns', metadata: { name: 'told' }, spec };
    await server.call('POST', '/apis/minik8s.io/v1/namespaces/default/dnses', {
      ...dns,
      spec: { ...spec, paths: [{ path: '/', serviceName: 's', servicePort: 80 }] },
    });
    await server.call('POST', '/api/v1/namespaces/default/pods', pod);
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'told' } });
    await createDeployment('told');
    for (const [path, kept] of [
      ['/api/v1/namespaces/told', []],
      ['/api/v1/namespaces/default/pods/told', ['ownerReferences']],
      [`${deployments}/told`, ['labels']],
      [
        '/apis/minik8s.io/v1/namespaces/default/dnses/told',
        ['labels', 'annotations', 'ownerReferences', 'finalizers'],
      ],
    ] as const) {
      const before = (await server.call('GET', path)).json<KubeObject>().metadata;
      const headers = { 'content-type': 'application/merge-patch+json' };
      const answer = await server.call('PATCH', `${path}/status`, { metadata: told }, { headers });
      assert.equal(answer.status, 200, answer.text);
      const { metadata } = answer.json<KubeObject>();
      for (const field of ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const) {
        const isKept = (kept as readonly string[]).includes(field);
        const expected = isKept
          ? before[field]
          : { ...told[field], ...(field === 'labels' && before.labels) };
        assert.deepEqual({ ...metadata[field] }, { ...expected }, `${field} of ${path}`);
      }
    }
  });

  it('changes the scale by each kind of patch', async () => {
    const path = `${deployments}/rescaled/scale`;
    await createDeployment('rescaled');
    const by = async (type: string, body: unknown) => {
      const answer = await server.call('PATCH', path, body, {
        headers: { 'content-type': `application/${type}` },
      });
      assert.equal(answer.status, 200, answer.text);
      return answer.json<{ kind: string; spec: { replicas: number } }>();
    };
    assert.equal((await by('strategic-merge-patch+json', { spec: { replicas: 4 } })).spec.replicas, 4);
    assert.equal((await by('merge-patch+json', { spec: { replicas: 5 } })).spec.replicas, 5);
    const operations = [{ op: 'replace', path: '/spec/replicas', value: 6 }];
    const scale = await by('json-patch+json', operations);
    assert.deepEqual([scale.kind, scale.spec.replicas], ['Scale', 6]);
    assert.equal((await server.call('GET', `${deployments}/rescaled`)).json<Deployment>().spec.replicas, 6);
  });

  it('refuses changes of immutable fields, with the field', async () => {
    const made = await createDeployment('immutable');
    const selector = { matchLabels: { app: 'other' } };
    const answer = await server.call('PUT', `${deployments}/immutable`, {
      ...made,
      spec: { ...made.spec, selector },
    });
    assert.equal(answer.status, 422);
    assert.ok(answer.json<Status>().details?.causes?.some((cause) => cause.field?.startsWith('spec.')));
  });

  it('applies each of the three types of patches', async () => {
    await createDeployment('patched');
    const patch = (type: string, body: unknown) =>
      server.call('PATCH', `${deployments}/patched`, body, {
        headers: { 'content-type': `application/${type}` },
      });
    const strategic = {
      spec: { template: { spec: { containers: [{ name: 'c', env: [{ name: 'B', value: '2' }] }] } } },
    };
    const first = (await patch('strategic-merge-patch+json', strategic)).json<Deployment>();
    const { containers } = first.spec.template.spec;
    assert.equal(containers[0]?.image, 'one');
    assert.deepEqual(containers[0]?.env?.map(({ name }) => name).sort(), ['A', 'B']);
    const second = await patch('merge-patch+json', {
      metadata: { labels: { a: 'b' } },
      spec: { replicas: 4 },
    });
    assert.equal(second.json<Deployment>().spec.replicas, 4);
    const third = await patch('json-patch+json', [
      { op: 'test', path: '/spec/replicas', value: 4 },
      { op: 'replace', path: '/spec/replicas', value: 5 },
    ]);
    assert.equal(third.json<Deployment>().spec.replicas, 5);
    assert.equal(
      (await patch('json-patch+json', [{ op: 'test', path: '/spec/replicas', value: 4 }])).status,
      422,
    );
    assert.equal((await patch('json-patch+json', { op: 'test' })).status, 400);
    assert.equal((await patch('merge-patch+json', '{')).status, 400);
    assert.equal((await patch('apply-patch+yaml', 'a: b')).status, 422, 'fieldManager is missing');
    assert.equal((await patch('json', {})).status, 415);
    const stored = (await storedObject(server, '/registry/deployments.apps/default/patched')) as Deployment;
    assert.equal(stored.spec.replicas, 5);
  });

  it('treats a resourceVersion in a patch as a precondition, and rejects an invalid result', async () => {
    const made = await createMap('condition', { a: '1' });
    const patch = (body: unknown) =>
      server.call('PATCH', `${configMaps}/condition`, body, {
        headers: { 'content-type': 'application/merge-patch+json' },
      });
    assert.equal((await patch({ metadata: { resourceVersion: '1' } })).status, 409);
    assert.equal((await patch({ metadata: { uid: 'x' } })).status, 409);
    assert.equal((await patch({ metadata: { labels: { 'bad key!': 'x' } } })).status, 422);
    assert.equal((await patch({ metadata: { name: 'other' } })).status, 400);
    const stored = await storedObject(server, '/registry/configmaps/default/condition');
    assert.equal(stored?.metadata.resourceVersion, made.metadata.resourceVersion);
  });

  it('accepts all concurrent patches of one object, but only one of concurrent PUTs of the same version', async () => {
    const made = await createMap('race', { n: '0' });
    const headers = { 'content-type': 'application/merge-patch+json' };
    const keys = Array.from({ length: 20 }, (_, i) => `k${i}`);
    const patches = keys.map((key) =>
      server.call('PATCH', `${configMaps}/race`, { data: { [key]: 'x' } }, { headers }),
    );
    assert.deepEqual([...new Set((await Promise.all(patches)).map(({ status }) => status))], [200]);
    const stored = (await storedObject(server, '/registry/configmaps/default/race')) as unknown as {
      data: object;
    };
    assert.deepEqual(Object.keys(stored.data).sort(), ['n', ...keys].sort());
    const fresh = (await server.call('GET', `${configMaps}/race`)).json();
    assert.notEqual(fresh.metadata.resourceVersion, made.metadata.resourceVersion);
    const puts = keys.map((key) =>
      server.call('PUT', `${configMaps}/race`, { ...fresh, data: { won: key } }),
    );
    const won = (await Promise.all(puts)).filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
  });

  it('scales through the scale subresource', async () => {
    await createDeployment('scaled');
    const path = `${deployments}/scaled/scale`;
    const scale = (await server.call('GET', path)).json<
      KubeObject & { spec: { replicas: number }; status: object }
    >();
    assert.equal(scale.kind, 'Scale');
    assert.deepEqual(scale.status, { replicas: 0, selector: 'app=scaled' });
    const put = await server.call(
      'PUT',
      path,
      { ...scale, spec: { replicas: 6 } },
      { headers: { 'content-type': '' } },
    );
    assert.equal(put.status, 200, put.text);
    const headers = { 'content-type': 'application/merge-patch+json' };
    assert.equal((await server.call('PUT', path, { ...scale, spec: { replicas: 8 } })).status, 409);
    assert.equal((await server.call('PATCH', path, { spec: { replicas: -1 } }, { headers })).status, 422);
    assert.equal((await server.call('PATCH', path, { spec: { replicas: 'x' } }, { headers })).status, 400);
    assert.equal((await server.call('PATCH', path, { spec: { replicas: 2 } }, { headers })).status, 200);
    const stored = (await storedObject(server, '/registry/deployments.apps/default/scaled')) as Deployment;
    assert.equal(stored.spec.replicas, 2);
    assert.equal(stored.metadata.generation, 3);
  });

  it('answers a dry run with the resulting object and stores nothing', async () => {
    const made = await createMap('dry', { a: '1' });
    const body = { metadata: { name: 'dry' }, data: { a: '2' } };
    const answer = await server.call('PUT', `${configMaps}/dry?dryRun=All`, body);
    assert.deepEqual(answer.json().data, { a: '2' });
    const stored = await storedObject(server, '/registry/configmaps/default/dry');
    assert.equal(stored?.metadata.resourceVersion, made.metadata.resourceVersion);
  });
});
