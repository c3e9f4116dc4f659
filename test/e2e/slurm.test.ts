/**
 * SlurmJobs of the built file on a real Slurm: they run, are submitted once although processes are
 * killed, and are canceled with their object.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { commandsOf } from '../fixtures/sample-readme.ts';
import { startSlurmCluster, unlessSlurm } from '../fixtures/slurm/cluster.ts';
import { Cluster } from './harness/cluster.ts';
import { firstCause } from './harness/first-cause.ts';
import { Host } from './harness/host.ts';
import { carryOut, root } from './harness/readme-commands.ts';
import { waitFor } from './harness/wait-for.ts';

interface Job {
  readonly metadata: { readonly uid: string };
  readonly status?: { readonly phase?: string; readonly jobID?: string };
}

test('SlurmJobs run on a real Slurm', { skip: unlessSlurm }, async (context) => {
  const host = await Host.start(context, { images: [] });
  const slurm = await startSlurmCluster({ accounting: false, listen: host.gateway });
  host.after(slurm.stop);
  const cluster = await Cluster.start(context, { host });
  const { kubectl } = cluster;
  const ctl = (...args: string[]) => cluster.run('ctl', '--kubeconfig', cluster.kubeconfig, ...args);
  const at = (name: string) => join(host.directory, name);
  const apply = async (manifest: object) => {
    await writeFile(at('manifest.json'), JSON.stringify(manifest), { mode: 0o600 });
    await kubectl('apply', '-f', at('manifest.json'));
  };
  const submit = (name: string, spec: object) =>
    apply({
      ...{ apiVersion: 'minik8s.io/v1', kind: 'SlurmJob', metadata: { name } },
      spec: { connection: { secretName: 'login' }, ...spec },
    });
  const job = (name: string) => kubectl.json<Job>('get', 'slurmjob', name);
  const comesTo = (name: string, ...phases: string[]) =>
    waitFor(
      `${name} to be ${phases.join(' or ')}`,
      async () => {
        const found = await job(name);
        return phases.includes(found.status?.phase ?? '') && found;
      },
      { timeoutMs: 120_000 },
    );
  /** Returns the number of jobs in any state that Slurm has for the SlurmJob. */
  const submissions = async ({ metadata }: Job) => {
    const all = await slurm.sh('/usr/bin/squeue -h -t all -o "%i %k"');
    return all.split('\n').flatMap((line) => (line.endsWith(`minik8s:${metadata.uid}`) ? [line] : [])).length;
  };
  const stateOf = (id: string) =>
    slurm.sh(`/usr/bin/scontrol -o show job ${id}`).then((text) => /JobState=(\S+)/.exec(text)?.[1]);

  const { host: address, port, user, privateKey = '', knownHosts } = slurm.settings;
  const stringData = { host: address, port: String(port), user, privateKey, knownHosts };
  await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'login' }, stringData });

  await context.test('a SlurmJob runs, and its results are fetched', async () => {
    await submit('greeting', {
      files: [{ path: 'greeting.in', content: 'hello x\n' }],
      build: ['sed s/x/world/ greeting.in >greeting'],
      run: ['cat greeting', 'mkdir out', 'echo 1,2 >out/a.csv'],
      results: ['out/*.csv'],
    });
    const done = await comesTo('greeting', 'Succeeded', 'Failed');
    assert.equal(done.status?.phase, 'Succeeded', JSON.stringify(done.status));
    assert.equal(await submissions(done), 1);
    assert.equal(await ctl('logs', 'slurmjob/greeting'), 'hello world\n');
    assert.equal(await ctl('slurm', 'results', 'greeting', '-o', at('results')), 'out/a.csv\n');
    assert.equal(await readFile(join(at('results'), 'out/a.csv'), 'utf8'), '1,2\n');
  });

  const place = {
    host,
    env: {
      KUBECONFIG: cluster.kubeconfig,
      ...{ SLURM_HOST: address, SLURM_PORT: String(port), SLURM_USER: user, SLURM_KEY: at('key') },
    },
  };
  await writeFile(at('key'), privateKey, { mode: 0o600 });
  // The guide comes first: it creates the Secret that the samples name.
  for (const document of ['docs/gpu.md', 'samples/slurm-hello/README.md', 'samples/slurm-matrix/README.md'])
    await context.test(document, async () => {
      await carryOut(place, commandsOf(await readFile(join(root, document), 'utf8')));
    });

  await context.test('a job continues when the master is killed, and is submitted once', async () => {
    await submit('slow', { run: ['until [ -e "$HOME/go" ]; do sleep 0.2; done', 'echo went'] });
    await comesTo('slow', 'Running');
    await cluster.end('SIGKILL');
    await slurm.sh('touch "$HOME/go"');
    await cluster.up();
    assert.equal(await ctl('logs', '-f', 'slurmjob/slow'), 'went\n');
    const done = await comesTo('slow', 'Succeeded');
    assert.equal(await submissions(done), 1);
  });

  await context.test(
    'ctl why names what Slurm rejects and what a job waits for, and its advice mends the job',
    async () => {
      const wrong = { run: ['true'], partition: 'nothing-like-it' };
      await submit('picky', wrong);
      await comesTo('picky', 'Failed');
      const cause = await firstCause(ctl, 'slurmjob/picky');
      assert.equal(cause?.rule, 'slurm-refused');
      assert.match(cause.says, /partition/i);
      await ctl(...(cause.commands[0] ?? '').split(' '));
      const hour = { run: ['true'], arguments: ['--begin=now+1hour'] };
      await submit('picky', hour);
      const waits = await waitFor('ctl why to name the reason of Slurm', async () => {
        const found = await firstCause(ctl, 'slurmjob/picky');
        return found?.rule === 'slurm-waiting' && /its time to begin has not come/.test(found.says) && found;
      });
      assert.deepEqual(waits.commands, []);
      const { status } = await job('picky');
      await slurm.sh(`/usr/bin/scontrol update job=${status?.jobID} StartTime=now`);
      await comesTo('picky', 'Succeeded');
      assert.equal(await firstCause(ctl, 'slurmjob/picky'), undefined);
    },
  );

  await context.test('a deleted SlurmJob is canceled in Slurm', async () => {
    await submit('endless', { run: ['sleep 3600'] });
    const { status } = await comesTo('endless', 'Running');
    const id = status?.jobID ?? '';
    await kubectl('delete', 'slurmjob', 'endless');
    assert.equal(await stateOf(id), 'CANCELLED');
  });
});
