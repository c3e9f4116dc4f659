import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chooseResults } from '../../../../../src/features/slurm/client/choose-results.ts';
import { connectionSettings } from '../../../../../src/features/slurm/client/connection-settings.ts';
import { isOver, queueLines } from '../../../../../src/features/slurm/client/host-answers.ts';
import {
  ended,
  finished,
  lacksExitStatus,
  lastExitCode,
  nextStep,
  observedStatus,
  withCondition,
} from '../../../../../src/features/slurm/client/job-plan.ts';
import { hostKeys } from '../../../../../src/features/slurm/client/known-hosts.ts';
import { nextPiece } from '../../../../../src/features/slurm/client/output-plan.ts';
import type {
  SlurmJobCondition,
  SlurmJobSpec,
  SlurmJobStatus,
} from '../../../../../src/features/slurm/client/slurm-job.ts';

const at = '2026-01-01T00:00:00Z';
const is = (
  type: SlurmJobCondition['type'],
  status: SlurmJobCondition['status'] = 'True',
): SlurmJobCondition => ({
  ...{ type, status, reason: 'X', message: '', lastTransitionTime: at },
});

describe('the next step', () => {
  for (const [step, status, spec, deleting] of [
    ['prepare', {}, {}],
    ['upload', { workDir: '/w' }, {}],
    ['build', { workDir: '/w', conditions: [is('Uploaded')] }, { build: ['make'] }],
    ['submit', { workDir: '/w', conditions: [is('Uploaded')] }, {}],
    ['follow', { workDir: '/w', jobID: '1', phase: 'Running' }, {}],
    ['cancel', { workDir: '/w', jobID: '1', phase: 'Running' }, { cancel: true }],
    ['cancel', {}, { activeDeadlineSeconds: 10 }],
    ['prepare', {}, { activeDeadlineSeconds: 1000 }],
    ['follow', { workDir: '/w', jobID: '1', conditions: [is('Failed', 'Unknown')] }, { cancel: true }],
    ['fetch', { phase: 'Fetching' }, { cancel: true }],
    ['cleanUp', { phase: 'Fetching', conditions: [is('ResultsFetched', 'False')] }, {}],
    ['none', { phase: 'Failed' }, { cancel: true }],
    ['discard', { phase: 'Running' }, {}, true],
  ] as [string, Partial<SlurmJobStatus>, SlurmJobSpec, boolean?][])
    it(`is ${step} for ${JSON.stringify(status)} ${JSON.stringify(spec)}`, () => {
      const job = {
        namespace: 'a',
        name: 'b',
        uid: 'c',
        spec,
        status: undefined,
        deleting: deleting ?? false,
      };
      assert.equal(
        nextStep(job, { phase: 'Waiting', acceptedTime: at, ...status }, Date.parse(at) + 10_000),
        step,
      );
    });
});

describe('the end of a job', () => {
  const now = Date.parse(at) + 60_000;
  const running: SlurmJobStatus = { phase: 'Running', acceptedTime: at, conditions: [is('Uploaded')] };
  const types = ({ conditions = [] }: SlurmJobStatus) =>
    conditions.map(({ type, status }) => `${type} ${status}`);

  it('has one verdict for any earlier conditions, which becomes True when the files are stored', () => {
    const canceled = withCondition(
      running,
      { type: 'Failed', status: 'Unknown', reason: 'Canceled', message: 'it was canceled' },
      now,
    );
    const verdict = { type: 'Complete', reason: 'Completed', message: 'status 0' } as const;
    const over = ended(canceled, verdict, now);
    assert.deepEqual([over.phase, types(over)], ['Fetching', ['Uploaded True', 'Complete Unknown']]);
    const last = finished(over, now + 5000);
    assert.deepEqual([last.phase, types(last)], ['Succeeded', ['Uploaded True', 'Complete True']]);
    assert.equal(last.conditions?.[1]?.lastTransitionTime, '2026-01-01T00:01:05Z');
  });
  it('is that of a canceled job, also if Slurm canceled it', () => {
    for (const [reason, phase] of [
      ['Canceled', 'Canceled'],
      ['CANCELLED', 'Canceled'],
      ['DeadlineExceeded', 'Failed'],
      ['FAILED', 'Failed'],
    ])
      assert.equal(
        finished(ended(running, { type: 'Failed', reason: reason ?? '', message: '' }, now), now).phase,
        phase,
      );
  });
  it('is recognized by each of Slurm’s states for it', () => {
    for (const state of [
      'OUT_OF_MEMORY',
      'BOOT_FAIL',
      'DEADLINE',
      'NODE_FAIL',
      'PREEMPTED',
      'TIMEOUT',
      'COMPLETED',
    ])
      assert.ok(isOver(state), state);
    for (const state of ['PENDING', 'RUNNING', 'COMPLETING', 'SUSPENDED', 'REQUEUED', 'CONFIGURING', ''])
      assert.ok(!isOver(state), state);
  });
  it('changes the time of a condition only with its status', () => {
    const said = (status: 'False' | 'True', message: string, when: number, before = running) =>
      withCondition(before, { type: 'Submitted', status, reason: 'X', message }, when);
    const first = said('False', 'one', now);
    const second = said('False', 'two', now + 5000, first);
    assert.equal(second.conditions?.at(-1)?.lastTransitionTime, '2026-01-01T00:01:00Z');
    assert.equal(said('False', 'two', now + 9000, second), second);
    assert.equal(
      said('True', 'two', now + 9000, second).conditions?.at(-1)?.lastTransitionTime,
      '2026-01-01T00:01:09Z',
    );
  });
});

it('has the exit status that its folder shows at last, the highest of an array', () => {
  const status: SlurmJobStatus = { phase: 'Fetching', acceptedTime: at };
  const left = (codes: Readonly<Record<string, number>>) => ({
    sizes: new Map(),
    exited: new Map(Object.entries(codes)),
  });
  const last = (spec: SlurmJobSpec, exitCode: number | undefined, codes: Readonly<Record<string, number>>) =>
    lastExitCode(spec, { ...status, exitCode }, left(codes));
  assert.equal(last({}, undefined, { '-': 3 }), 3);
  assert.equal(last({}, 143, { '-': 3 }), 143, 'Slurm has told it');
  assert.equal(last({}, 0, { '-': 3 }), 0);
  assert.equal(last({}, undefined, {}), undefined);
  assert.equal(last({ array: '0-1' }, undefined, { 0: 4, 1: 2 }), 4);
  assert.equal(last({ array: '0-1' }, 1, { 1: 2 }), 2);
  assert.equal(last({ array: '0-1' }, 0, {}), 0);
  assert.equal(last({ array: '0-1' }, undefined, {}), undefined);
});

it('copies the beginning of a file while it grows, and its end after the job has ended', () => {
  assert.deepEqual(nextPiece(10, 4, 100, false), { from: 4, to: 10 });
  assert.equal(nextPiece(80, 50, 100, false), undefined);
  assert.deepEqual(nextPiece(80, 50, 100, true), { from: 50, to: 80 });
  assert.deepEqual(nextPiece(100, 50, 100, true), { from: 50, to: 100 }, 'all of what just fits');
  const text = '\n[minik8s: 900 bytes left out]\n';
  assert.deepEqual(nextPiece(1000, 50, 100, true), { text });
  assert.deepEqual(nextPiece(1000, 50 + text.length, 100, true), { from: 950, to: 1000 });
  assert.equal(nextPiece(1000, 100 + text.length, 100, true), undefined);
});

it('chooses results by glob, the smallest first, up to the limit', () => {
  const files = [
    { path: 'out/b.csv', size: 90 },
    { path: 'out/a.csv', size: 20 },
    { path: 'x', size: 1 },
  ];
  const { fetched, dropped } = chooseResults(files, ['out/*.csv'], 100);
  assert.deepEqual(
    fetched.map(({ path }) => path),
    ['out/a.csv'],
  );
  assert.deepEqual(
    dropped.map(({ path }) => path),
    ['out/b.csv'],
  );
});

it('uses only the lines of known_hosts for the host', () => {
  const key = Buffer.from('AAAA', 'base64');
  const has = (line: string, port = 22) => hostKeys(line, 'login.example', port).has(key);
  assert.ok(has('login.example,10.0.0.1 ssh-ed25519 AAAA'));
  assert.ok(
    has('*.example ssh-ed25519 AAAA') &&
      has('ssh-ed25519 AAAA') &&
      has('[login.example]:2222 ssh-ed25519 AAAA', 2222),
  );
  assert.ok(
    !has('login.example ssh-ed25519 AAAA', 2222) &&
      !has('other ssh-ed25519 AAAA') &&
      !has('!login.example,* ssh-ed25519 AAAA'),
  );
  assert.ok(
    !has('ssh-ed25519 AAAA\n@revoked * ssh-ed25519 AAAA') && !has('@cert-authority * ssh-ed25519 AAAA'),
  );
});

it('reads a Secret, and reveals nothing of an invalid Secret', () => {
  const data = { host: 'h', user: 'u', password: 'secret\n', knownHosts: 'x' };
  const read = connectionSettings(data);
  assert.ok(typeof read !== 'string' && read.password === 'secret' && read.port === 22);
  const key = connectionSettings({
    ...{ host: 'h\n', user: 'u\n', port: '2222\n', password: ' p w \n' },
    ...{ privateKey: 'KEY\n', passphrase: 'x\n', knownHosts: 'ssh-ed25519 AAAA\n' },
  });
  assert.deepEqual(key, {
    ...{ host: 'h', user: 'u', port: 2222, password: ' p w ' },
    ...{ privateKey: 'KEY\n', passphrase: 'x', knownHosts: 'ssh-ed25519 AAAA\n' },
  });
  for (const wrong of [
    { ...data, host: '' },
    { ...data, host: 'a b' },
    { ...data, port: '70000' },
    { ...data, port: '0x16' },
    { ...data, password: '' },
    { ...data, knownHosts: ' ' },
  ]) {
    const fault = connectionSettings(wrong);
    assert.ok(typeof fault === 'string' && !fault.includes('secret'));
  }
});

it('among several lines of a task, the line with the end is used, or otherwise the first line', () => {
  const of = (spec: SlurmJobSpec, ...lines: readonly string[]) => {
    const job = { namespace: 'a', name: 'b', uid: 'c', spec, status: undefined, deleting: false };
    const looked = { sizes: new Map(), exited: new Map() };
    const tasks = queueLines(lines.map((line) => `${line}|||||None`).join('\n'));
    const { verdict } = observedStatus(
      job,
      { phase: 'Running', acceptedTime: at },
      { tasks, looked, forgotten: false },
    );
    assert.equal(lacksExitStatus(spec, tasks), verdict !== undefined);
    return verdict?.reason;
  };
  for (const lines of [
    ['7|COMPLETED', '7|RUNNING'],
    ['7|RUNNING', '7|COMPLETED'],
    ['7|COMPLETED', '7|FAILED'],
  ])
    assert.equal(of({}, ...lines), 'Completed', lines.join());
  const array = { array: '0-1' };
  assert.equal(of(array, '7_0|COMPLETED', '7_[0-1]|PENDING'), undefined);
  assert.equal(of(array, '7_1|FAILED', '7_[0-1]|PENDING', '7_0|COMPLETED'), 'FAILED');
});
