/** PATCH of type application/apply-patch+yaml: the resulting objects and their field managers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Deployment } from '../../../src/api/apps/v1/deployment.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const applyType = { 'content-type': 'application/apply-patch+yaml' };

interface Entry {
  manager: string;
  operation: string;
  apiVersion: string;
  subresource?: string;
  time?: string;
  fieldsV1: object;
}

const entriesOf = (object: KubeObject) => (object.metadata.managedFields ?? []) as Entry[];
/** Returns the field managers and their fields, without versions and times. */
const ownersOf = (object: KubeObject) =>
  Object.fromEntries(
    entriesOf(object).map(({ manager, operation, subresource, fieldsV1 }) => [
      [manager, operation, ...(subresource ? [subresource] : [])].join(' '),
      fieldsV1,
    ]),
  );

const map = (name: string, data: Record<string, unknown>, metadata = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

const deployment = (name: string, spec = {}, container = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'one', ...container }] },
    },
    ...spec,
  },
});

describe('apply', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const apply = (path: string, body: unknown, manager = 'mine', query = '') =>
    server.call('PATCH', `${path}?fieldManager=${manager}${query}`, body, { headers: applyType });
  const applyMap = (object: ReturnType<typeof map>, manager?: string, query?: string) =>
    apply(`${maps}/${object.metadata.name}`, object, manager, query);
  const get = async <T extends KubeObject>(path: string) => (await server.call('GET', path)).json<T>();
  const merge = (path: string, body: object, agent = 'kubectl-edit/v1') =>
    server.call('PATCH', path, body, {
      headers: { 'content-type': 'application/merge-patch+json', 'user-agent': agent },
    });

  it('creates an object with a field that has no effect, and warns about it once', async () => {
    const worn = (image: string) =>
      deployment('probed', {}, { image, securityContext: { windowsOptions: { runAsUserName: 'a' } } });
    const path = `${deployments}/probed`;
    const made = await apply(path, worn('one'));
    assert.equal(made.status, 201, made.text);
    assert.match(
      made.headers.get('warning') ?? '',
      /containers\[0\]\.securityContext\.windowsOptions: known to Kubernetes/,
    );
    const again = await apply(path, worn('two'));
    assert.equal(again.status, 200, again.text);
    assert.equal(again.headers.get('warning'), null);
  });

  it('creates a missing object, and owns its fields without the defaults', async () => {
    const answer = await apply(`${deployments}/made`, deployment('made'));
    assert.equal(answer.status, 201, answer.text);
    const made = answer.json<Deployment>();
    assert.equal(made.spec.replicas, 1, 'a default');
    assert.deepEqual(ownersOf(made), {
      'mine Apply': {
        'f:spec': {
          'f:selector': {},
          'f:template': {
            'f:metadata': { 'f:labels': { 'f:app': {} } },
            'f:spec': {
              'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {} } },
            },
          },
        },
      },
    });
    const [entry] = entriesOf(made);
    assert.equal(entry?.apiVersion, 'apps/v1');
    assert.equal(entry?.time, '2026-01-01T00:00:00Z');
    const again = await apply(`${deployments}/made`, deployment('made'));
    assert.equal(again.status, 200);
    assert.equal(again.json().metadata.resourceVersion, made.metadata.resourceVersion, 'nothing changed');
  });

  it('accepts YAML, and JSON as YAML', async () => {
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata:\n  a: "1" # one\n';
    const made = await apply(`${maps}/yaml`, yaml);
    assert.deepEqual(made.json<{ data: object }>().data, { a: '1' });
    const flow = '{apiVersion: v1, kind: ConfigMap, metadata: {name: yaml}, data: {a: "2"}}';
    const answer = await apply(`${maps}/yaml`, flow);
    assert.deepEqual(answer.json<{ data: object }>().data, { a: '2' });
    const broken = await apply(`${maps}/yaml`, 'a: [');
    assert.equal(broken.status, 400);
    assert.match(broken.json<Status>().message ?? '', /^error decoding YAML: /);
    assert.equal((await apply(`${maps}/yaml`, '- a')).status, 400);
  });

  it('removes fields that are no longer applied, and keeps the fields of other managers', async () => {
    await applyMap(map('removed', { a: '1', b: '1', c: '1' }));
    await merge(`${maps}/removed`, { data: { b: '2', other: 'x' } });
    const answer = await applyMap(map('removed', { a: '1' }));
    assert.deepEqual(answer.json<{ data: object }>().data, { a: '1', b: '2', other: 'x' });
    assert.deepEqual(ownersOf(answer.json()), {
      'mine Apply': { 'f:data': { 'f:a': {} } },
      'kubectl-edit Update': { 'f:data': { 'f:b': {}, 'f:other': {} } },
    });
  });

  it('refuses to change fields of other managers, and names these; force takes the fields over', async () => {
    await applyMap(map('fought', { a: '1', b: '1' }));
    await merge(`${maps}/fought`, { data: { a: '2' } });
    const one = await applyMap(map('fought', { a: '1', b: '1' }));
    assert.equal(one.status, 409);
    const { message, reason, details } = one.json<Status>();
    assert.equal(reason, 'Conflict');
    assert.equal(message, 'Apply failed with 1 conflict: conflict with "kubectl-edit" using v1: .data.a');
    assert.deepEqual(details?.causes, [
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "kubectl-edit" using v1',
        field: '.data.a',
      },
    ]);
    const two = await applyMap(map('fought', { a: '3', b: '3' }), 'yours');
    assert.equal(
      two.json<Status>().message,
      'Apply failed with 2 conflicts: conflicts with "kubectl-edit" using v1:\n- .data.a\nconflicts with "mine":\n- .data.b',
    );
    const forced = await applyMap(map('fought', { a: '3' }), 'yours', '&force=true');
    assert.equal(forced.status, 200);
    assert.deepEqual(ownersOf(forced.json()), {
      'mine Apply': { 'f:data': { 'f:b': {} } },
      'yours Apply': { 'f:data': { 'f:a': {} } },
    });
  });

  it('shares a field with a manager that applies the same value', async () => {
    await applyMap(map('shared', { a: '1' }));
    const { metadata } = (await applyMap(map('shared', { a: '1' }), 'yours')).json();
    assert.deepEqual(
      (metadata.managedFields as Entry[]).map(({ manager }) => manager),
      // A manager that changed nothing has no time.
      ['yours', 'mine'],
    );
    const left = await applyMap(map('shared', {}), 'mine');
    assert.deepEqual(left.json<{ data: object }>().data, { a: '1' }, 'the other still has it');
    const gone = await applyMap(map('shared', {}), 'yours');
    assert.equal(gone.json<{ data?: object }>().data, undefined);
  });

  it('merges lists by their keys', async () => {
    const ports = [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }];
    await apply(`${deployments}/lists`, deployment('lists', {}, { ports }));
    const sidecar = {
      spec: {
        containers: [
          { name: 'c', image: 'one' },
          { name: 'more', image: 'two' },
        ],
      },
    };
    const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
    await server.call(
      'PATCH',
      `${deployments}/lists`,
      { spec: { template: sidecar } },
      { headers: strategic },
    );
    const answer = await apply(
      `${deployments}/lists`,
      deployment('lists', {}, { ports: [{ containerPort: 8080 }] }),
    );
    const { containers } = answer.json<Deployment>().spec.template.spec;
    assert.deepEqual(
      containers.map(({ name, ports: of = [] }) => [name, of.map((port) => port.containerPort)]),
      [
        ['c', [8080]],
        ['more', []],
      ],
    );
  });

  it('requires a field manager, and allows force only here', async () => {
    const anonymous = await server.call('PATCH', `${maps}/who`, map('who', {}), { headers: applyType });
    assert.equal(anonymous.status, 422);
    assert.equal(
      anonymous.json<Status>().message,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    );
    await server.call('POST', maps, map('who', {}));
    const forced = await merge(`${maps}/who?force=true`, { data: { a: '1' } });
    assert.equal(forced.status, 422);
    assert.match(forced.json<Status>().message ?? '', /may not be specified for non-apply patch/);
  });

  it('refuses a configuration that cannot be applied, with a message', async () => {
    for (const [body, message] of [
      [{ metadata: { name: 'bad' } }, 'invalid object type: /, Kind='],
      [{ ...map('bad', {}), kind: 'Secret' }, 'invalid object type: /v1, Kind=Secret'],
      [{ ...map('bad', {}), apiVersion: 'v2' }, 'invalid object type: /v2, Kind=ConfigMap'],
      [map('bad', {}, { managedFields: [] }), 'metadata.managedFields must be nil'],
      [
        { ...map('bad', {}), wrong: 1 },
        'failed to create typed patch object (default/bad; /v1, Kind=ConfigMap): .wrong: field not declared in schema',
      ],
      [map('bad', { a: 1 }), /^failed to create typed patch object \(default\/bad; \/v1, Kind=ConfigMap\): /],
      [map('other', {}), /\(other\) does not match the name on the URL \(bad\)/],
      [
        { apiVersion: 'v1', kind: 'ConfigMap' },
        'the name of the object (bad based on URL) was undeterminable: name must be provided',
      ],
      [map('bad', {}, { namespace: 'other' }), /namespace/],
    ] as const) {
      const answer = await apply(`${maps}/bad`, body);
      assert.equal(answer.status, 400, answer.text);
      const said = answer.json<Status>().message ?? '';
      if (message instanceof RegExp) assert.match(said, message);
      else assert.equal(said, message);
    }
    const twice = deployment('bad', {}, {});
    twice.spec.template.spec.containers.push({ name: 'c', image: 'two' });
    const answer = await apply(`${deployments}/bad`, twice);
    assert.match(answer.json<Status>().message ?? '', /duplicate entries for key \[name="c"\]/);
    assert.equal((await server.call('GET', `${maps}/bad`)).status, 404, 'no object was created');
  });

  it('compares the version that the configuration names, and its uid', async () => {
    const { metadata } = (await applyMap(map('version', { a: '1' }))).json();
    const { resourceVersion } = metadata;
    assert.equal((await applyMap(map('version', { a: '2' }, { resourceVersion }))).status, 200);
    assert.equal((await applyMap(map('version', { a: '3' }, { resourceVersion }))).status, 409);
    assert.equal((await applyMap(map('absent', {}, { uid: 'u' }))).status, 409);
  });

  it('stores nothing in a dry run', async () => {
    const made = await applyMap(map('dry', { a: '1' }), 'mine', '&dryRun=All');
    assert.equal(made.status, 201);
    assert.equal((await server.call('GET', `${maps}/dry`)).status, 404);
    await applyMap(map('dry', { a: '1' }));
    const changed = await applyMap(map('dry', { a: '2' }), 'mine', '&dryRun=All');
    assert.deepEqual(changed.json<{ data: object }>().data, { a: '2' });
    assert.deepEqual((await get<KubeObject & { data: object }>(`${maps}/dry`)).data, { a: '1' });
  });

  it('creates an object only for users who may create it', async () => {
    const user = { name: 'u', groups: ['system:masters', 'system:authenticated'] };
    const allowed = await server.call('PATCH', `${maps}/allowed?fieldManager=m`, map('allowed', {}), {
      user,
      headers: applyType,
    });
    assert.equal(allowed.status, 201);
    const nobody = { name: 'nobody', groups: ['system:authenticated'] };
    const refused = await server.call('PATCH', `${maps}/refused?fieldManager=m`, map('refused', {}), {
      user: nobody,
      headers: applyType,
    });
    assert.equal(refused.status, 403);
  });

  it('applies a status, and changes nothing but the status', async () => {
    await apply(`${deployments}/parts`, deployment('parts', { replicas: 2 }));
    const status = {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'parts' } },
      ...{ spec: { replicas: 9 }, status: { replicas: 2, conditions: [{ type: 'Seen', status: 'True' }] } },
    };
    const answer = await apply(`${deployments}/parts/status`, status, 'watcher');
    assert.equal(answer.status, 200, answer.text);
    const { spec, status: seen } = answer.json<Deployment>();
    assert.equal(spec.replicas, 2);
    assert.equal(seen?.replicas, 2);
    assert.deepEqual(ownersOf(answer.json())['watcher Apply status'], {
      'f:status': {
        'f:conditions': { 'k:{"type":"Seen"}': { '.': {}, 'f:status': {}, 'f:type': {} } },
        'f:replicas': {},
      },
    });
    const main = await apply(`${deployments}/parts`, { ...deployment('parts'), status: { replicas: 7 } });
    assert.equal(main.json<Deployment>().status?.replicas, 2);
    assert.equal((await apply(`${deployments}/absent/status`, { ...status, metadata: {} })).status, 404);
  });

  it('applies a scale after the previous manager has released the replica count', async () => {
    await apply(`${deployments}/scaled`, deployment('scaled', { replicas: 2 }));
    const scale = (replicas: number) => ({
      ...{ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'scaled' }, spec: { replicas } },
    });
    const at = `${deployments}/scaled/scale`;
    const refused = await apply(at, scale(5), 'scaler');
    assert.equal(refused.status, 409);
    assert.match(refused.json<Status>().message ?? '', /1 conflict: conflict with "mine": \.spec\.replicas$/);
    const forced = await apply(at, scale(5), 'scaler', '&force=true');
    assert.equal(forced.status, 200, forced.text);
    const object = await get<Deployment>(`${deployments}/scaled`);
    assert.equal(object.spec.replicas, 5);
    assert.deepEqual(ownersOf(object)['scaler Apply scale'], { 'f:spec': { 'f:replicas': {} } });
    assert.equal(entriesOf(object).find(({ manager }) => manager === 'scaler')?.apiVersion, 'apps/v1');
    assert.doesNotMatch(JSON.stringify(ownersOf(object)['mine Apply']), /replicas/);
    const main = await apply(`${deployments}/scaled`, deployment('scaled', { replicas: 2 }));
    assert.match(
      main.json<Status>().message ?? '',
      /conflict with "scaler" with subresource "scale": \.spec\.replicas$/,
    );
    const shared = await apply(`${deployments}/scaled`, deployment('scaled', { replicas: 5 }));
    assert.equal(shared.status, 200, shared.text);
    const dropped = await apply(`${deployments}/scaled`, deployment('scaled'));
    assert.equal(dropped.json<Deployment>().spec.replicas, 5, 'the scaler has it still');
    for (const [body, status] of [
      [{ ...scale(5), kind: 'Deployment' }, 400],
      [{ ...scale(5), spec: { replicas: -1 } }, 422],
      [{ ...scale(5), spec: { wrong: 1 } }, 400],
    ] as const)
      assert.equal((await apply(at, body, 'scaler')).status, status);
    assert.equal((await apply(`${deployments}/absent/scale`, { ...scale(1), metadata: {} })).status, 404);
  });

  it('assigns fields that existed before the first apply to the manager before-first-apply', async () => {
    await server.call('POST', maps, map('before', { a: '1', b: '1' }, { managedFields: [] }));
    const reset = { metadata: { managedFields: [{}] } };
    const forgotten = await merge(`${maps}/before`, reset);
    assert.equal(forgotten.json().metadata.managedFields, undefined);
    const refused = await applyMap(map('before', { a: '2' }));
    assert.match(
      refused.json<Status>().message ?? '',
      /conflict with "before-first-apply" using v1: \.data\.a/,
    );
    const answer = await applyMap(map('before', { a: '1' }));
    assert.deepEqual(ownersOf(answer.json()), {
      'mine Apply': { 'f:data': { 'f:a': {} } },
      'before-first-apply Update': { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } },
    });
  });

  it('continues from the last configuration that kubectl applied, by the annotation', async () => {
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    const last = JSON.stringify(map('legacy', { a: '1', b: '1' }));
    const old = map('legacy', { a: '1', b: '1' }, { annotations: { [annotation]: last } });
    await server.call('POST', `${maps}?fieldManager=kubectl-client-side-apply`, old);
    const next = map('legacy', { a: '2', b: '<1>' });
    assert.equal((await applyMap(next, 'mine')).status, 409, 'another has no such history');
    const answer = await applyMap(next, 'kubectl');
    assert.equal(answer.status, 200, answer.text);
    const text = answer.json().metadata.annotations?.[annotation];
    assert.equal(
      text,
      '{"apiVersion":"v1","data":{"a":"2","b":"\\u003c1\\u003e"},"kind":"ConfigMap","metadata":{"name":"legacy"}}\n',
    );
    await merge(`${maps}/legacy`, { data: { a: 'changed' } });
    assert.equal((await applyMap(next, 'kubectl')).status, 409, 'it changed since');
  });

  it('is among the accepted types in the answer to another type', async () => {
    const answer = await server.call('PATCH', `${maps}/x`, 'a', { headers: { 'content-type': 'text/x' } });
    assert.equal(answer.status, 415);
    assert.match(answer.json<Status>().message ?? '', /application\/apply-patch\+yaml$/);
  });
});
