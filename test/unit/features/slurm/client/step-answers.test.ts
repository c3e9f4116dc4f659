/**
 * Steps up to a job's submission for each answer of the host: the status, and the error after which the step
 * is retried.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MissingSource } from '../../../../../src/features/slurm/client/job-store.ts';
import { ConnectionError, type Ran } from '../../../../../src/features/slurm/client/ssh.ts';
import { condition, failed, said, stepWorld as world } from '../../../../fixtures/slurm/steps-world.ts';

const longest = `/${'x'.repeat(4095)}`;

describe('the work folder', () => {
  it('is the last line that is a path, even if the login shell prints other lines before and after it', async () => {
    for (const [stdout, folder] of [
      ['/home/me/one\n', '/home/me/one'],
      ['/motd\nwelcome\n/home/me/one\nbye\n', '/home/me/one'],
      [`/home\n${longest}y\n`, '/home'],
      [longest, longest],
    ] as const) {
      const { take, entry, lanes } = world({}, said(stdout));
      assert.equal(await take('prepare'), true);
      assert.deepEqual([entry.status.workDir, entry.status.phase], [folder, 'Uploading']);
      assert.deepEqual(lanes, ['ask']);
    }
  });
  it('is prepared again if the host prints no path, or cannot create the folder', async () => {
    for (const [answer, problem] of [
      [said('welcome\n'), 'WorkFolderFailed: the host did not print the path of the work folder'],
      [failed(1, 'mkdir: Disk quota exceeded\n'), 'HostFailed: mkdir: Disk quota exceeded'],
      [failed(75, 'not now'), 'TryingAgain: not now'],
      [failed(127), "HostFailed: the host's shell ended with 127"],
      [failed(undefined), "HostFailed: the host's shell ended with a signal"],
    ] as const)
      assert.equal(await world({}, answer).problem('prepare'), `Uploaded False ${problem}`);
  });
  it('is created again if it is missing before the submission of the job', async () => {
    for (const step of ['prepare', 'upload', 'build', 'submit'] as const) {
      const { take, is, entry } = world(
        { workDir: '/w', conditions: [condition('Uploaded', 'True')] },
        failed(74),
      );
      assert.equal(await take(step), true);
      assert.equal(
        is('Uploaded'),
        'False WorkFolderGone: the work folder does not exist any more; it is recreated',
        step,
      );
      assert.equal(entry.status.workDir, undefined);
    }
  });
});

describe('an upload', () => {
  it('writes the files of the job and the client, and makes scripts and programs executable', async () => {
    const files = { 'src/in/a.sh': '#!/bin/sh\n', data: '#x', elf: '\u007fELF', 'no-elf': '\u007fEL' };
    const { take, written, scripts, is, entry } = world({ workDir: '/w' }, said(''), { files });
    assert.equal(await take('upload'), true);
    assert.deepEqual(
      Object.entries(written).map(([path, text]) => `${path} ${text.slice(0, 3)}`),
      [
        ...['/w/src/in/a.sh 700', '/w/data 600', '/w/elf 700', '/w/no-elf 600'],
        ...['/w/.minik8s/job.slurm 700', '/w/.minik8s/script 700', '/w/.minik8s/build.sh 600'],
      ],
    );
    assert.match(scripts[0] ?? '', /mkdir -p -- '?src\/in'?[\s\S]*mkdir -p -- '?\.minik8s'?/);
    assert.doesNotMatch(scripts[0] ?? '', /data/);
    assert.deepEqual([is('Uploaded'), entry.status.phase], ['True Uploaded: 4 files are in /w', 'Uploading']);
    const building = world({ workDir: '/w' }, said(''), { spec: { run: ['true'], build: ['make'] } });
    await building.take('upload');
    assert.equal(building.entry.status.phase, 'Building');
  });
  it('recognizes a program by all four bytes at its beginning', async () => {
    const files = { a: 'xELF', b: '\u007fxLF', c: '\u007fExF', d: '\u007fELx', e: ' #!/bin/sh' };
    const { take, written } = world({ workDir: '/w' }, said(''), { files });
    await take('upload');
    for (const name of Object.keys(files)) assert.match(written[`/w/${name}`] ?? '', /^600 /, name);
  });
  it('names the file that the host rejects, and returns the error of a lost connection', async () => {
    const one = world({ workDir: '/w' }, said(''), { files: { data: 'x' } });
    one.fails(new Error('No space left on device'));
    assert.equal(
      await one.problem('upload'),
      'Uploaded False UploadFailed: cannot write /w/data: No space left on device',
    );
    const other = world({ workDir: '/w' }, said(''), { files: { data: 'x' } });
    const away = new ConnectionError('HostAway', 'the connection was lost');
    other.fails(away);
    await assert.rejects(other.take('upload'), away);
  });
  it('waits for a missing ConfigMap, and ends a job whose file paths leave the work folder', async () => {
    const missing = world({ workDir: '/w' }, said(''));
    missing.store.readFiles = async () => {
      throw new MissingSource('configmap "x" not found');
    };
    assert.equal(await missing.problem('upload'), 'Uploaded False MissingSource: configmap "x" not found');
    for (const [path, why] of [
      ['/etc/passwd', 'is not below the work folder'],
      ['a/../../b', 'is not below the work folder'],
      ['./a', 'is not below the work folder'],
      ['a//b', 'is not below the work folder'],
      ['a/', 'is not below the work folder'],
      ['.minik8s', "is in the client's own folder"],
      ['.minik8s/job.slurm', "is in the client's own folder"],
    ] as const) {
      const { take, is, entry, written } = world({ workDir: '/w' }, said(''), { files: { [path]: '' } });
      assert.equal(await take('upload'), true);
      assert.equal(is('Failed'), `Unknown InvalidSpec: files: ${JSON.stringify(path)} ${why}`);
      assert.deepEqual([entry.status.phase, written], ['Fetching', {}]);
    }
    const fine = world({ workDir: '/w' }, said(''), { files: { '.minik8s-more': '', '..a/b..': '' } });
    await fine.take('upload');
    assert.equal(fine.is('Uploaded'), 'True Uploaded: 2 files are in /w');
  });
  it('uses the script in the named file, which must exist', async () => {
    const files = { 'run.sh': '#!/bin/sh\n#SBATCH --nodes=7\n' };
    const one = world({ workDir: '/w' }, said(''), { spec: { scriptFile: 'run.sh' }, files });
    await one.take('upload');
    assert.match(JSON.stringify(one.written), /--nodes=7/);
    const other = world({ workDir: '/w' }, said(''), { spec: { scriptFile: 'gone.sh' }, files });
    await other.take('upload');
    assert.equal(other.is('Failed'), 'Unknown InvalidSpec: scriptFile: gone.sh is not among the files');
  });
});

describe('a build', () => {
  const building = (answer: Ran) =>
    world({ workDir: '/w' }, answer, { spec: { build: ['make'], run: ['x'] } });
  it('succeeds, fails with its output, or is retried', async () => {
    const done = building(said('0\nall is well\n'));
    assert.equal(await done.take('build'), true);
    assert.deepEqual([done.is('Built'), done.is('Failed')], ['True Built: the build has succeeded', 'none']);
    assert.deepEqual(done.lanes, ['build']);
    const broken = building(said('2\na.c:1: error\n\n'));
    assert.equal(await broken.take('build'), true);
    const message = 'the build has failed with status 2: a.c:1: error';
    assert.equal(broken.is('Built'), `False BuildFailed: ${message}`);
    assert.equal(broken.is('Failed'), `Unknown BuildFailed: ${message}`);
    assert.equal(broken.entry.status.phase, 'Fetching');
    assert.equal(
      await building(failed(75, 'the build was interrupted')).problem('build'),
      'Built False TryingAgain: the build was interrupted',
    );
  });
});

describe('a submission', () => {
  const submitting = (answer: Ran) =>
    world({ workDir: '/w', conditions: [condition('Uploaded', 'True')] }, answer);
  it('records the number that Slurm assigned', async () => {
    for (const id of ['7', '1'.repeat(20)]) {
      const { take, is, entry, lanes, scripts } = submitting(said(`id ${id}\n`));
      assert.equal(await take('submit'), true);
      assert.equal(is('Submitted'), `True Submitted: Slurm has accepted it as job ${id}`);
      const { phase, jobID, state } = entry.status;
      assert.deepEqual([phase, jobID, state, lanes], ['Submitted', id, 'PENDING', ['submit']]);
      assert.match(scripts[0] ?? '', /120/);
    }
  });
  it('is retried if it is unsettled, the queue is full, Slurm is unavailable or the answer is empty', async () => {
    for (const [stdout, problem] of [
      [
        'unsettled\n',
        'Unsettled: Slurm did not answer sbatch; the client finds out within 120 s whether Slurm has the job',
      ],
      ['refused\nsbatch: error: job submit limit\n', 'QueueFull: sbatch: error: job submit limit'],
      [
        'refused\nsbatch: error: Unable to contact slurm controller\n',
        'SlurmAway: sbatch: error: Unable to contact slurm controller',
      ],
      ['refused\n', 'SlurmAway: sbatch has failed without a message'],
      ['id 7;cluster', 'HostFailed: unexpected answer of the host: id 7;cluster'],
      [`id ${'1'.repeat(21)}`, `HostFailed: unexpected answer of the host: id ${'1'.repeat(21)}`],
      ['x'.repeat(600), `HostFailed: unexpected answer of the host: ${'x'.repeat(500)}`],
      ['', 'HostFailed: unexpected answer of the host: '],
    ] as const)
      assert.equal(await submitting(said(stdout)).problem('submit'), `Submitted False ${problem}`);
  });
  it('ends the job if it is rejected permanently or was cancelled before', async () => {
    const refused = submitting(said('refused\nsbatch: error: invalid partition\n  specified: x\n\n'));
    assert.equal(await refused.take('submit'), true);
    const message = 'sbatch: error: invalid partition\n  specified: x';
    assert.equal(refused.is('Submitted'), `False SubmitRefused: ${message}`);
    assert.equal(refused.is('Failed'), `Unknown SubmitRefused: ${message}`);
    const canceled = submitting(said('canceled\n'));
    assert.equal(await canceled.take('submit'), true);
    assert.equal(canceled.is('Failed'), 'Unknown Canceled: it was canceled before it was submitted');
    assert.deepEqual([canceled.entry.status.phase, canceled.is('Submitted')], ['Fetching', 'none']);
  });
});
