/** Bindings, evictions, and the deletion of the pods that a selector selects. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { Status } from '../../../../src/apimachinery/status-error.ts';
import { decodeObject, encodeObject } from '../../../../src/storage/codec.ts';
import { startTestServer, storedObject, type TestServer } from '../../../fixtures/api-server.ts';

const pods = '/api/v1/namespaces/default/pods';
let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.stop());

const make = async (name: string, spec: object = {}, metadata: object = {}) => {
  const body = {
    metadata: { name, ...metadata },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  };
  const answer = await server.call('POST', pods, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.json<Pod>();
};
const stored = async (name: string) =>
  (await storedObject(server, `/registry/pods/default/${name}`)) as Pod | undefined;

describe('a binding', () => {
  const bind = (body: object, query = '') => server.call('POST', `${pods}/p/binding${query}`, body);

  test('sets the node of the pod, and the time of the condition PodScheduled', async () => {
    await make('p');
    await server.clock.advance(1000);
    const answer = await bind({ target: { kind: 'Node', name: 'n1' } });
    const { kind, apiVersion, status, code } = answer.json<Status>();
    assert.deepEqual([answer.status, kind, apiVersion, status, code], [201, 'Status', 'v1', 'Success', 201]);
    const pod = await stored('p');
    assert.equal(pod?.spec.nodeName, 'n1');
    const at = '2026-01-01T00:00:01Z';
    assert.deepEqual(pod?.status?.conditions, [
      { type: 'PodScheduled', status: 'True', lastTransitionTime: at },
    ]);
    assert.equal(pod?.status?.phase, 'Pending');
  });

  test('changes no other fields', async () => {
    await make('p');
    const { tolerations, ...spec } = (await stored('p'))?.spec ?? assert.fail();
    assert.ok(tolerations?.length);
    // The pod is stored like one from before there were defaults.
    const key = '/registry/pods/default/p';
    const { value, revision } = (await server.store.get(key)) ?? assert.fail();
    const before = decodeObject(value, revision) as Pod;
    await server.store.update(key, encodeObject({ ...before, spec } as Pod), revision);
    assert.equal((await bind({ target: { name: 'n1' } })).status, 201);
    assert.deepEqual((await stored('p'))?.spec, { ...spec, nodeName: 'n1' });
  });

  test('keeps other conditions, and replaces the condition PodScheduled', async () => {
    await make('p');
    const condition = (type: string) => ({ type, status: 'False' });
    const patch = { status: { conditions: [condition('PodScheduled'), condition('Ready')] } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    await server.call('PATCH', `${pods}/p/status`, patch, { headers });
    assert.equal((await bind({ target: { name: 'n1' } })).status, 201);
    const conditions = (await stored('p'))?.status?.conditions ?? [];
    assert.deepEqual(
      conditions.map(({ type, status }) => `${type} ${status}`),
      ['Ready False', 'PodScheduled True'],
    );
  });

  test('adds its annotations to those of the pod', async () => {
    await make('p', {}, { annotations: { own: 'x', both: 'x' } });
    const annotations = { both: 'y', why: 'it fits' };
    const metadata = { name: 'p', annotations, labels: { a: 'b' }, finalizers: ['a/b'] };
    assert.equal((await bind({ metadata, target: { name: 'n1' } })).status, 201);
    const found = (await stored('p'))?.metadata;
    assert.deepEqual(found?.annotations, { own: 'x', both: 'y', why: 'it fits' });
    assert.deepEqual([found?.labels, found?.finalizers], [undefined, undefined]);
  });

  test('with the required uid is accepted', async () => {
    const { metadata } = await make('p');
    assert.equal((await bind({ metadata: { uid: metadata.uid }, target: { name: 'n1' } })).status, 201);
  });

  for (const [title, body, code, message] of [
    ['without a target', {}, 422, /target\.name: Required value/],
    ['to nothing', { target: { name: '' } }, 422, /target\.name: Required value/],
    [
      'to an object that is not a Node',
      { target: { kind: 'Pod', name: 'n1' } },
      422,
      /target\.kind: Unsupported value: "Pod"/,
    ],
    ['to a number', { target: { name: 1 } }, 400, /name must be a string/],
    ['to a list', { target: [] }, 400, /target must be an object/],
    ['of another pod', { metadata: { uid: 'x' }, target: { name: 'n1' } }, 409, /UID in precondition: x/],
    [
      'of another version',
      { metadata: { resourceVersion: '1' }, target: { name: 'n1' } },
      409,
      /has been modified/,
    ],
    [
      'of another name',
      { metadata: { name: 'q' }, target: { name: 'n1' } },
      400,
      /name in URL does not match/,
    ],
    [
      'with an annotation that is not a text',
      { metadata: { annotations: { a: 1 } }, target: { name: 'n1' } },
      400,
      /texts/,
    ],
    [
      'with an annotation with an invalid key',
      { metadata: { annotations: { 'a/b/c': '' } }, target: { name: 'n1' } },
      422,
      /metadata\.annotations/,
    ],
    ['of another kind', { kind: 'Pod', target: { name: 'n1' } }, 400, /must be a Binding/],
  ] as const)
    test(`${title} is refused`, async () => {
      await make('p');
      const answer = await bind(body);
      assert.equal(answer.status, code, answer.text);
      assert.match(answer.json<Status>().message ?? '', message);
      if (code === 422) assert.match(answer.json<Status>().message ?? '', /^(Binding|Pod) "p" is invalid: /);
      assert.equal((await stored('p'))?.spec.nodeName, undefined);
    });

  test('of a pod that has a node, has a scheduling gate or is deleted is rejected, and a dry run binds nothing', async () => {
    await make('p');
    assert.equal((await bind({ target: { name: 'n1' } }, '?dryRun=All')).status, 201);
    assert.equal((await stored('p'))?.spec.nodeName, undefined);
    await bind({ target: { name: 'n1' } });
    const again = await bind({ target: { name: 'n2' } });
    assert.equal(again.status, 409);
    const { message, details } = again.json<Status>();
    assert.match(message ?? '', /pods\/binding "p": pod p is already assigned to node "n1"$/);
    assert.deepEqual([details?.kind, details?.name], ['pods/binding', 'p']);
    await make('gated', { schedulingGates: [{ name: 'x' }] });
    const gated = await server.call('POST', `${pods}/gated/binding`, { target: { name: 'n1' } });
    assert.equal(gated.status, 409);
    assert.match(gated.text, /non-empty \.spec\.schedulingGates/);
    await make('going', {}, { finalizers: ['x/y'] });
    await server.call('DELETE', `${pods}/going`);
    const going = await server.call('POST', `${pods}/going/binding`, { target: { name: 'n1' } });
    assert.equal(going.status, 409);
    assert.match(going.text, /pod going is being deleted, cannot be assigned to a host/);
    assert.equal((await server.call('POST', `${pods}/none/binding`, { target: { name: 'n1' } })).status, 404);
  });
});

describe('an eviction', () => {
  const evict = (body: object, query = '') => server.call('POST', `${pods}/p/eviction${query}`, body);

  test('deletes the pod, as its options say', async () => {
    await make('p', { nodeName: 'n1' });
    const answer = await evict({ metadata: { name: 'p' }, deleteOptions: { gracePeriodSeconds: 7 } });
    const { kind, apiVersion, status, code } = answer.json<Status>();
    assert.deepEqual([answer.status, kind, apiVersion, status, code], [201, 'Status', 'v1', 'Success', 201]);
    assert.equal((await stored('p'))?.metadata.deletionGracePeriodSeconds, 7);
    await make('free');
    assert.equal((await server.call('POST', `${pods}/free/eviction`, {})).status, 201);
    assert.equal(await stored('free'), undefined);
  });

  for (const [title, body, query, code] of [
    ['of another pod', { metadata: { name: 'q' } }, '', 400],
    ['of another uid', { deleteOptions: { preconditions: { uid: 'x' } } }, '', 409],
    ['with invalid options', { deleteOptions: [] }, '', 400],
    ['of another kind', { kind: 'Binding' }, '', 400],
    ['in a dry run', {}, '?dryRun=All', 201],
    ['in a dry run of its options', { deleteOptions: { dryRun: ['All'] } }, '', 201],
  ] as const)
    test(`${title} deletes nothing`, async () => {
      await make('p');
      const answer = await evict(body, query);
      assert.equal(answer.status, code, answer.text);
      const { metadata } = (await stored('p')) ?? assert.fail('it is gone');
      assert.equal(metadata.deletionTimestamp, undefined);
    });

  test('is read in protobuf too, and refused in another form', async () => {
    await make('p');
    const as = (type: string) =>
      server.call('POST', `${pods}/p/eviction`, '{}', { headers: { 'content-type': type } });
    assert.equal((await as('application/vnd.kubernetes.protobuf')).status, 400);
    assert.equal((await as('text/html')).status, 415);
    assert.ok(await stored('p'));
  });
});

test('finalize is the only way to change the finalizers of a namespace, and changes nothing else', async () => {
  const path = '/api/v1/namespaces/gone';
  await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'gone', labels: { a: 'b' } } });
  const marked = (await server.call('DELETE', path)).json<KubeObject & { spec: { finalizers: string[] } }>();
  assert.deepEqual(marked.spec.finalizers, ['kubernetes']);
  const body = (metadata: object) => ({
    metadata: { name: 'gone', ...metadata },
    spec: { finalizers: ['x/y'] },
  });
  for (const wrong of [{ uid: 'x' }, { resourceVersion: '1' }])
    assert.equal((await server.call('PUT', `${path}/finalize`, body(wrong))).status, 409);
  const { uid, resourceVersion } = marked.metadata;
  const read = () => storedObject(server, '/registry/namespaces/gone') as Promise<typeof marked | undefined>;
  assert.equal((await server.call('PUT', `${path}/finalize?dryRun=All`, body({ uid }))).status, 200);
  assert.deepEqual((await read())?.spec.finalizers, ['kubernetes']);
  const kept = await server.call('PUT', `${path}/finalize`, body({ uid, resourceVersion }));
  assert.equal(kept.status, 200, kept.text);
  assert.deepEqual((await read())?.spec.finalizers, ['x/y']);
  assert.equal((await read())?.metadata.labels?.a, 'b');
  for (const finalizer of ['Not A Name', 'unqualified']) {
    const wrong = { metadata: { name: 'gone' }, spec: { finalizers: ['x/y', finalizer] } };
    const refused = await server.call('PUT', `${path}/finalize`, wrong);
    assert.deepEqual([refused.status, refused.json<Status>().details?.name], [422, 'gone'], refused.text);
    assert.equal(refused.json<Status>().details?.causes?.[0]?.field, 'spec.finalizers[1]');
  }
  assert.deepEqual((await read())?.spec.finalizers, ['x/y']);
  assert.equal((await server.call('PUT', `${path}/finalize`, { metadata: { name: 'gone' } })).status, 200);
  assert.equal(await read(), undefined);
});

test('a namespace that is not being deleted stays when its finalizers are removed', async () => {
  const path = '/api/v1/namespaces/kept';
  const { metadata } = (
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'kept' } })
  ).json();
  const answer = await server.call('PUT', `${path}/finalize`, { metadata: { name: 'kept' } });
  assert.deepEqual([answer.status, answer.json().spec], [200, {}]);
  const now = (await server.call('GET', path)).json();
  assert.deepEqual([now.spec, now.metadata.uid], [{}, metadata.uid]);
  await server.call('PUT', `${path}/finalize`, { metadata: { name: 'kept' } });
  assert.equal(
    (await server.call('GET', path)).json().metadata.resourceVersion,
    now.metadata.resourceVersion,
  );
  assert.notEqual(now.metadata.resourceVersion, metadata.resourceVersion);
});

describe('the deletion of a collection', () => {
  const names = async () => {
    const { items } = await server.store.list('/registry/pods/');
    return items.map((item) => item.key.slice('/registry/pods/default/'.length));
  };
  beforeEach(async () => {
    for (const [name, app] of [
      ['a', 'x'],
      ['b', 'y'],
      ['c', 'x'],
    ] as const)
      await make(name, {}, { labels: { app } });
  });

  for (const [query, left] of [
    ['?labelSelector=app%3Dx', ['b']],
    ['?labelSelector=app%3Dx&limit=1', ['b']],
    ['?labelSelector=app%3Dx&watch=true', ['b']],
    ['?fieldSelector=metadata.name%3Db', ['a', 'c']],
    ['?labelSelector=app%3Dz', ['a', 'b', 'c']],
    ['?labelSelector=app%3Dx&dryRun=All', ['a', 'b', 'c']],
    ['', []],
  ] as const)
    test(`with ${query || 'no selector'} leaves ${left.join(', ') || 'none'}`, async () => {
      const answer = await server.call('DELETE', `${pods}${query}`);
      assert.deepEqual(await names(), left);
      const { kind, apiVersion, metadata, items } = answer.json<KubeObject & { items: KubeObject[] }>();
      assert.deepEqual([answer.status, kind, apiVersion], [200, 'PodList', 'v1']);
      assert.match(metadata.resourceVersion ?? '', /^\d+$/);
      if (!query.includes('dryRun')) assert.equal(items.length, 3 - left.length);
    });

  test('stops at the first refused object', async () => {
    const answer = await server.call('DELETE', pods, { preconditions: { resourceVersion: '1' } });
    assert.equal(answer.status, 409);
    assert.deepEqual(await names(), ['a', 'b', 'c']);
    const other = await server.call('DELETE', pods, { preconditions: { uid: 'x' } });
    assert.deepEqual([other.status, await names()], [200, ['a', 'b', 'c']]);
  });
});
