/** A server that has just started continues watches that began with the previous server. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KubeList } from '../../../src/apimachinery/meta.ts';
import { startTestServer } from '../../fixtures/api-server.ts';
import { openTestWatch, type WatchReader } from '../../fixtures/watch-reader.ts';

const maps = '/api/v1/namespaces/default/configmaps';

async function take(watch: WatchReader, count: number): Promise<string[]> {
  const lines: string[] = [];
  while (lines.length < count) {
    const line = await watch.next();
    if (!line) break;
    lines.push(`${line.type} ${line.object.metadata.name}`);
  }
  watch.abort();
  return lines;
}

it('a watch continues after a version of the previous server, also with selectors', async () => {
  const before = await startTestServer();
  const create = async (name: string, team: string) => {
    const made = await before.call('POST', maps, { metadata: { name, labels: { team } } });
    assert.equal(made.status, 201);
  };
  const move = async (name: string, team: string) => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const moved = await before.call(
      'PATCH',
      `${maps}/${name}`,
      { metadata: { labels: { team } } },
      { headers },
    );
    assert.equal(moved.status, 200);
  };
  await create('stays', 'red');
  await create('leaves', 'red');
  await create('comes', 'blue');
  const from = (await before.call('GET', maps)).json<KubeList>().metadata.resourceVersion;
  await move('leaves', 'blue');
  await move('comes', 'red');
  await create('other', 'blue');
  await before.call('DELETE', `${maps}/stays`);
  const server = await startTestServer({ wrapStore: () => before.store, bare: true });
  const path = `${maps}?watch=true&resourceVersion=${from}`;
  const red = await openTestWatch(server, `${path}&labelSelector=team%3Dred`);
  const all = await openTestWatch(server, path);
  await create('late', 'red');
  assert.deepEqual(await take(red, 4), ['DELETED leaves', 'ADDED comes', 'DELETED stays', 'ADDED late']);
  assert.deepEqual(await take(all, 5), [
    'MODIFIED leaves',
    'MODIFIED comes',
    'ADDED other',
    'DELETED stays',
    'ADDED late',
  ]);
  await server.stop();
  await before.stop();
});

it('a watch at a compacted version is rejected', async () => {
  const before = await startTestServer();
  const from = (await before.call('GET', maps)).json<KubeList>().metadata.resourceVersion;
  const made = await before.call('POST', maps, { metadata: { name: 'a' } });
  await before.store.compact(Number(made.json().metadata.resourceVersion));
  const server = await startTestServer({ wrapStore: () => before.store, bare: true });
  const watch = await openTestWatch(server, `${maps}?watch=true&resourceVersion=${from}`);
  const line = await watch.next();
  assert.equal(line?.type, 'ERROR');
  assert.equal(line.object.code, 410);
  await server.stop();
  await before.stop();
});
