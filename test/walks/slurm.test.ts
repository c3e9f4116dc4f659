/**
 * Faults at each step of a SlurmJob, and fifty jobs at once, on a real Slurm behind a real sshd. The run
 * takes five minutes.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { condition, ends, sees, startClient } from '../fixtures/slurm/client.ts';
import { type SlurmCluster, startSlurmCluster, unlessSlurm } from '../fixtures/slurm/cluster.ts';
import { MemoryStore } from '../fixtures/slurm/memory-store.ts';

describe('the Slurm client under faults', { skip: unlessSlurm, timeout: 400_000 }, () => {
  let cluster: SlurmCluster;
  before(async () => {
    cluster = await startSlurmCluster({ accounting: false, config: ['MaxJobCount=60'] });
  });
  after(() => cluster.stop());

  /** Returns the jobs of Slurm's controller for the SlurmJob: the answer has one line a job. */
  const known = async (uid: string) =>
    (await cluster.sh(`/usr/bin/squeue -h -a -t all -o '%k %T'`))
      .split('\n')
      .filter((line) => line.startsWith(`minik8s:${uid} `));

  it('does not send a password to a host with another key', async () => {
    const store = new MemoryStore();
    const uid = store.add('stranger', { run: ['echo hi'] });
    const knownHosts = cluster.settings.knownHosts.replace(/AAAA\S+$/, (key) => `${key.slice(0, -6)}AAAAAA`);
    await using client = startClient(store, { ...cluster.settings, knownHosts });
    await sees('its condition', () => condition(store, uid, 'Connected')?.reason === 'HostKeyUnknown');
    assert.match(condition(store, uid, 'Connected')?.message ?? '', /SHA256:/);
    client.connection.replace({ ...cluster.settings, privateKey: cluster.wrongKey });
    await sees('its condition', () => condition(store, uid, 'Connected')?.reason === 'AuthenticationFailed');
    client.connection.replace('the Secret has no key host');
    await sees('its condition', () => condition(store, uid, 'Connected')?.reason === 'InvalidSecret');
    client.connection.replace(cluster.settings);
    await ends(store, uid);
    assert.equal(store.phase(uid), 'Succeeded');
  });

  it('continues after the connection is cut at each step, and submits once', async () => {
    for (const phase of ['Uploading', 'Building', 'Submitted', 'Running', 'Fetching']) {
      const store = new MemoryStore();
      const spec = {
        build: ['sleep 1', 'echo built >>built'],
        // Long enough to be seen running.
        run: ['cat built', phase === 'Running' ? 'sleep 8' : 'sleep 1'],
        results: ['built'],
      };
      let isCut = false;
      store.onWrite = (_, status) => {
        if (status.phase !== phase) return;
        store.onWrite = () => undefined;
        isCut = true;
        cluster.cut();
        setTimeout(() => cluster.mend(), 300);
      };
      const uid = store.add(`cut-${phase.toLowerCase()}`, spec);
      await using _ = startClient(store, cluster.settings);
      await ends(store, uid);
      assert.ok(isCut, phase);
      assert.equal(store.phase(uid), 'Succeeded', `${phase}: ${JSON.stringify(store.status(uid))}`);
      assert.equal(store.text(uid, 'built'), 'built\n', phase);
      assert.equal((await known(uid)).length, 1, phase);
    }
  });

  it('continues after the client was killed at each step', async () => {
    for (const phase of ['Uploading', 'Building', 'Submitted', 'Running', 'Fetching', 'Succeeded']) {
      const store = new MemoryStore();
      const uid = store.add(`end-${phase.toLowerCase()}`, {
        build: ['echo built >>built'],
        // Long enough to be seen running.
        run: phase === 'Running' ? ['cat built', 'sleep 8'] : ['cat built'],
        results: ['built'],
      });
      let reached = false;
      // The host has done the step; the cluster does not receive the result.
      store.onWrite = (_, status) => {
        if (status.phase === phase) reached = true;
        if (reached) throw new Error('the cluster is away');
      };
      {
        await using _ = startClient(store, cluster.settings);
        await sees(phase, () => reached);
      }
      store.onWrite = () => undefined;
      await using _ = startClient(store, cluster.settings);
      await ends(store, uid);
      assert.equal((await known(uid)).length, 1, phase);
      assert.equal(store.phase(uid), 'Succeeded', `${phase}: ${JSON.stringify(store.status(uid))}`);
      assert.equal(store.text(uid, 'stdout'), 'built\n', phase);
    }
  });

  it('submits a job once although two clients have the same jobs', async () => {
    const store = new MemoryStore();
    const uids = Array.from({ length: 5 }, (_, index) => store.add(`two-${index}`, { run: ['sleep 1'] }));
    await using _one = startClient(store, cluster.settings);
    await using _two = startClient(store, cluster.settings);
    for (const uid of uids) await sees('submitted', async () => store.status(uid)?.jobID);
    for (const uid of uids) assert.equal((await known(uid)).length, 1);
  });

  it('finds the job by its comment when the answer of sbatch was lost', async () => {
    const store = new MemoryStore();
    const uid = store.add('lost', { run: ['sleep 2'] });
    let jobID: string | undefined;
    store.onWrite = (_, status) => {
      if (status.jobID === undefined) return;
      jobID = status.jobID;
      throw new Error('the cluster is away');
    };
    {
      await using _ = startClient(store, cluster.settings);
      await sees('submitted', () => jobID);
    }
    await cluster.sh('rm -f .minik8s/default/lost-*/.minik8s/job-id');
    store.onWrite = () => undefined;
    await using _ = startClient(store, cluster.settings);
    await ends(store, uid);
    assert.equal(store.status(uid)?.jobID, jobID);
    assert.equal((await known(uid)).length, 1);
  });

  it('cancels a job on deletion, on request and at the deadline, during the build and during the run', async () => {
    const store = new MemoryStore();
    const deleted = store.add('deleted', { run: ['sleep 1000'] });
    const told = store.add('told', { run: ['echo so far', 'sleep 1000'] });
    const late = store.add('late', { run: ['sleep 1000'], activeDeadlineSeconds: 8 });
    const building = store.add('building', {
      build: ['sleep 1000'],
      run: ['true'],
      activeDeadlineSeconds: 5,
    });
    await using _ = startClient(store, cluster.settings);
    await sees('both run', () => store.phase(deleted) === 'Running' && store.text(told, 'stdout'));
    store.change(deleted, { deleting: true });
    store.change(told, { spec: { ...store.get(told).spec, cancel: true } });
    await sees('released', () => !store.has(deleted));
    for (const uid of [told, late, building]) await ends(store, uid);
    assert.equal(store.phase(told), 'Canceled');
    assert.equal(store.text(told, 'stdout'), 'so far\n');
    assert.equal(condition(store, late, 'Failed')?.reason, 'DeadlineExceeded');
    assert.equal(condition(store, building, 'Failed')?.reason, 'DeadlineExceeded');
    assert.match((await known(deleted)).join(), /CANCELLED$/);
    assert.equal((await cluster.sh('pgrep -fx "sleep 1000" || true')).trim(), '');
    assert.doesNotMatch(await cluster.sh('ls .minik8s/default'), /deleted|told|late|building/);
  });

  it('leaves results that are too large on the host, with their path in the status', async () => {
    const store = new MemoryStore();
    const uid = store.add('large', {
      run: ['head -c 3000000 /dev/zero >big', 'echo small >small', 'head -c 5000000 /dev/zero | tr "\\0" x'],
      ...{ results: ['big', 'small'], resultsLimit: '1Mi' },
    });
    await using _ = startClient(store, cluster.settings);
    await ends(store, uid);
    const status = store.status(uid);
    assert.deepEqual(status?.files, [{ path: 'small', size: 6 }]);
    assert.equal(status?.droppedFiles?.[0]?.path, 'big');
    assert.equal(condition(store, uid, 'ResultsFetched')?.reason, 'ResultsTooLarge');
    assert.match(store.text(uid, 'stdout') ?? '', /^x+\n\[minik8s: 2902848 bytes left out\]\nx+$/);
    assert.equal((await cluster.sh(`stat -c %s '${status?.workDir}/big'`)).trim(), '3000000');
  });
});

describe('the Slurm client with many jobs', { skip: unlessSlurm, timeout: 300_000 }, () => {
  it('runs 50 jobs at once over one connection, with under 5 calls of sacct a minute', async () => {
    const cluster = await startSlurmCluster({ accounting: true });
    try {
      const store = new MemoryStore();
      const uids = Array.from({ length: 50 }, (_, index) =>
        store.add(`job-${index}`, { run: [`echo ${index}`, 'sleep 20'] }),
      );
      const began = performance.now();
      await using _ = startClient(store, cluster.settings);
      await sees('50 run at once', () => uids.every((uid) => store.phase(uid) === 'Running'));
      for (const uid of uids) await ends(store, uid);
      const minutes = (performance.now() - began) / 60_000;
      assert.deepEqual(
        uids.map((uid) => store.text(uid, 'stdout')),
        uids.map((_, index) => `${index}\n`),
      );
      assert.equal(cluster.connections(), 1);
      assert.ok((await cluster.calls('sacct')) <= 4 * Math.ceil(minutes));
      assert.equal(await cluster.calls('sbatch'), 50);
      console.log(
        `50 jobs in ${minutes.toFixed(1)} min: ${await cluster.calls('squeue')} squeue, ${await cluster.calls('sacct')} sacct`,
      );
    } finally {
      await cluster.stop();
    }
  });
});
