/** Answers of a host that are unusual, incomplete or out of order, and their effects on the plans. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sbatchOptions } from '../../../../../src/features/slurm/client/batch-script.ts';
import { chooseResults } from '../../../../../src/features/slurm/client/choose-results.ts';
import {
  accountLines,
  isForNow,
  lookedAt,
  queueLines,
} from '../../../../../src/features/slurm/client/host-answers.ts';
import { nothingLooked } from '../../../../../src/features/slurm/client/job-entry.ts';
import { observedStatus } from '../../../../../src/features/slurm/client/job-plan.ts';
import { nextPiece } from '../../../../../src/features/slurm/client/output-plan.ts';
import { directiveFaults } from '../../../../../src/features/slurm/client/sbatch-options.ts';
import type { SlurmJob, SlurmJobStatus } from '../../../../../src/features/slurm/client/slurm-job.ts';

const acceptedTime = '2026-01-01T00:00:00Z';
const jobOf = (array?: string): SlurmJob => ({
  ...{ namespace: 'default', name: 'add', uid: 'u-1', status: undefined, deleting: false },
  spec: { run: ['true'], array },
});
const observed = (lines: string, status: Partial<SlurmJobStatus> = {}, array?: string) =>
  observedStatus(
    jobOf(array),
    { phase: 'Running', acceptedTime, jobID: '7', ...status },
    { tasks: accountLines(lines), looked: nothingLooked, forgotten: false },
  );

it('lines without the number of a job are ignored, and texts are cut after 4096 characters', () => {
  assert.deepEqual(accountLines('x|FAILED|1:0||||n1\n|FAILED|1:0||||n1\n'), []);
  const [task] = queueLines(`7|PENDING|||||${'r'.repeat(5000)}`);
  assert.equal(task?.reason.length, 4096);
  const [running] = queueLines(`7|RUNNING||||${'n'.repeat(5000)}|None`);
  assert.equal(running?.nodes.length, 4096);
});

it('a program ended by a signal has the exit status 128 plus the number of the signal, including signal 1', () => {
  assert.deepEqual(
    ['0:1', '0:9', '3:0', '', 'x:1'].map((exit) => accountLines(`7|FAILED|${exit}||||n1`)[0]?.exitCode),
    [129, 137, 3, undefined, undefined],
  );
});

it('lines of a file listing that describe no file are ignored', () => {
  assert.deepEqual([...lookedAt('stat: warning\n3|/w/elsewhere/stdout\n').keys()], []);
});

it('an error of sbatch without a text is temporary, also with empty lines', () => {
  assert.equal(isForNow(' \n\n'), true);
  assert.equal(isForNow(' nothing \n'), false);
});

it('the earliest and the latest times of a job are used for any order of its tasks', () => {
  const line = (task: number, hour: number) =>
    `7_${task}|FAILED|1:0|2026-01-01T0${hour}:00:00|2026-01-01T0${hour}:10:00|2026-01-01T0${hour}:20:00|n1\n`;
  const { status } = observed(line(0, 5) + line(1, 2) + line(2, 8), {}, '0-2');
  assert.deepEqual(
    [status.submitTime, status.startTime, status.endTime],
    ['2026-01-01T02:00:00Z', '2026-01-01T02:10:00Z', '2026-01-01T08:20:00Z'],
  );
});

it('fields that an answer of Slurm lacks keep their earlier values', () => {
  const before = {
    ...{ submitTime: '2026-01-01T01:00:00Z', startTime: '2026-01-01T02:00:00Z' },
    ...{ nodes: 'n[1-2]', outputBytes: 7, errorBytes: 5 },
  };
  const { status } = observed('7|RUNNING|0:0|Unknown|Unknown|Unknown|None assigned\n', before);
  const { submitTime, startTime, nodes, outputBytes, errorBytes } = status;
  assert.deepEqual({ submitTime, startTime, nodes, outputBytes, errorBytes }, before);
});

it('a stopped job has failed with the reason of the stop, and the message that it was canceled', () => {
  const stopped = {
    ...({ type: 'Failed', status: 'Unknown', reason: 'DeadlineExceeded', message: 'late' } as const),
    lastTransitionTime: acceptedTime,
  };
  const { verdict } = observed('7|CANCELLED by 1000|0:15||||n1\n', { conditions: [stopped] });
  assert.deepEqual(verdict, {
    type: 'Failed',
    reason: 'DeadlineExceeded',
    message: 'the job was canceled',
  });
});

it('a file that is too long is continued after the copied part, and its middle is left out once', () => {
  assert.deepEqual(nextPiece(100, 3, 10, true), { from: 3, to: 5 });
  assert.deepEqual(nextPiece(100, 5, 10, true), { text: '\n[minik8s: 90 bytes left out]\n' });
  const stored = 5 + '\n[minik8s: 90 bytes left out]\n'.length;
  assert.deepEqual(nextPiece(100, stored, 10, true), { from: 95, to: 100 });
  assert.deepEqual(nextPiece(100, stored + 2, 10, true), { from: 97, to: 100 });
  assert.equal(nextPiece(100, stored + 5, 10, true), undefined);
});

it('the smallest results are fetched first, in any order of names', () => {
  const files = [
    { path: 'a', size: 9 },
    { path: 'b', size: 3 },
    { path: 'c', size: 1 },
  ];
  const { fetched, dropped } = chooseResults(files, ['*'], 4);
  assert.deepEqual([fetched.map(({ path }) => path), dropped.map(({ path }) => path)], [['c', 'b'], ['a']]);
});

it('the output of a job without an array has no number of a task in its name', () => {
  const options = sbatchOptions(jobOf());
  assert.ok(options.includes('--output=.minik8s/stdout') && options.includes('--error=.minik8s/stderr'));
  const array = sbatchOptions(jobOf('0-1'));
  assert.ok(array.includes('--output=.minik8s/stdout-%a') && array.includes('--error=.minik8s/stderr-%a'));
});

it('an unknown option of a script is rejected by itself, without the spaces around it', () => {
  assert.deepEqual(directiveFaults('#SBATCH   -Z 3   --time=1   --wait   # why\n'), [
    '#SBATCH -Z 3: not among the options that a job may set',
    '#SBATCH --wait: not among the options that a job may set',
  ]);
});
