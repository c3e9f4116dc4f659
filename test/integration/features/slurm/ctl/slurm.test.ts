/** `ctl slurm` and the output of SlurmJobs against a server; no Slurm client runs here. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import type { SlurmJob } from '../../../../../src/features/slurm/api/slurm-job.ts';
import { type Ctl, ctlFor } from '../../../../fixtures/ctl.ts';
import { eventually } from '../../../../fixtures/eventually.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../../../fixtures/https-api-server.ts';

const group = '/apis/minik8s.io/v1/namespaces/default';
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

let server: HttpsTestServer;
let ctl: Ctl;
let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minik8s-slurm-cli-'));
  server = await startHttpsTestServer({ clock: systemClock });
  ctl = ctlFor(await server.kubeconfigFor('admin', ['system:masters']));
});
after(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

const jobOf = async (name: string) =>
  (await server.call('GET', `${group}/slurmjobs/${name}`)).json<SlurmJob>();
const create = async (name: string) => {
  const args = ['slurm', 'create', name, '--connection', 'login', '--run-command', 'true'];
  const { status, err } = await ctl(args);
  assert.equal(status, 0, err);
  return jobOf(name);
};
async function hasStatus(name: string, status: object): Promise<void> {
  const answer = await server.call('PATCH', `${group}/slurmjobs/${name}/status`, { status }, merge);
  assert.equal(answer.status, 200, answer.text);
}
async function wrote({ metadata }: SlurmJob, kind: string, path: string, offset: number, text: string) {
  const data = Buffer.from(text);
  const answer = await server.call('POST', `${group}/slurmfiles`, {
    ...{ apiVersion: 'minik8s.io/v1', kind: 'SlurmFile' },
    metadata: { generateName: `${metadata.name}-` },
    spec: {
      ...{ job: metadata.name, jobUID: metadata.uid, kind, path, offset },
      ...{ length: data.length, data: data.toString('base64') },
    },
  });
  assert.equal(answer.status, 201, answer.text);
}

describe('ctl slurm create', () => {
  it('sends a folder and the options for Slurm', async () => {
    const folder = join(directory, 'source');
    await mkdir(join(folder, 'src'), { recursive: true });
    await writeFile(join(folder, 'src/add.cu'), 'int main() {}\n');
    await writeFile(join(folder, 'data.bin'), Buffer.from([0xff, 0]));
    const { status, out, err } = await ctl([
      ...['slurm', 'create', 'add', '--connection', 'login', '--from', folder],
      ...['--build-command', 'nvcc src/add.cu -o add', '--run-command', './add', '--run-command', 'date'],
      ...['--module', 'cuda', '--result', 'out/*', '--partition', 'gpu', '--gpus', '2'],
      ...['--time-limit', '1:30:00', '--nodes', '2', '--tasks', '8', '--tasks-per-node', '4'],
      ...['--cpus-per-task', '3', '--memory', '4Gi', '--array', '0-9%2', '--sbatch-option=--constraint=a100'],
      ...['--env', 'MODE=fast', '--env', 'EMPTY='],
    ]);
    assert.equal(status, 0, err);
    assert.equal(out, 'slurmjob/add created\n');
    const { spec } = await jobOf('add');
    assert.deepEqual(spec.files, [
      { path: 'src/add.cu', content: 'int main() {}\n' },
      { path: 'data.bin', base64: '/wA=' },
    ]);
    assert.deepEqual(spec.connection, { secretName: 'login' });
    assert.deepEqual(
      [spec.build, spec.run, spec.modules, spec.results],
      [['nvcc src/add.cu -o add'], ['./add', 'date'], ['cuda'], ['out/*']],
    );
    assert.deepEqual([spec.partition, spec.gpus, spec.time], ['gpu', 2, '1:30:00']);
    assert.deepEqual([spec.nodes, spec.tasks, spec.tasksPerNode, spec.cpusPerTask], [2, 8, 4, 3]);
    assert.deepEqual([spec.memory, spec.array, spec.arguments], ['4Gi', '0-9%2', ['--constraint=a100']]);
    assert.deepEqual(spec.environment, { MODE: 'fast', EMPTY: '' });
  });

  it('rejects a job without a program or a connection', async () => {
    const nothing = await ctl(['slurm', 'create', 'x', '--connection', 'login']);
    assert.equal(nothing.status, 1);
    assert.match(nothing.err, /either --script-file or --run-command/);
    const nowhere = await ctl(['slurm', 'create', 'x', '--run-command', 'true']);
    assert.match(nowhere.err, /--connection SECRET/);
    const odd = await ctl([
      'slurm',
      'create',
      'x',
      '--connection',
      'c',
      '--run-command',
      'true',
      '--env',
      'A',
    ]);
    assert.match(odd.err, /--env takes NAME=VALUE, not "A"/);
  });
});

describe('ctl logs slurmjob/NAME', () => {
  it('prints each piece once, in order: output, errors, and the log of the build by its name', async () => {
    const job = await create('log');
    await wrote(job, 'Output', 'stdout', 0, 'one ');
    await wrote(job, 'Error', 'stderr', 0, 'wrong\n');
    await wrote(job, 'Build', 'build.log', 0, 'built\n');
    await wrote(job, 'Result', 'out/a', 0, 'no output');
    await wrote(job, 'Output', 'stdout', 4, 'two\n');
    const { out, err } = await ctl(['logs', 'slurmjob/log']);
    assert.deepEqual([out, err], ['one two\n', 'wrong\n']);
    assert.equal((await ctl(['logs', 'slurmjob/log', '-c', 'build.log'])).out, 'built\n');
    const missing = await ctl(['logs', 'slurmjob/log', '-c', 'other']);
    assert.deepEqual([missing.status, missing.err], [1, 'error: slurmjob/log has no other\n']);
    assert.match((await ctl(['logs', 'slurmjob/log', '--tail=1'])).err, /--tail is for pods/);
  });

  it('-f prints new output until the job has ended', async () => {
    const job = await create('live');
    await wrote(job, 'Output', 'stdout', 0, 'first\n');
    const following = ctl(['logs', '-f', 'slurmjob/live']);
    let over = false;
    const marked = following.finally(() => {
      over = true;
    });
    await wrote(job, 'Output', 'stdout', 6, 'second\n');
    await hasStatus('live', { phase: 'Fetching' });
    assert.equal(over, false);
    await wrote(job, 'Output', 'stdout', 13, 'third\n');
    await hasStatus('live', { phase: 'Succeeded' });
    assert.deepEqual(await marked, { status: 0, out: 'first\nsecond\nthird\n', err: '' });
  });

  it('-f fails when the job is deleted', async () => {
    const job = await create('short');
    const following = ctl(['logs', '-f', 'slurmjob/short']);
    await wrote(job, 'Output', 'stdout', 0, 'x\n');
    await server.call('DELETE', `${group}/slurmjobs/short`);
    await server.call('PATCH', `${group}/slurmjobs/short`, { metadata: { finalizers: null } }, merge);
    await eventually(systemClock, 'it is gone', async () => {
      const { status } = await server.call('GET', `${group}/slurmjobs/short`);
      return status === 404;
    });
    const { status, err } = await following;
    assert.equal(status, 1);
    assert.match(err, /slurmjob.*short.*(was deleted|not found)/);
  });
});

describe('ctl slurm results', () => {
  it('writes complete files, also empty ones, and reports the files that were not fetched', async () => {
    const job = await create('done');
    await wrote(job, 'Result', 'out/a.csv', 3, 'def');
    await wrote(job, 'Result', 'out/a.csv', 0, 'abc');
    const folder = join(directory, 'results');
    const early = await ctl(['slurm', 'results', 'done', '-o', folder]);
    assert.deepEqual([early.status, early.err], [1, 'error: slurmjob/done has not ended yet\n']);
    const files = [
      { path: 'out/a.csv', size: 6 },
      { path: 'empty', size: 0 },
    ];
    await hasStatus('done', {
      ...{ phase: 'Succeeded', files },
      droppedFiles: [{ path: 'big', size: 10 ** 9, reason: 'above resultsLimit' }],
    });
    const { status, out, err } = await ctl(['slurm', 'results', 'done', '-o', folder]);
    assert.deepEqual(
      [status, out, err],
      [1, 'out/a.csv\nempty\n', 'error: big was not fetched: above resultsLimit\n'],
    );
    assert.equal(await readFile(join(folder, 'out/a.csv'), 'utf8'), 'abcdef');
    assert.equal(await readFile(join(folder, 'empty'), 'utf8'), '');
  });

  it('reports a missing piece', async () => {
    const job = await create('torn');
    await wrote(job, 'Result', 'a', 0, 'abc');
    await hasStatus('torn', { phase: 'Succeeded', files: [{ path: 'a', size: 6 }] });
    const { status, err } = await ctl(['slurm', 'results', 'torn', '-o', join(directory, 'torn')]);
    assert.equal(status, 1);
    assert.match(err, /a is incomplete: the cluster has 3 of 6 bytes/);
  });

  it('never writes outside the folder', async () => {
    await create('evil');
    await hasStatus('evil', { phase: 'Succeeded', files: [{ path: '../evil', size: 0 }] });
    const { status, err } = await ctl(['slurm', 'results', 'evil', '-o', join(directory, 'evil')]);
    assert.deepEqual([status, err], [1, 'error: "../evil" is not a path below a folder\n']);
  });
});

describe('ctl slurm cancel', () => {
  it('cancels a job, and rejects one that has ended', async () => {
    await create('stop');
    assert.equal((await ctl(['slurm', 'cancel', 'stop'])).out, 'slurmjob/stop is being canceled\n');
    assert.equal((await jobOf('stop')).spec.cancel, true);
    await hasStatus('stop', { phase: 'Canceled' });
    const again = await ctl(['slurm', 'cancel', 'stop']);
    assert.deepEqual([again.status, again.err], [1, 'error: slurmjob/stop has ended already: Canceled\n']);
  });
});
