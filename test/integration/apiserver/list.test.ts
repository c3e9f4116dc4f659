import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeList, KubeObject } from '../../../src/apimachinery/meta.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

interface Table {
  kind: string;
  apiVersion: string;
  metadata: { resourceVersion: string; continue?: string };
  columnDefinitions: { name: string; format: string; priority: number }[];
  rows: { cells: unknown[]; object?: KubeObject; conditions?: { type: string; reason: string }[] }[];
}

describe('list and get', () => {
  let server: TestServer;
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

  before(async () => {
    server = await startTestServer();
    for (const [index, name] of names.entries()) {
      const labels = { parity: index % 2 === 0 ? 'even' : 'odd' };
      await server.call('POST', configMaps, { metadata: { name, labels } });
    }
    await server.call('POST', '/api/v1/namespaces/kube-system/configmaps', { metadata: { name: 'other' } });
  });
  after(() => server.stop());

  const list = async (query: string, path = configMaps) => {
    const answer = await server.call('GET', `${path}${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json<KubeList>();
  };
  const namesOf = (found: KubeList) => found.items.map(({ metadata }) => metadata.name);

  it('return complete objects in key order', async () => {
    const made = await server.call('POST', configMaps, { metadata: { name: 'zz' } });
    const found = await list('');
    assert.equal(found.kind, 'ConfigMapList');
    assert.deepEqual(namesOf(found), [...names, 'zz']);
    assert.deepEqual(found.items.at(-1), made.json());
    assert.equal(found.metadata.resourceVersion, made.json().metadata.resourceVersion);
    await server.call('DELETE', `${configMaps}/zz`);
    assert.deepEqual(namesOf(await list('')), names);
    assert.deepEqual(namesOf(await list('', '/api/v1/configmaps')), [...names, 'other']);
  });

  it('select by labels and fields', async () => {
    assert.deepEqual(namesOf(await list('?labelSelector=parity%3Deven')), ['a', 'c', 'e', 'g']);
    assert.deepEqual(namesOf(await list('?labelSelector=parity%20notin%20(even)')), ['b', 'd', 'f']);
    assert.deepEqual(namesOf(await list('?fieldSelector=metadata.name%3Db')), ['b']);
    assert.deepEqual(namesOf(await list('?fieldSelector=metadata.name!%3Db,metadata.name!%3Dc')), [
      'a',
      'd',
      'e',
      'f',
      'g',
    ]);
    assert.deepEqual(namesOf(await list('?fieldSelector=metadata.name%3Db&labelSelector=parity%3Deven')), []);
    const across = '?fieldSelector=metadata.namespace%3Dkube-system';
    assert.deepEqual(namesOf(await list(across, '/api/v1/configmaps')), ['other']);
    assert.deepEqual(namesOf(await list('?fieldSelector=metadata.name%3Dother', '/api/v1/configmaps')), [
      'other',
    ]);
  });

  it('return pages of one snapshot, even with writes between the pages', async () => {
    const first = await list('?limit=3');
    assert.deepEqual(namesOf(first), ['a', 'b', 'c']);
    assert.equal(first.metadata.remainingItemCount, 4);
    await server.call('POST', configMaps, { metadata: { name: 'bb' } });
    await server.call('POST', configMaps, { metadata: { name: 'dd' } });
    await server.call('DELETE', `${configMaps}/e`);
    const second = await list(`?limit=3&continue=${first.metadata.continue}`);
    assert.deepEqual(namesOf(second), ['d', 'e', 'f']);
    assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
    assert.equal(second.metadata.remainingItemCount, 1);
    const third = await list(`?limit=3&continue=${second.metadata.continue}`);
    assert.deepEqual(namesOf(third), ['g']);
    assert.equal(third.metadata.continue, undefined);
    const also = `${configMaps}?limit=3&continue=${first.metadata.continue}&resourceVersion=`;
    const two = await server.call('GET', `${also}${first.metadata.resourceVersion}`);
    assert.equal(two.status, 400, two.text);
    assert.equal((await server.call('GET', `${also}0`)).status, 200);
    await server.call('POST', configMaps, { metadata: { name: 'e', labels: { parity: 'even' } } });
    for (const name of ['bb', 'dd']) await server.call('DELETE', `${configMaps}/${name}`);
  });

  it('return pages of the objects that a selector matches', async () => {
    const found: string[] = [];
    let token: string | undefined = '';
    do {
      const page: KubeList = await list(`?limit=1&labelSelector=parity%3Deven&continue=${token}`);
      assert.equal(page.metadata.remainingItemCount, undefined);
      found.push(...namesOf(page));
      token = page.metadata.continue;
    } while (token);
    assert.deepEqual(found, ['a', 'c', 'e', 'g']);
  });

  it('report compacted history, with a token that continues at the present', async () => {
    const own = await startTestServer();
    for (const name of names) await own.call('POST', configMaps, { metadata: { name } });
    const first = (await own.call('GET', `${configMaps}?limit=2`)).json<KubeList>();
    await own.call('POST', configMaps, { metadata: { name: 'cc' } });
    await own.store.compact(await own.store.currentRevision());
    const gone = await own.call('GET', `${configMaps}?limit=2&continue=${first.metadata.continue}`);
    assert.equal(gone.status, 410);
    const status = gone.json<Status & { metadata: { continue: string } }>();
    assert.equal(status.reason, 'Expired');
    const rest = (
      await own.call('GET', `${configMaps}?limit=9&continue=${status.metadata.continue}`)
    ).json<KubeList>();
    assert.deepEqual(namesOf(rest), ['c', 'cc', 'd', 'e', 'f', 'g']);
    const exact = `${configMaps}?resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`;
    assert.equal((await own.call('GET', exact)).status, 410);
    await own.stop();
  });

  it('read exactly a past version, or a version that is not older', async () => {
    const before = (await list('')).metadata.resourceVersion;
    await server.call('POST', configMaps, { metadata: { name: 'later' } });
    assert.deepEqual(namesOf(await list(`?resourceVersion=${before}&resourceVersionMatch=Exact`)), names);
    const newer = await list(`?resourceVersion=${before}&resourceVersionMatch=NotOlderThan`);
    assert.deepEqual(namesOf(newer), [...names, 'later']);
    assert.deepEqual(namesOf(await list('?resourceVersion=0&limit=2')), [...names, 'later']);
    await server.call('DELETE', `${configMaps}/later`);
  });

  it('reject a version from the future after a timeout', async () => {
    const request = server.call('GET', `${configMaps}?resourceVersion=999999`);
    while (server.clock.pending === 0) await server.clock.settle();
    await server.clock.advance(3000);
    const answer = await request;
    assert.equal(answer.status, 504);
    const { reason, details } = answer.json<Status>();
    assert.equal(reason, 'Timeout');
    assert.equal(details?.causes?.[0]?.reason, 'ResourceVersionTooLarge');
    assert.equal(answer.headers.get('retry-after'), '1');
  });

  for (const [query, code] of [
    ['resourceVersion=x', 400],
    ['labelSelector=a%20in%20(', 400],
    ['fieldSelector=data%3Dx', 400],
    ['limit=-1', 422],
    ['limit=many', 400],
    ['continue=%25%25', 400],
    ['continue=eyJydiI6LTF9', 400],
    ['resourceVersionMatch=Exact', 422],
    ['resourceVersion=0&resourceVersionMatch=Exact', 422],
    ['sendInitialEvents=true', 422],
  ] as const) {
    it(`reject ?${query}`, async () => {
      assert.equal((await server.call('GET', `${configMaps}?${query}`)).status, code);
    });
  }

  it('return one object at the requested version', async () => {
    const found = await server.call('GET', `${configMaps}/a`);
    assert.deepEqual((await server.call('GET', `${configMaps}/a?resourceVersion=0`)).json(), found.json());
    assert.equal((await server.call('GET', `${configMaps}/nope`)).status, 404);
    assert.equal((await server.call('GET', `${configMaps}/nope?resourceVersion=0`)).status, 404);
    assert.equal((await server.call('HEAD', `${configMaps}/a`)).status, 200);
  });

  it('return tables for kubectl', async () => {
    const headers = { accept: tableType };
    const table = (await server.call('GET', `${configMaps}?limit=2`, undefined, { headers })).json<Table>();
    assert.equal(table.kind, 'Table');
    assert.equal(table.apiVersion, 'meta.k8s.io/v1');
    assert.deepEqual(table.columnDefinitions[0]?.format, 'name');
    assert.equal(table.columnDefinitions.length, table.rows[0]?.cells.length);
    assert.equal(table.rows[0]?.object?.kind, 'PartialObjectMetadata');
    assert.equal(table.rows[0]?.object?.metadata.name, 'a');
    assert.ok(table.metadata.continue);
    const whole = `${configMaps}?includeObject=Object`;
    const objects = (await server.call('GET', whole, undefined, { headers })).json<Table>();
    assert.equal(objects.rows[0]?.object?.kind, 'ConfigMap');
    const none = (
      await server.call('GET', `${configMaps}/a?includeObject=None`, undefined, { headers })
    ).json<Table>();
    assert.equal(none.rows.length, 1);
    assert.equal(none.rows[0]?.object, undefined);
    assert.equal(
      (await server.call('GET', `${configMaps}?includeObject=All`, undefined, { headers })).status,
      400,
    );
  });

  it('mark completed pods in tables', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    const made = (await server.call('POST', pods, { metadata: { name: 'done' }, spec })).json();
    await server.call('PUT', `${pods}/done/status`, { ...made, status: { phase: 'Succeeded' } });
    const headers = { accept: tableType };
    const table = (await server.call('GET', pods, undefined, { headers })).json<Table>();
    assert.equal(table.rows[0]?.conditions?.[0]?.reason, 'Succeeded');
  });

  it('return metadata only, and reject unsupported formats', async () => {
    const ask = (accept: string, path = configMaps) =>
      server.call('GET', path, undefined, { headers: { accept } });
    const list = await ask('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1');
    assert.equal(list.json().kind, 'PartialObjectMetadataList');
    const whole = (await ask('application/json')).json<KubeList>();
    const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };
    assert.deepEqual(list.json<KubeList>(), {
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: whole.metadata,
      items: whole.items.map(({ metadata }) => ({ ...partial, metadata })),
    });
    const one = await ask('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', `${configMaps}/a`);
    assert.equal(one.json().kind, 'PartialObjectMetadata');
    assert.equal((await ask('text/html')).status, 406);
    assert.equal((await ask('application/vnd.kubernetes.protobuf,application/json')).status, 200);
    assert.equal((await ask('*/*')).status, 200);
  });

  it('return a large list completely, in pieces', async () => {
    const own = await startTestServer();
    const data = { text: 'x'.repeat(100_000) };
    for (let i = 0; i < 25; i++) {
      await own.call('POST', configMaps, { metadata: { name: `m${i}` }, data });
    }
    const found = (await own.call('GET', configMaps)).json<
      KubeList<KubeObject & { data: { text: string } }>
    >();
    assert.equal(found.items.length, 25);
    assert.ok(found.items.every((item) => item.data.text.length === 100_000));
    await own.stop();
  });
});
