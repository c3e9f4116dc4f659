/**
 * The scripts of the login host, run by this machine's sh with programs that answer as Slurm's do, also when
 * the controller is unavailable or has forgotten a job. On a real Slurm they run in jobs.test.ts and in `npm
 * run walk:slurm`.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import {
  batchScript,
  buildScript,
  jobProgram,
} from '../../../../../src/features/slurm/client/batch-script.ts';
import { listedFiles, lookedAt } from '../../../../../src/features/slurm/client/host-answers.ts';
import {
  buildingScript,
  cancelScript,
  folderGone,
  foldersScript,
  listScript,
  lookScript,
  prepareScript,
  removeScript,
  submitScript,
  tryAgain,
} from '../../../../../src/features/slurm/client/host-scripts.ts';
import type { SlurmJob, SlurmJobSpec } from '../../../../../src/features/slurm/client/slurm-job.ts';
import { eventually } from '../../../../fixtures/eventually.ts';
import { makeSlurmModel } from '../../../../fixtures/slurm/model.ts';

const uid = '0b5e';
const jobOf = (spec: SlurmJobSpec = {}): SlurmJob => ({
  ...{ namespace: 'default', name: 'job', uid, status: undefined, deleting: false },
  spec: { run: ['true'], ...spec },
});

interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Creates a host with a home directory, and a job whose folder is prepared. */
async function host(context: TestContext, job = jobOf()) {
  const base = mkdtempSync(join(tmpdir(), 'minik8s-host-scripts-'));
  context.after(() => rmSync(base, { recursive: true, force: true }));
  const home = join(base, 'home');
  mkdirSync(home);
  const { bin, model } = makeSlurmModel(base);
  const run = (program: readonly string[], input: string, directory = base) =>
    new Promise<Said>((resolve) => {
      const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, HOME: home, MODEL: model };
      const child = spawn(program[0] ?? '', program.slice(1), { cwd: directory, env });
      const said = { stdout: '', stderr: '' };
      child.stdout.on('data', (chunk) => (said.stdout += chunk));
      child.stderr.on('data', (chunk) => (said.stderr += chunk));
      child.on('close', (code) => resolve({ code, ...said }));
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
    });
  const sh = (script: string) => run(['sh'], script);
  const prepared = await sh(prepareScript(job));
  assert.equal(prepared.code, 0, prepared.stderr);
  const folder = prepared.stdout.trim();
  const own = (name: string) => join(folder, '.minik8s', name);
  const lines = (name: string) =>
    existsSync(join(model, name))
      ? readFileSync(join(model, name), 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : [];
  return {
    ...{ home, folder, own, sh, run, lines },
    submit: () => sh(submitScript(job, folder, 120)),
    cancel: (jobID?: string) => sh(cancelScript(job, jobID)),
    model: (name: string, text: string) => writeFileSync(join(model, name), text),
    /** Sets the time of the last attempt to this many seconds ago. */
    age(seconds: number): void {
      const then = Date.now() / 1000 - seconds;
      utimesSync(own('attempt'), then, then);
    },
  };
}

describe('a folder', () => {
  it('is private to its user, whatever its name is, and is removed', async (context) => {
    const job = jobOf({ workDir: "~/a b'$(touch injected)" });
    const { home, folder, sh } = await host(context, job);
    assert.equal(folder, join(home, "a b'$(touch injected)", `job-${uid}`));
    assert.equal(statSync(folder).mode & 0o077, 0);
    await sh(foldersScript(folder, ['src/deep']));
    assert.equal(statSync(join(folder, 'src/deep')).mode & 0o077, 0);
    assert.equal((await sh(removeScript(job))).code, 0);
    assert.deepEqual(readdirSync(join(home, "a b'$(touch injected)")), []);
    assert.deepEqual(readdirSync(home), ["a b'$(touch injected)"]);
    assert.equal((await sh(foldersScript(folder, ['x']))).code, folderGone);
  });
  it('is checked and listed without the client’s own files', async (context) => {
    const { folder, own, sh } = await host(context);
    for (const [path, text] of [
      [own('stdout'), 'abc'],
      [own('exited.-.3'), ''],
      [own('job-id'), '1'],
      [join(folder, 'a\nb'), '12345'],
    ] as const)
      writeFileSync(path, text);
    const looked = lookedAt((await sh(lookScript([{ id: '1', folder }]))).stdout).get(folder);
    assert.deepEqual([...(looked?.sizes ?? [])], [['stdout', 3]]);
    assert.deepEqual([...(looked?.exited ?? [])], [['-', 3]]);
    assert.deepEqual(listedFiles((await sh(listScript(folder))).stdout), [{ path: 'a\nb', size: 5 }]);
  });
});

describe('a job', () => {
  it('is submitted once, also after Slurm has forgotten it', async (context) => {
    const { submit, lines, model } = await host(context);
    assert.equal((await submit()).stdout, 'id 101\n');
    model('queue', '');
    for (let i = 0; i < 2; i++) assert.equal((await submit()).stdout, 'id 101\n');
    assert.equal(lines('submitted').length, 1);
  });
  it('is submitted once by many at the same time', async (context) => {
    const { submit, lines } = await host(context);
    const said = await Promise.all(Array.from({ length: 5 }, submit));
    assert.deepEqual(
      said.map(({ stdout }) => stdout),
      Array(5).fill('id 101\n'),
    );
    assert.equal(lines('submitted').length, 1);
  });
  for (const [what, answer] of [
    [
      'lines of a plugin',
      'echo "lua: welcome to 2 clusters"; echo "$id;cluster"; echo; echo "7 credits are left"',
    ],
    ['the words of a wrapper', 'echo "checking"; echo "Submitted batch job $id on cluster a"'],
    ['no number at all', 'echo "thank you"'],
    ['nothing', ':'],
  ] as const)
    it(`is identified by its number if sbatch prints ${what}`, async (context) => {
      const { submit, cancel, lines, model } = await host(context);
      model('answer', answer);
      for (let i = 0; i < 2; i++) assert.equal((await submit()).stdout, 'id 101\n');
      assert.equal(lines('submitted').length, 1);
      await cancel();
      assert.deepEqual(lines('canceled'), ['101']);
    });
  it('is not submitted again where sbatch prints no number and the queue does not show it yet', async (context) => {
    const { submit, lines, model } = await host(context);
    model('mode', 'loses');
    model('answer', 'echo "thank you"');
    for (let i = 0; i < 2; i++) assert.equal((await submit()).stdout, 'unsettled\n');
    model('queue', `minik8s:${uid} 101 RUNNING\n`);
    assert.equal((await submit()).stdout, 'id 101\n');
    assert.equal(lines('submitted').length, 1);
  });
  it('with an unreadable number of an earlier client is looked up in the queue', async (context) => {
    const { submit, own, lines } = await host(context);
    await submit();
    writeFileSync(own('job-id'), 'welcome\n');
    assert.equal((await submit()).stdout, 'id 101\n');
    assert.equal(lines('submitted').length, 1);
  });
  it('is found in the queue if sbatch gave no answer, and is not submitted again', async (context) => {
    const { submit, lines, model } = await host(context);
    model('mode', 'takes, silent');
    assert.match((await submit()).stdout, /^refused\n.*timed out/);
    model('mode', 'takes');
    assert.equal((await submit()).stdout, 'id 101\n');
    assert.equal(lines('submitted').length, 1);
  });
  it('is not submitted again before Slurm certainly does not have it, and accounting is queried then', async (context) => {
    const { submit, lines, model, age } = await host(context);
    model('mode', 'loses, silent');
    assert.match((await submit()).stdout, /^refused\n/);
    for (const seconds of [0, 60, 115]) {
      age(seconds);
      assert.equal((await submit()).stdout, 'unsettled\n');
    }
    assert.equal(lines('submitted').length, 1);
    model('account', `minik8s:other 55 COMPLETED\nminik8s:${uid} 77_3 COMPLETED\n`);
    age(130);
    assert.equal((await submit()).stdout, 'id 77\n');
    assert.equal(lines('submitted').length, 1);
  });
  it('is submitted again if neither the queue nor accounting has it after that time', async (context) => {
    for (const hasAccounting of [true, false]) {
      const { submit, lines, model, age } = await host(context);
      model('mode', 'loses, silent');
      await submit();
      if (hasAccounting) model('account', 'minik8s:other 55 COMPLETED\n');
      model('mode', 'takes');
      age(130);
      assert.equal((await submit()).stdout, 'id 102\n');
      assert.equal(lines('submitted').length, 2);
    }
  });
  it('is not submitted while the queue cannot be queried', async (context) => {
    const { submit, lines, model } = await host(context);
    model('away', '');
    const { code, stderr } = await submit();
    assert.equal(code, tryAgain);
    assert.match(stderr, /Unable to contact/);
    assert.deepEqual(lines('submitted'), []);
  });
  it('that sbatch refuses reports the message, and can be submitted at once after the fix', async (context) => {
    const { submit, model } = await host(context);
    model('mode', 'refuses');
    assert.equal((await submit()).stdout, 'refused\nsbatch: error: invalid partition specified: nope\n');
    model('mode', 'takes');
    assert.equal((await submit()).stdout, 'id 102\n');
  });
  it('that was canceled is not submitted any more', async (context) => {
    const { submit, cancel, lines } = await host(context);
    assert.equal((await cancel()).stdout, 'ended\n');
    assert.equal((await submit()).stdout, 'canceled\n');
    assert.deepEqual(lines('submitted'), []);
  });
  it('is canceled by its number, by the number in its folder, and by its comment', async (context) => {
    for (const known of ['status', 'folder', 'queue']) {
      const { submit, cancel, lines, own } = await host(context);
      await submit();
      if (known === 'queue') rmSync(own('job-id'));
      assert.equal((await cancel(known === 'status' ? '101' : undefined)).stdout, 'ended\n', known);
      assert.deepEqual(lines('canceled'), ['101'], known);
    }
  });
  it('counts as canceled if Slurm no longer has it, but not while the controller is unreachable', async (context) => {
    const { submit, cancel, model } = await host(context);
    await submit();
    model('away', '');
    assert.equal((await cancel('101')).code, tryAgain);
    const { run, folder } = await host(context);
    assert.equal((await run(['sh'], cancelScript(jobOf(), '55'), folder)).stdout, 'ended\n');
  });
  it('does nothing if the end of its script is lost in transfer', async (context) => {
    const { sh, lines, folder } = await host(context);
    const script = submitScript(jobOf(), folder, 120);
    for (const part of [0.5, 0.9, 0.99]) await sh(script.slice(0, Math.floor(script.length * part)));
    assert.deepEqual(lines('submitted'), []);
  });
});

describe('a build', () => {
  const building = async (context: TestContext, ...build: string[]) => {
    const job = jobOf({ build });
    const one = await host(context, job);
    writeFileSync(one.own('build.sh'), buildScript(job.spec));
    return { ...one, build: () => one.sh(buildingScript(one.folder)) };
  };
  it('runs once for any number of waiting jobs', async (context) => {
    const { build, folder } = await building(context, 'echo once >>built', 'sleep 0.3', 'echo said');
    const said = [...(await Promise.all([build(), build()])), await build()];
    for (const { stdout } of said) assert.equal(stdout, '0\nsaid\n');
    assert.equal(readFileSync(join(folder, 'built'), 'utf8'), 'once\n');
  });
  it('that fails has its status and output', async (context) => {
    const { build } = await building(context, 'echo no compiler >&2', '(exit 4)', 'echo not reached');
    assert.equal((await build()).stdout, '4\nno compiler\n');
  });
  it('is ended when the job is canceled, and none begins after that', async (context) => {
    const { build, cancel, own, folder } = await building(
      context,
      'echo begun >begun',
      'sleep 100',
      'echo >done',
    );
    const running = build();
    await eventually(systemClock, 'it runs', () => existsSync(join(folder, 'begun')));
    await cancel();
    assert.equal((await running).code, tryAgain);
    assert.ok(!existsSync(own('build-exit')));
    rmSync(join(folder, 'begun'));
    assert.equal((await build()).code, tryAgain);
    assert.ok(!existsSync(join(folder, 'begun')));
  });
});

it('the batch script records how its last run ended', async (context) => {
  const { run, folder, own } = await host(context);
  const spec = { run: ['exit $WHICH'], environment: { GREETING: "it's" } };
  writeFileSync(own('script'), jobProgram(spec, undefined), { mode: 0o700 });
  const ended = () => readdirSync(join(folder, '.minik8s')).filter((name) => name.startsWith('exited'));
  const batch = (which: number, task = '') =>
    run(
      [
        'env',
        `WHICH=${which}`,
        ...(task ? [`SLURM_ARRAY_TASK_ID=${task}`] : []),
        'bash',
        '-c',
        batchScript(jobOf(spec), undefined),
      ],
      '',
      folder,
    );
  assert.equal((await batch(3)).code, 3);
  assert.deepEqual(ended(), ['exited.-.3']);
  assert.equal((await batch(0)).code, 0);
  assert.deepEqual(ended(), ['exited.-.0']);
  await batch(5, '7');
  await batch(6, '71');
  await batch(4, '7');
  assert.deepEqual(ended().sort(), ['exited.-.0', 'exited.7.4', 'exited.71.6']);
});
