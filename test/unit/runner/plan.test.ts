import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import {
  needsOf,
  nextProcess,
  processesOf,
  secondsLeft,
  type TestFile,
  type TestProcess,
} from '../../runner/plan.ts';
import { type Stage, stages } from '../../runner/stages.ts';
import { expectedSeconds } from '../../runner/times.ts';

const stage: Stage = {
  ...(stages.find(({ name }) => name === 'integration') as Stage),
  filesInProcess: 2,
  secondsInProcess: 45,
};
const fileAt = (path: string, seconds = 1, needs: Partial<TestFile> = {}): TestFile => ({
  file: `test/integration/${path}.test.ts`,
  seconds,
  locksMachine: false,
  changesProcess: false,
  ...needs,
});
const processAt = (name: string, seconds: number, locksMachine = false): TestProcess => ({
  name,
  files: [name],
  seconds,
  locksMachine,
});
const shortNames = (processes: readonly TestProcess[]) =>
  processes.map(({ files }) => files.map((file) => file.slice('test/integration/'.length, -8)).join('+'));

describe('processes of a stage', () => {
  it('begin with the longest', () => {
    const files = [fileAt('a/x', 30), fileAt('b/x', 50), fileAt('c/x', 40)];
    assert.deepEqual(shortNames(processesOf(stage, files)), ['b/x', 'c/x', 'a/x']);
  });

  it('have files of one folder, at most as many as the stage allows', () => {
    const files = [fileAt('a/1', 2), fileAt('a/2', 2), fileAt('a/3', 2), fileAt('b/1', 5)];
    assert.deepEqual(shortNames(processesOf(stage, files)), ['b/1', 'a/1+a/3', 'a/2']);
  });

  it('take about as long as the others of their folder', () => {
    const files = [fileAt('a/1', 15), fileAt('a/2', 2), fileAt('a/3', 14), fileAt('a/4', 1)];
    assert.deepEqual(shortNames(processesOf(stage, files)), ['a/1+a/4', 'a/2+a/3']);
  });

  it('are expected to take no longer than the stage allows', () => {
    const many = { ...stage, filesInProcess: 10 };
    const files = [fileAt('a/1', 19), fileAt('a/2', 18), fileAt('a/3', 17), fileAt('a/4', 1)];
    assert.deepEqual(shortNames(processesOf(many, files)), ['a/2+a/3', 'a/1+a/4']);
  });

  it('have no more files than the stage allows, however short these are', () => {
    const files = [fileAt('a/1', 15), fileAt('a/2'), fileAt('a/3'), fileAt('a/4')];
    assert.deepEqual(shortNames(processesOf(stage, files)), ['a/1+a/4', 'a/2+a/3']);
  });

  it('have a single file if it is long, locks the machine or changes the process', () => {
    const files = [
      fileAt('a/1', 5),
      fileAt('a/lock', 4, { locksMachine: true }),
      fileAt('a/environment', 3, { changesProcess: true }),
      fileAt('a/long', 20),
      fileAt('a/2', 5),
    ];
    assert.deepEqual(shortNames(processesOf(stage, files)), ['a/long', 'a/1+a/2', 'a/lock', 'a/environment']);
  });

  it('have all files of a folder if the stage has no limit', () => {
    const all = {
      ...stage,
      filesInProcess: Number.POSITIVE_INFINITY,
      secondsInProcess: Number.POSITIVE_INFINITY,
    };
    assert.deepEqual(shortNames(processesOf(all, [fileAt('a/1'), fileAt('a/2'), fileAt('a/3')])), [
      'a/1+a/2+a/3',
    ]);
  });

  it('have files of several folders if these are small, and files that are in no folder', () => {
    const all = { ...stage, filesInProcess: 10 };
    const files = [fileAt('a/1', 3), fileAt('a/2', 3), fileAt('b/1'), fileAt('c/1'), fileAt('d', 9)];
    assert.deepEqual(shortNames(processesOf(all, files)), ['b/1+c/1+d', 'a/1+a/2']);
  });

  it('have one file each if the stage requires it', () => {
    const alone = { ...stage, filesInProcess: 1 };
    assert.deepEqual(shortNames(processesOf(alone, [fileAt('a/1'), fileAt('a/2')])), ['a/1', 'a/2']);
  });
});

test('the text of a file determines its requirements', () => {
  assert.deepEqual(needsOf('await lockMachine();'), { locksMachine: true, changesProcess: false });
  assert.deepEqual(needsOf("process.env.HOME = '/';"), { locksMachine: false, changesProcess: true });
  assert.deepEqual(needsOf('delete process.env.HOME;'), { locksMachine: false, changesProcess: true });
  assert.deepEqual(needsOf('assert.ok(process.env.HOME);'), { locksMachine: false, changesProcess: false });
});

describe('the next process', () => {
  const long = processAt('long', 50);
  const locking = [processAt('lock-1', 40, true), processAt('lock-2', 30, true)];

  it('is one that locks the machine if all of these together take longest', () => {
    assert.equal(nextProcess([long, ...locking], false)?.name, 'lock-1');
  });

  it('is one that does not lock the machine while another holds the lock', () => {
    assert.equal(nextProcess([long, ...locking], true)?.name, 'long');
    assert.equal(nextProcess(locking, true), undefined);
  });

  it('is the longest one if it takes longer than all that lock the machine together', () => {
    assert.equal(nextProcess([processAt('long', 80), ...locking], false)?.name, 'long');
  });

  it('is undefined if none is left', () => {
    assert.equal(nextProcess([], false), undefined);
  });
});

describe('the time left', () => {
  it('is that of the processes in parallel', () => {
    assert.equal(secondsLeft([], [processAt('a', 30), processAt('b', 20), processAt('c', 10)], 2), 30);
  });

  it('is the sum of the processes that lock the machine', () => {
    assert.equal(secondsLeft([], [processAt('a', 30, true), processAt('b', 20, true)], 2), 50);
  });

  it('includes the rest of running processes, which is 0 for one that is overdue', () => {
    assert.equal(secondsLeft([{ process: processAt('a', 30), since: 10 }], [], 2), 20);
    assert.equal(secondsLeft([{ process: processAt('a', 30), since: 40 }], [processAt('b', 5)], 1), 5);
    assert.equal(secondsLeft([], [], 2), 0);
  });
});

test('a file is expected to take its last time, its usual time, or a time by its size', () => {
  const times = [{ a: 1 }, { a: 2, b: 3 }] as const;
  const sized = { ...stage, secondsPerKilobyte: 2 };
  assert.deepEqual(
    ['a', 'b', 'c'].map((file) => expectedSeconds(sized, file, 10, times)),
    [1, 3, 20],
  );
});
