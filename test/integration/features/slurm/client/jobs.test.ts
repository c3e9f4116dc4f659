/** Jobs on a real Slurm behind a real sshd. `npm run walk:slurm` covers more. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import { eventually } from '../../../../fixtures/eventually.ts';
import { condition, ends, startClient } from '../../../../fixtures/slurm/client.ts';
import {
  clusterPassword,
  type SlurmCluster,
  startSlurmCluster,
  unlessSlurm,
} from '../../../../fixtures/slurm/cluster.ts';
import { MemoryStore } from '../../../../fixtures/slurm/memory-store.ts';

describe('jobs on Slurm', { skip: unlessSlurm, timeout: 300_000 }, () => {
  let cluster: SlurmCluster;
  before(async () => {
    cluster = await startSlurmCluster({ accounting: true });
  });
  after(() => cluster.stop());

  const submissions = async (uid: string) =>
    Number(
      await cluster.sh(
        `/usr/bin/sacct -n -P -X -a -S now-1days -o JobID,Comment | grep -c 'minik8s:${uid}' || true`,
      ),
    );

  it('are built, run and fetched with the fields of the spec, and cleaned up', async () => {
    const store = new MemoryStore();
    const uid = store.add(
      'hello',
      {
        build: ['sed s/x/world/ greeting.in >greeting'],
        run: [
          'cat greeting',
          'echo "$WHO" >&2',
          'mkdir out',
          'echo "$SLURM_CPUS_PER_TASK $SLURM_JOB_NAME $CUDA_VISIBLE_DEVICES" >out/a.csv',
          ': >out/empty.csv',
        ],
        ...{
          cpusPerTask: 3,
          gpus: 1,
          time: 90,
          memory: '64Mi',
          environment: { WHO: "it's $me; `x`" },
          results: ['out/*.csv'],
        },
      },
      { 'greeting.in': 'hello x\n', 'src/deep/other file': 'x' },
    );
    await using _ = startClient(store, cluster.settings);
    await ends(store, uid);
    const status = store.status(uid);
    assert.equal(status?.phase, 'Succeeded', JSON.stringify(status));
    assert.equal(status.state, 'COMPLETED');
    assert.equal(status.exitCode, 0);
    assert.equal(store.text(uid, 'stdout'), 'hello world\n');
    assert.equal(store.text(uid, 'stderr'), "it's $me; `x`\n");
    assert.equal(store.text(uid, 'out/a.csv'), '3 hello 0\n');
    assert.deepEqual(
      status.files?.map(({ path }) => path),
      ['out/empty.csv', 'out/a.csv'],
    );
    assert.deepEqual(
      status.conditions?.filter(({ status: is }) => is !== 'True'),
      [],
    );
    assert.equal(await cluster.sh('ls .minik8s/default'), '', 'the work folder is gone');
    // A job is in the accounting later than in the controller.
    await eventually(systemClock, 'the job is accounted for', async () => (await submissions(uid)) > 0);
    assert.equal(await submissions(uid), 1);
  });

  it('can have a password, a script with directives, and an array', async () => {
    const store = new MemoryStore();
    const { privateKey: _key, ...settings } = cluster.settings;
    const script =
      '#!/bin/sh\n#SBATCH --time=5\n#SBATCH -J named\necho "task $SLURM_ARRAY_TASK_ID"\nexit $SLURM_ARRAY_TASK_ID\n';
    const uid = store.add('tasks', { scriptFile: 'job.slurm', array: '0-2' }, { 'job.slurm': script });
    await using _ = startClient(store, { ...settings, password: clusterPassword });
    await ends(store, uid);
    assert.equal(store.phase(uid), 'Failed');
    assert.deepEqual(store.status(uid)?.arrayTasks, { COMPLETED: 1, FAILED: 2 });
    assert.equal(store.status(uid)?.exitCode, 2);
    assert.equal(store.text(uid, 'stdout-2'), 'task 2\n');
  });

  it('report why a job cannot be built, is refused, or has failed', async () => {
    const store = new MemoryStore();
    const uids = [
      store.add('build', { build: ['echo no such compiler; exit 4'], run: ['true'] }),
      store.add('refused', { run: ['true'], partition: 'nope' }),
      store.add('fails', { run: ['echo a; exit 7'] }),
      store.add('invalid', { run: ['true'], arguments: ['--wait'] }),
    ];
    await using _ = startClient(store, cluster.settings);
    for (const uid of uids) await ends(store, uid);
    const said = uids.map((uid) => condition(store, uid, 'Failed'));
    assert.deepEqual(
      said.map((each) => each?.reason),
      ['BuildFailed', 'SubmitRefused', 'FAILED', 'InvalidSpec'],
    );
    assert.match(said[0]?.message ?? '', /status 4: no such compiler/);
    assert.match(said[1]?.message ?? '', /nope/);
    assert.equal(store.status(uids[2] ?? '')?.exitCode, 7);
    assert.equal(store.text(uids[0] ?? '', 'build.log'), 'no such compiler\n');
  });
});
