/** Limits and edges of the plans for SlurmJobs: options, keys of hosts, states of arrays, results. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  arrayTasks,
  sbatchOptions,
  UnusableSpec,
} from '../../../../../src/features/slurm/client/batch-script.ts';
import { chooseResults } from '../../../../../src/features/slurm/client/choose-results.ts';
import { isOver, queueLines, type SlurmTask } from '../../../../../src/features/slurm/client/host-answers.ts';
import { JobEntry } from '../../../../../src/features/slurm/client/job-entry.ts';
import { observedStatus } from '../../../../../src/features/slurm/client/job-plan.ts';
import { hostKeys } from '../../../../../src/features/slurm/client/known-hosts.ts';
import { directiveFaults } from '../../../../../src/features/slurm/client/sbatch-options.ts';
import type {
  SlurmJob,
  SlurmJobSpec,
  SlurmJobStatus,
} from '../../../../../src/features/slurm/client/slurm-job.ts';
import { problemOf } from '../../../../../src/features/slurm/client/step-problem.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';

const at = '2026-01-01T00:00:00Z';
const jobOf = (spec: SlurmJobSpec, status?: SlurmJobStatus): SlurmJob => ({
  ...{ namespace: 'default', name: 'add', uid: 'u-1', spec, status, deleting: false },
});
const options = (spec: SlurmJobSpec) => sbatchOptions(jobOf(spec));

describe('the options of sbatch', () => {
  it('may have an unlimited time, and have no memory of 0', () => {
    assert.ok(options({ time: 'UNLIMITED' }).includes('--time=UNLIMITED'));
    assert.ok(options({ time: 3600 }).includes('--time=60:00'));
    for (const memory of ['0', '-1', 'much']) assert.throws(() => options({ memory }), UnusableSpec);
    assert.ok(options({ memory: String(1024 * 1024 + 1) }).includes('--mem=2M'));
    assert.ok(!options({ gpus: 0 }).some((option) => option.startsWith('--gres')));
  });
  it('have arrays of at most 10,000 tasks, sorted and without duplicates', () => {
    assert.deepEqual(arrayTasks('5,1-7:3,4'), [1, 4, 5, 7]);
    assert.equal(arrayTasks('0-9999')?.length, 10_000);
    assert.throws(() => arrayTasks('0-10000'), /more than 10000 tasks/);
    for (const array of ['', '1-', '3-2', '1-5:0', '1%0', '1,,2', 'x'])
      assert.throws(() => arrayTasks(array), UnusableSpec, array);
  });
  it('are read from the lines of a script before its first command, by their short names too', () => {
    assert.deepEqual(directiveFaults('#SBATCH -i in -o out\n#SBATCH  --time=1 \ntrue\n#SBATCH --wait'), []);
    assert.deepEqual(directiveFaults('#SBATCH --time=1 --wait  # why'), [
      '#SBATCH --wait: not among the options that a job may set',
    ]);
  });
});

it('keys of a host are read between comments and empty lines, and text after a key is ignored', () => {
  const key = Buffer.from('key').toString('base64');
  const { types, has } = hostKeys(`\n# ssh-ed25519 AAAA\n  \nh ssh-ed25519 ${key} of the#\n`, 'h', 22);
  assert.deepEqual([types, has(Buffer.from('key'))], [['ssh-ed25519'], true]);
  assert.deepEqual(hostKeys('#h ssh-ed25519 AAAA', 'h', 22).types, []);
  assert.deepEqual(hostKeys(`h# ssh-ed25519 ${key}`, 'h#', 22).types, ['ssh-ed25519']);
});

describe('results', () => {
  it('that are left behind keep their size, and an invalid name is replaced', () => {
    const { fetched, dropped } = chooseResults([{ path: 'a\nb', size: 3 }], ['*'], 100);
    assert.deepEqual(fetched, []);
    assert.deepEqual([dropped[0]?.path, dropped[0]?.size], ['a\u{fffd}b', 3]);
  });
  it('have paths of 128 KiB together, to the byte', () => {
    const file = (index: number, length: number) => ({
      path: `${String(index).padStart(4, '0')}${'x'.repeat(length - 4)}`,
      size: index,
    });
    const files = Array.from({ length: 128 }, (_, index) => file(index, 1024));
    assert.equal(chooseResults(files, ['*'], 1e9).fetched.length, 128);
    const more = chooseResults([...files, { path: 'z', size: 500 }], ['*'], 1e9);
    assert.deepEqual([more.fetched.length, more.dropped.length], [128, 1]);
    // The list of results that are too large has the same limit.
    assert.equal(chooseResults(files, ['*'], -1).dropped.length, 128);
  });
});

describe('the state of a job in Slurm', () => {
  const task = (state: string, more: Partial<SlurmTask> = {}): SlurmTask => ({
    ...{ id: '7', tasks: undefined, state, reason: '', exitCode: undefined },
    ...{ submitTime: undefined, startTime: undefined, endTime: undefined, nodes: '', ...more },
  });
  const observed = (spec: SlurmJobSpec, tasks: readonly SlurmTask[], sizes: [string, number][] = []) =>
    observedStatus(
      jobOf(spec),
      { phase: 'Submitted', acceptedTime: at, jobID: '7' },
      {
        ...{ tasks, forgotten: false, looked: { sizes: new Map(sizes), exited: new Map() } },
      },
    );

  it('has no start time while it is pending, even if a time is expected', () => {
    const { status } = observed({}, [task('PENDING', { startTime: at })]);
    assert.deepEqual([status.phase, status.startTime], ['Submitted', undefined]);
    assert.equal(observed({}, [task('RUNNING', { startTime: at })]).status.phase, 'Running');
  });
  it('is not in a running phase if it has ended already', () =>
    assert.equal(observed({}, [task('COMPLETED', { startTime: at })]).status.phase, 'Submitted'));
  it('has the nodes and the reason of the task whose state it is', () => {
    const { status } = observed({ array: '0-1' }, [
      task('COMPLETED', { tasks: [0], nodes: 'n1', reason: 'None' }),
      task('PENDING', { tasks: [1], nodes: 'n2', reason: 'Resources' }),
    ]);
    assert.deepEqual([status.state, status.nodes, status.reason], ['PENDING', 'n2', 'Resources']);
  });
  it('counts output and errors separately', () => {
    const sizes: [string, number][] = [
      ['stdout-1', 3],
      ['stdout-2', 4],
      ['stderr-1', 5],
    ];
    const { status } = observed({}, [task('RUNNING')], sizes);
    assert.deepEqual([status.outputBytes, status.errorBytes], [7, 5]);
  });
  it('contains the states of an array’s tasks only if they differ', () => {
    const ends = (...states: readonly string[]) =>
      observed(
        { array: '0-1' },
        states.map((state, index) => task(state, { tasks: [index] })),
      ).verdict?.message;
    assert.equal(ends('FAILED', 'COMPLETED'), 'Slurm reports FAILED (1 FAILED, 1 COMPLETED)');
    assert.equal(ends('FAILED', 'FAILED'), 'Slurm reports FAILED');
  });
});

it('a failure of a step without a condition sets none, and others are reported as retried', () => {
  for (const step of ['follow', 'cancel', 'cleanUp', 'discard', 'none'] as const)
    assert.equal(problemOf(step, new Error('x')), undefined, step);
  assert.deepEqual(problemOf('submit', new Error('x')), {
    ...{ type: 'Submitted', status: 'False', reason: 'TryingAgain', message: 'x' },
  });
  assert.equal(problemOf('fetch', new Error('x'))?.status, 'Unknown');
  // An answer of the API has a reason too, which is none of a step.
  const refused = Object.assign(new Error('no'), { reason: 'Forbidden', condition: 'Failed' });
  assert.equal(problemOf('upload', refused)?.reason, 'TryingAgain');
});

it('a job has ended in exactly twelve of Slurm’s states', () => {
  for (const state of [
    ...['BOOT_FAIL', 'CANCELLED', 'COMPLETED', 'DEADLINE', 'FAILED', 'LAUNCH_FAILED', 'NODE_FAIL'],
    ...['OUT_OF_MEMORY', 'PREEMPTED', 'RECONFIG_FAIL', 'REVOKED', 'TIMEOUT'],
  ])
    assert.ok(isOver(state), state);
  for (const state of ['PENDING', 'RUNNING', 'COMPLETING', 'SUSPENDED', 'REQUEUED', 'UNKNOWN', ''])
    assert.ok(!isOver(state), state);
});

it('invalid parts of a list of tasks are left out, and the other parts are used', () => {
  const tasks = (range: string) => queueLines(`7_[${range}]|PENDING|||||None`)[0]?.tasks;
  assert.deepEqual(tasks('1,-,5-7:2,3-'), [1, 5, 7]);
  assert.deepEqual(tasks('0-3%2'), [0, 1, 2, 3]);
});

describe('the entry of a job', () => {
  const entry = (array?: string) => new JobEntry(jobOf({ array }), Date.parse(at), new SeededRandom(1));
  const task = (state: string, tasks?: readonly number[]) => ({ state, tasks }) as SlurmTask;

  it('starts without answers, and in the phase Waiting', () => {
    const one = entry();
    assert.deepEqual(
      [one.forgotten, one.answered, one.driving, one.again, one.stopping, one.followed],
      [false, false, false, false, false, false],
    );
    assert.deepEqual([one.status, one.written], [{ phase: 'Waiting', acceptedTime: at }, undefined]);
  });
  it('uses the state of the queue in preference to that of accounting, for each task', () => {
    const one = entry();
    one.account = [task('COMPLETED')];
    assert.deepEqual(one.tasks, [task('COMPLETED')]);
    one.queue = [task('RUNNING')];
    assert.deepEqual(one.tasks, [task('RUNNING')]);
    const several = entry('0-2');
    several.queue = [task('RUNNING', [1])];
    several.account = [task('COMPLETED', [0]), task('PENDING', [1]), task('PENDING', [1, 2])];
    assert.deepEqual(several.tasks, [task('RUNNING', [1]), task('COMPLETED', [0]), task('PENDING', [1, 2])]);
  });
});
