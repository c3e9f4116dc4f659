import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { KubeList, KubeObject } from '../../../src/apimachinery/meta.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, storedObject, type TestServer } from '../../fixtures/api-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';

describe('delete', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const createMap = async (name: string, metadata = {}) =>
    (await server.call('POST', configMaps, { metadata: { name, ...metadata } })).json();
  const createPod = async (name: string, node?: string) => {
    const spec = { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 20 };
    const made = await server.call('POST', pods, { metadata: { name }, spec });
    assert.equal(made.status, 201, made.text);
    if (!node) return;
    const bound = await server.call('POST', `${pods}/${name}/binding`, {
      target: { kind: 'Node', name: node },
    });
    assert.equal(bound.status, 201, bound.text);
  };
  const stored = (name: string) => storedObject(server, `/registry/configmaps/default/${name}`);
  const storedPod = async (name: string) =>
    (await storedObject(server, `/registry/pods/default/${name}`)) as Pod | undefined;

  it('removes the object and answers with its uid', async () => {
    const made = await createMap('simple');
    const answer = await server.call('DELETE', `${configMaps}/simple`, { propagationPolicy: 'Background' });
    const { kind, status, details } = answer.json<Status>();
    assert.deepEqual(
      { kind, status, details },
      {
        kind: 'Status',
        status: 'Success',
        details: { name: 'simple', kind: 'configmaps', uid: made.metadata.uid },
      },
    );
    assert.equal(await stored('simple'), undefined);
    assert.equal((await server.call('DELETE', `${configMaps}/simple`)).status, 404);
  });

  it('marks an object with finalizers and removes it with the last of them', async () => {
    await createMap('held', { finalizers: ['example.com/a', 'example.com/b'] });
    const answer = await server.call('DELETE', `${configMaps}/held`);
    assert.equal(answer.json().metadata.deletionTimestamp, '2026-01-01T00:00:00Z');
    const again = await server.call('DELETE', `${configMaps}/held`);
    assert.equal(again.json().metadata.resourceVersion, answer.json().metadata.resourceVersion);
    const headers = { 'content-type': 'application/merge-patch+json' };
    const patch = (finalizers: string[]) =>
      server.call('PATCH', `${configMaps}/held`, { metadata: { finalizers } }, { headers });
    assert.equal((await patch(['example.com/a', 'example.com/new'])).status, 422);
    assert.equal((await patch(['example.com/a'])).status, 200);
    assert.ok(await stored('held'));
    assert.equal((await patch([])).status, 200);
    assert.equal(await stored('held'), undefined);
  });

  it('cannot be undone by a write without deletionTimestamp', async () => {
    await createMap('doomed', { finalizers: ['example.com/a'] });
    const marked = (await server.call('DELETE', `${configMaps}/doomed`)).json().metadata;
    const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...metadata } = marked;
    const put = await server.call('PUT', `${configMaps}/doomed`, { metadata, data: { a: 'b' } });
    assert.equal(put.status, 200, put.text);
    const patched = await server.call(
      'PATCH',
      `${configMaps}/doomed`,
      { metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: null } },
      { headers: { 'content-type': 'application/merge-patch+json' } },
    );
    assert.equal(patched.status, 200, patched.text);
    const now = (await stored('doomed'))?.metadata;
    assert.equal(now?.deletionTimestamp, marked.deletionTimestamp);
    assert.equal(now?.deletionGracePeriodSeconds, 0);
    await server.call('PUT', `${configMaps}/doomed`, {
      metadata: { ...metadata, resourceVersion: '', finalizers: [] },
    });
    assert.equal(await stored('doomed'), undefined);
  });

  it('leaves dependents to the garbage collector by finalizers', async () => {
    await createMap('orphans');
    const orphan = await server.call('DELETE', `${configMaps}/orphans?propagationPolicy=Orphan`);
    assert.deepEqual(orphan.json().metadata.finalizers, ['orphan']);
    const foreground = await server.call('DELETE', `${configMaps}/orphans`, {
      propagationPolicy: 'Foreground',
    });
    assert.deepEqual(foreground.json().metadata.finalizers, ['foregroundDeletion']);
    assert.equal(
      (await server.call('DELETE', `${configMaps}/orphans`, { propagationPolicy: 'Background' })).status,
      200,
    );
    assert.equal(await stored('orphans'), undefined);
  });

  it('answers with the deleted object, for kinds that return it', async () => {
    const path = '/api/v1/namespaces/default/serviceaccounts';
    const made = (await server.call('POST', path, { metadata: { name: 'robot' } })).json();
    const { resourceVersion: _, ...metadata } = made.metadata;
    const answer = (await server.call('DELETE', `${path}/robot`)).json();
    const { resourceVersion: __, ...last } = answer.metadata;
    assert.deepEqual(last, metadata, 'without deletionTimestamp');
  });

  it('reports a continuing deletion to a client with the older options', async () => {
    await createMap('waiting', { finalizers: ['example.com/a'] });
    const path = `${configMaps}/waiting`;
    assert.equal((await server.call('DELETE', path, { orphanDependents: false })).status, 202);
    assert.equal((await server.call('DELETE', path)).status, 200);
  });

  it('answers for a collection with the deleted objects', async () => {
    const labels = { set: 'all' };
    await createMap('one', { labels });
    await createMap('two', { labels, finalizers: ['example.com/a'] });
    const answer = await server.call('DELETE', `${configMaps}?labelSelector=set%3Dall`);
    const { items } = answer.json<{ items: { metadata: object }[] }>();
    assert.deepEqual(
      items.map(({ metadata }) => 'deletionTimestamp' in metadata),
      [false, false],
    );
    assert.equal(await stored('one'), undefined);
    assert.ok((await stored('two'))?.metadata.deletionTimestamp);
  });

  it('gives a running pod its grace period, shortens it and never lengthens it', async () => {
    await createPod('graceful', 'node-1');
    const first = await server.call('DELETE', `${pods}/graceful`);
    assert.equal(first.json().metadata.deletionTimestamp, '2026-01-01T00:00:20Z');
    assert.equal(first.json().metadata.deletionGracePeriodSeconds, 20);
    const longer = await server.call('DELETE', `${pods}/graceful?gracePeriodSeconds=60`);
    assert.equal(longer.json().metadata.deletionGracePeriodSeconds, 20);
    const shorter = await server.call('DELETE', `${pods}/graceful`, { gracePeriodSeconds: 5 });
    assert.equal(shorter.json().metadata.deletionTimestamp, '2026-01-01T00:00:05Z');
    const uid = shorter.json().metadata.uid;
    const wrong = await server.call('DELETE', `${pods}/graceful`, {
      gracePeriodSeconds: 0,
      preconditions: { uid: 'x' },
    });
    assert.equal(wrong.status, 409);
    assert.ok(await storedPod('graceful'));
    const last = await server.call('DELETE', `${pods}/graceful`, {
      gracePeriodSeconds: 0,
      preconditions: { uid },
    });
    assert.equal(last.json().kind, 'Pod');
    assert.equal(await storedPod('graceful'), undefined);
  });

  it('removes an unbound pod at once', async () => {
    await createPod('pending');
    assert.equal((await server.call('DELETE', `${pods}/pending`)).json().kind, 'Pod');
    assert.equal(await storedPod('pending'), undefined);
  });

  it('binds a pod once and sets PodScheduled', async () => {
    await createPod('bound', 'node-1');
    const pod = await storedPod('bound');
    assert.equal(pod?.spec.nodeName, 'node-1');
    assert.equal(pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.status, 'True');
    const bind = (body: unknown) => server.call('POST', `${pods}/bound/binding`, body);
    assert.equal((await bind({ target: { name: 'node-2' } })).status, 409);
    assert.equal((await bind({ target: {} })).status, 422);
    assert.equal((await bind({ target: { kind: 'Pod', name: 'x' } })).status, 422);
    assert.equal((await bind('nonsense')).status, 400);
    assert.equal((await storedPod('bound'))?.spec.nodeName, 'node-1');
  });

  it('binds no pod that is being deleted', async () => {
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    const metadata = { name: 'leaving', finalizers: ['example.com/a'] };
    assert.equal((await server.call('POST', pods, { metadata, spec })).status, 201);
    const marked = await server.call('DELETE', `${pods}/leaving`);
    assert.ok(marked.json().metadata.deletionTimestamp, marked.text);
    const answer = await server.call('POST', `${pods}/leaving/binding`, { target: { name: 'node-1' } });
    assert.equal(answer.status, 409, answer.text);
    assert.match(answer.text, /pod leaving is being deleted, cannot be assigned to a host/);
    assert.equal((await storedPod('leaving'))?.spec.nodeName, undefined);
  });

  it('evicts a pod by its subresource eviction', async () => {
    await createPod('evicted', 'node-1');
    const evict = (name: string, body: unknown) => server.call('POST', `${pods}/${name}/eviction`, body);
    assert.equal((await evict('evicted', { metadata: { name: 'other' } })).status, 400);
    const answer = await evict('evicted', {
      metadata: { name: 'evicted' },
      deleteOptions: { gracePeriodSeconds: 3 },
    });
    assert.equal(answer.status, 201, answer.text);
    assert.equal((await storedPod('evicted'))?.metadata.deletionGracePeriodSeconds, 3);
    assert.equal((await evict('nobody', {})).status, 404);
  });

  it('gives an evicted pod the condition DisruptionTarget, and checks the version in the eviction', async () => {
    const evict = (name: string, deleteOptions: object) =>
      server.call('POST', `${pods}/${name}/eviction`, { metadata: { name }, deleteOptions });
    const disruption = async (name: string) =>
      (await storedPod(name))?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    await createPod('moved', 'node-1');
    const before = (await storedPod('moved'))?.metadata;
    assert.equal((await evict('moved', { dryRun: ['All'] })).status, 201);
    assert.equal((await evict('moved', { preconditions: { resourceVersion: '1' } })).status, 409);
    assert.equal((await evict('moved', { preconditions: { uid: 'another' } })).status, 409);
    assert.deepEqual((await storedPod('moved'))?.metadata, before);
    assert.equal(await disruption('moved'), undefined);
    const { uid, resourceVersion } = before ?? {};
    assert.equal((await evict('moved', { preconditions: { uid, resourceVersion } })).status, 201);
    const { status, reason, message } = (await disruption('moved')) ?? {};
    assert.deepEqual([status, reason, message], ['True', 'EvictionByEvictionAPI', 'Eviction API: evicting']);
    assert.ok((await storedPod('moved'))?.metadata.deletionTimestamp);
  });

  it('removes a finalizer of a namespace only through finalize', async () => {
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'old' } });
    const marked = (await server.call('DELETE', '/api/v1/namespaces/old')).json();
    const emptied = { ...marked, spec: { finalizers: [] } };
    await server.call('PUT', '/api/v1/namespaces/old', emptied);
    assert.ok(await storedObject(server, '/registry/namespaces/old'));
    const fresh = (await server.call('GET', '/api/v1/namespaces/old')).json();
    const done = await server.call('PUT', '/api/v1/namespaces/old/finalize', {
      ...fresh,
      spec: { finalizers: [] },
    });
    assert.equal(done.status, 200, done.text);
    assert.equal(await storedObject(server, '/registry/namespaces/old'), undefined);
    assert.equal((await server.call('DELETE', '/api/v1/namespaces/default')).status, 403);
  });

  it('rejects invalid options', async () => {
    await createMap('options');
    const path = `${configMaps}/options`;
    for (const [query, body, code] of [
      ['?propagationPolicy=Sideways', undefined, 422],
      ['?gracePeriodSeconds=soon', undefined, 422],
      ['?propagationPolicy=Orphan&orphanDependents=true', undefined, 422],
      ['?dryRun=Some', undefined, 422],
      ['', { preconditions: 'x' }, 400],
      ['', { kind: 'Pod' }, 400],
      ['', '[]', 400],
      ['', { preconditions: { resourceVersion: '1' } }, 409],
      ['', { preconditions: { resourceVersion: '0' } }, 409],
      ['', { preconditions: { resourceVersion: '' } }, 409],
      ['', { preconditions: { uid: '' } }, 409],
      ['?dryRun=All', undefined, 200],
      ['', { dryRun: ['All'] }, 200],
    ] as const) {
      const answer = await server.call('DELETE', `${path}${query}`, body);
      assert.equal(answer.status, code, `${query} ${JSON.stringify(body)}: ${answer.text}`);
    }
    assert.ok(await stored('options'));
  });

  it('deletes the objects of a collection that the selectors match', async () => {
    for (const [name, tier] of [
      ['c1', 'a'],
      ['c2', 'b'],
      ['c3', 'a'],
    ] as const) {
      await createMap(name, { labels: { tier } });
    }
    const answer = await server.call('DELETE', `${configMaps}?labelSelector=tier%3Da`);
    assert.deepEqual(
      answer.json<KubeList<KubeObject>>().items.map(({ metadata }) => metadata.name),
      ['c1', 'c3'],
    );
    assert.equal(await stored('c1'), undefined);
    assert.ok(await stored('c2'));
  });

  it('limits the grace period to the longest possible one', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    for (const [name, grace, query] of [
      ['long-asked', 30, `?gracePeriodSeconds=${Number.MAX_SAFE_INTEGER}`],
      ['long-wanted', 1e12, ''],
    ] as const) {
      const spec = {
        nodeName: 'n',
        terminationGracePeriodSeconds: grace,
        containers: [{ name: 'c', image: 'i' }],
      };
      assert.equal((await server.call('POST', pods, { metadata: { name }, spec })).status, 201);
      const answer = await server.call('DELETE', `${pods}/${name}${query}`);
      assert.equal(answer.status, 200, answer.text);
      const { deletionTimestamp, deletionGracePeriodSeconds } = answer.json().metadata;
      assert.equal(deletionGracePeriodSeconds, 2 ** 31 - 1);
      assert.match(deletionTimestamp ?? '', /^20\d\d-/);
    }
  });
});
