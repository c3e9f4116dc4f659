/**
 * Steps that fail temporarily or permanently: the status has the reason, nothing is lost, and every job ends.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { condition } from '../../../../fixtures/slurm/client.ts';
import { clientWorld } from '../../../../fixtures/slurm/client-world.ts';

describe('a job', () => {
  it('with files that cannot be written reports which and why, and continues when they can be written', async (context) => {
    const { store, sees, ends, model, server, clock, lines } = await clientWorld(context);
    model('runs');
    server.unwritable = ['/data'];
    const uid = store.add('one', { run: ['cat data'] }, { data: 'text\n' });
    await sees('the fault is reported', () => condition(store, uid, 'Uploaded')?.reason === 'UploadFailed');
    const told = condition(store, uid, 'Uploaded');
    assert.equal(told?.status, 'False');
    assert.match(told.message, new RegExp(`cannot write /.*/one-${uid}/data: Permission denied`));
    const runs = server.runs;
    await clock.advance(60_000);
    assert.ok(server.runs - runs < 20, 'it is tried again with a growing pause');
    assert.deepEqual(lines('submitted'), []);
    server.unwritable = [];
    assert.equal(await ends(uid), 'Succeeded');
    assert.equal(condition(store, uid, 'Uploaded')?.status, 'True');
    assert.equal(store.text(uid, 'stdout'), 'text\n');
  });
  it('with output that the cluster rejects reports it, and finally has the whole output without a gap', async (context) => {
    const { store, sees, ends, model } = await clientWorld(context);
    model('runs');
    let refused = 0;
    store.onAppend = () => {
      refused++;
      throw new Error('exceeded quota: slurmfiles');
    };
    const uid = store.add('one', { run: ['head -c 1200000 /dev/zero | tr "\\0" x'], results: [] });
    await sees('the fault is reported', () => condition(store, uid, 'ResultsFetched')?.status === 'Unknown');
    assert.match(condition(store, uid, 'ResultsFetched')?.message ?? '', /exceeded quota/);
    await sees('it is tried again', () => refused > 3);
    // The first attempt to store each chunk fails from now on.
    const failed = new Set<string>();
    store.onAppend = (_, { path }, offset) => {
      if (failed.has(`${path} ${offset}`)) return;
      failed.add(`${path} ${offset}`);
      throw new Error('the cluster is away');
    };
    assert.equal(await ends(uid), 'Succeeded');
    assert.equal(store.text(uid, 'stdout')?.length, 1_200_000);
    assert.equal(condition(store, uid, 'ResultsFetched')?.status, 'True');
  });
  it('with a folder that cannot be removed ends all the same, and reports it', async (context) => {
    const { store, ends, model, folders } = await clientWorld(context);
    model('runs');
    model('held');
    const uid = store.add('one', { run: ['true'] });
    assert.equal(await ends(uid), 'Succeeded');
    assert.match(
      condition(store, uid, 'ResultsFetched')?.message ?? '',
      /could not be removed from the host: Device or resource busy/,
    );
    assert.equal(condition(store, uid, 'ResultsFetched')?.status, 'True');
    assert.deepEqual(folders(), [`one-${uid}`]);
  });
  it('that is deleted is released when Slurm has ended it, even if its folder cannot be removed', async (context) => {
    const { store, sees, model, lines } = await clientWorld(context);
    const uid = store.add('one', { run: ['true'] });
    await sees('it runs', () => store.phase(uid) === 'Running');
    model('held');
    store.change(uid, { deleting: true });
    await sees('it is released', () => !store.has(uid));
    assert.ok(lines('canceled').length > 0);
  });
  it('ends with its number and is submitted only once, although one write of its status is rejected', async (context) => {
    for (let at = 1; at <= 9; at++) {
      const { store, ends, model, lines, end } = await clientWorld(context);
      model('runs');
      let count = 0;
      store.onWrite = () => {
        if (++count === at) throw new Error('conflict');
      };
      const uid = store.add('one', { run: ['echo hello'] });
      assert.equal(await ends(uid), 'Succeeded', `write ${at}`);
      assert.equal(store.status(uid)?.jobID, '101', `write ${at}`);
      assert.equal(store.text(uid, 'stdout'), 'hello\n', `write ${at}`);
      assert.equal(lines('submitted').length, 1, `write ${at}`);
      const said = store.status(uid)?.conditions?.filter(({ status }) => status !== 'True');
      assert.deepEqual(said, [], `write ${at}: a step that was done is not told as failed`);
      await end();
    }
  });
});
