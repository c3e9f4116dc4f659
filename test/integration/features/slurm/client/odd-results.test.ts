/** Results that cannot be fetched, and wrong reports of a host about jobs: every job ends nevertheless. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { condition } from '../../../../fixtures/slurm/client.ts';
import { clientWorld } from '../../../../fixtures/slurm/client-world.ts';

describe('a result that cannot be fetched is left on the host, and other results are fetched', () => {
  it('a result whose name is not UTF-8', async (context) => {
    const { store, ends, model, folders } = await clientWorld(context);
    model('runs');
    const run = [`echo odd >"$(printf 'odd\\377')"`, 'echo good >good'];
    const uid = store.add('named', { run, results: ['*'] });
    assert.equal(await ends(uid), 'Succeeded');
    assert.equal(store.text(uid, 'good'), 'good\n');
    assert.equal(condition(store, uid, 'ResultsFetched')?.status, 'False');
    assert.deepEqual(
      store.status(uid)?.files?.map(({ path }) => path),
      ['good'],
    );
    assert.match(store.status(uid)?.droppedFiles?.[0]?.reason ?? '', /UTF-8/);
    assert.deepEqual(folders(), [`named-${uid}`]);
  });
  it('a result that the user may not read', async (context) => {
    const { store, ends, model, server } = await clientWorld(context);
    model('runs');
    server.unreadable = ['/closed'];
    const uid = store.add('closed', { run: ['echo x >closed', 'echo good >good'], results: ['*'] });
    assert.equal(await ends(uid), 'Succeeded');
    assert.equal(store.text(uid, 'good'), 'good\n');
    assert.deepEqual(
      store.status(uid)?.droppedFiles?.map(({ path, size, reason }) => [path, size, reason]),
      [['closed', 2, 'cannot be read: Permission denied']],
    );
  });
  it('output that the user may not read', async (context) => {
    const { store, ends, model, server } = await clientWorld(context);
    model('runs');
    server.unreadable = ['/stdout'];
    const uid = store.add('silent', { run: ['echo x', 'echo good >good'], results: ['good'] });
    assert.equal(await ends(uid), 'Succeeded');
    assert.equal(store.text(uid, 'good'), 'good\n');
  });
});
