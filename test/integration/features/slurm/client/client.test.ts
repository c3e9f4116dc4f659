/**
 * A complete client of SlurmJobs (test/fixtures/slurm/client-world.ts). For a real Slurm see jobs.test.ts and
 * `npm run walk:slurm`.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { condition } from '../../../../fixtures/slurm/client.ts';
import { clientWorld as world } from '../../../../fixtures/slurm/client-world.ts';

describe('a job', () => {
  it('is built and run, its results are fetched completely, and its folder is removed', async (context) => {
    const { store, ends, model, folders, lines } = await world(context);
    model('runs');
    const run = ['cat made', 'echo error >&2', 'head -c 1300000 /dev/zero | tr "\\0" x >large', ': >empty'];
    const uid = store.add(
      'one',
      { build: ['cat source >made'], run, results: ['large', 'empty'] },
      { source: 'text\n' },
    );
    assert.equal(await ends(uid), 'Succeeded', JSON.stringify(store.status(uid)));
    assert.deepEqual([store.text(uid, 'stdout'), store.text(uid, 'stderr')], ['text\n', 'error\n']);
    assert.equal(store.text(uid, 'large'), 'x'.repeat(1_300_000));
    assert.deepEqual(
      store.status(uid)?.files?.map(({ path, size }) => [path, size]),
      [
        ['empty', 0],
        ['large', 1_300_000],
      ],
    );
    assert.deepEqual([folders(), lines('submitted').length], [[], 1]);
    const history = (store.history.get(uid) ?? []).map((status) => JSON.stringify(status));
    assert.ok(!history.some((status, index) => status === history[index - 1]), 'nothing is written twice');
  });
  it('with too large results leaves them in its folder', async (context) => {
    const { store, ends, model, folders } = await world(context);
    model('runs');
    const uid = store.add('large', {
      run: ['head -c 5000 /dev/zero >large'],
      results: ['large'],
      resultsLimit: '1Ki',
    });
    assert.equal(await ends(uid), 'Succeeded');
    assert.equal(condition(store, uid, 'ResultsFetched')?.reason, 'ResultsTooLarge');
    assert.deepEqual(folders(), [`large-${uid}`]);
  });
  it('that Slurm has lost fails, and its output is stored all the same', async (context) => {
    const { store, sees, ends, model, home } = await world(context);
    const uid = store.add('lost', { run: ['true'], results: ['part'] });
    await sees('it runs', () => store.phase(uid) === 'Running');
    writeFileSync(join(home, `.minik8s/default/lost-${uid}/.minik8s/stdout`), 'so far\n');
    writeFileSync(join(home, `.minik8s/default/lost-${uid}/part`), 'a part\n');
    model('queue', '');
    assert.equal(await ends(uid), 'Failed');
    assert.equal(condition(store, uid, 'Failed')?.reason, 'JobLost');
    assert.deepEqual([store.text(uid, 'stdout'), store.text(uid, 'part')], ['so far\n', 'a part\n']);
  });
  it("without its folder reports it, and ends with Slurm's state", async (context) => {
    const { store, sees, ends, lines, model, home } = await world(context);
    const uid = store.add('bare', { run: ['true'] });
    await sees('it runs', () => store.phase(uid) === 'Running');
    rmSync(join(home, '.minik8s'), { recursive: true });
    model('queue', lines('queue').join('\n').replace('RUNNING', 'COMPLETED\n'));
    assert.equal(await ends(uid), 'Succeeded');
    assert.equal(condition(store, uid, 'ResultsFetched')?.reason, 'WorkFolderGone');
  });
  it('with an array has the highest exit status of its tasks, which end during the query of the queue', async (context) => {
    const { store, sees, ends, model, home } = await world(context);
    const uid = store.add('tasks', { run: ['true'], array: '0-1' });
    await sees('it is submitted', () => store.status(uid)?.jobID !== undefined);
    model(
      'asked',
      `touch ${home}/.minik8s/default/tasks-${uid}/.minik8s/exited.0.0 ${home}/.minik8s/default/tasks-${uid}/.minik8s/exited.1.2
printf '%s\\n' 'x 101_0 COMPLETED' 'x 101_1 FAILED' >"$MODEL/queue"\n`,
    );
    assert.equal(await ends(uid), 'Failed');
    assert.equal(store.status(uid)?.exitCode, 2);
    assert.match(condition(store, uid, 'Failed')?.message ?? '', /exit status 2/);
  });
  it('that is deleted is canceled, and is released only when Slurm has ended it', async (context) => {
    const { store, sees, model, lines, clock, folders } = await world(context);
    const uid = store.add('deleted', { run: ['true'] });
    await sees('it runs', () => store.phase(uid) === 'Running');
    model('stubborn');
    store.change(uid, { deleting: true });
    await sees('it is canceled', () => lines('canceled').length > 1);
    await clock.advance(1000);
    assert.ok(store.has(uid));
    model('queue', lines('queue').join('\n').replace('RUNNING', 'CANCELLED\n'));
    await sees('it is released', () => !store.has(uid));
    assert.deepEqual(folders(), []);
  });
  it('that is canceled while it runs ends as canceled', async (context) => {
    const { store, sees, ends, lines } = await world(context);
    const uid = store.add('canceled', { run: ['true'] });
    await sees('it runs', () => store.phase(uid) === 'Running');
    store.change(uid, { spec: { ...store.get(uid).spec, cancel: true } });
    assert.equal(await ends(uid), 'Canceled');
    assert.ok(lines('canceled').length > 0);
  });
  it('that reaches its deadline during the build ends with the build', async (context) => {
    const { store, ends, lines, home } = await world(context);
    const build = ['echo $$ >pid', 'tail -f /dev/null'];
    const uid = store.add('late', { build, run: ['true'], activeDeadlineSeconds: 60, keepFiles: true });
    assert.equal(await ends(uid), 'Failed');
    assert.equal(condition(store, uid, 'Failed')?.reason, 'DeadlineExceeded');
    assert.deepEqual(lines('submitted'), []);
    const pid = readFileSync(join(home, `.minik8s/default/late-${uid}/pid`), 'utf8').trim();
    assert.ok(!existsSync(`/proc/${pid}/cwd`), 'nothing of it runs any more');
  });
});

describe('a client', () => {
  it('continues while the cluster accepts no writes, and pauses between its attempts', async (context) => {
    const { store, clock, ends, model, lines, sees } = await world(context);
    model('runs');
    let refusals = 0;
    let isAway = true;
    store.onWrite = () => {
      if (!isAway) return;
      refusals++;
      throw new Error('the cluster is away');
    };
    const uid = store.add('one', { run: ['echo hello'] });
    const since = clock.now();
    await sees('minutes pass', () => clock.now() - since > 100_000);
    assert.ok(refusals > 4 && refusals < 30, `${refusals}`);
    assert.deepEqual(lines('submitted'), []);
    isAway = false;
    assert.equal(await ends(uid), 'Succeeded');
    assert.equal(lines('submitted').length, 1);
  });
  it('that takes over continues the running jobs, and keeps their earlier conditions', async (context) => {
    const { store, sees, ends, start, end, lines, model } = await world(context);
    const uid = store.add('one', { run: ['true'] });
    await sees('it runs', () => store.phase(uid) === 'Running');
    const before = store.status(uid);
    await end();
    const count = store.history.get(uid)?.length;
    model('queue', lines('queue').join('\n').replace('RUNNING', 'FAILED\n'));
    start();
    assert.equal(await ends(uid), 'Failed');
    assert.equal(store.status(uid)?.acceptedTime, before?.acceptedTime);
    assert.ok((store.history.get(uid)?.length ?? 0) > (count ?? 0));
    assert.equal(lines('submitted').length, 1);
  });
  it('reports the state of the host in each job, also in a new one, but not in a job that has ended', async (context) => {
    const { store, sees, server, ends } = await world(context);
    const over = store.add('over', { run: ['true'], cancel: true });
    assert.equal(await ends(over), 'Canceled');
    const count = store.history.get(over)?.length;
    const one = store.add('one', { run: ['true'] });
    const says = (uid: string, status: string, reason: string) =>
      sees(`${store.get(uid).name} says ${reason}`, () => {
        const told = condition(store, uid, 'Connected');
        return told?.status === status && told.reason === reason;
      });
    await says(one, 'True', 'Connected');
    const { port } = server.settings;
    await server.stop();
    await says(one, 'False', 'HostAway');
    const late = store.add('late', { run: ['true'] });
    await says(late, 'False', 'HostAway');
    assert.match(condition(store, late, 'Connected')?.message ?? '', new RegExp(`127.0.0.1 port ${port}`));
    assert.equal(store.history.get(over)?.length, count);
  });
});
