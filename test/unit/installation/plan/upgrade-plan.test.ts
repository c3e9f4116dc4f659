import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  afterFailure,
  describeUpgradeStep,
  type Executable,
  executableProblem,
  interruptedAt,
  isOlder,
  isVersion,
  type UpgradeRequest,
  type UpgradeStep,
  upgradePlan,
} from '../../../../src/installation/plan/upgrade-plan.ts';

const old: Executable = { version: '1.0.0+gaaaaaaa', sha256: 'a'.repeat(64), dataFormat: 1 };
const next: Executable = { version: '1.1.0', sha256: 'b'.repeat(64), dataFormat: 1 };
const usual: UpgradeRequest = {
  current: old,
  next,
  allowsDowngrade: false,
  backsUp: true,
  timeoutMs: 60_000,
};
const up = { role: 'up' } as const;
const node = { role: 'node' } as const;
const kinds = (steps: readonly UpgradeStep[]) => steps.map(({ kind }) => kind);

test('a master is backed up, and its file is kept, before it is replaced', () => {
  assert.deepEqual(upgradePlan(up, usual), [
    { kind: 'back-up' },
    { kind: 'keep-old' },
    { kind: 'replace' },
    { kind: 'restart', timeoutMs: 60_000 },
    { kind: 'verify', expected: next },
  ]);
});

test('a node has nothing to back up, and --no-backup leaves the backup out', () => {
  const others = ['keep-old', 'replace', 'restart', 'verify'];
  assert.deepEqual(kinds(upgradePlan(node, usual)), others);
  assert.deepEqual(kinds(upgradePlan({ role: 'master' }, { ...usual, backsUp: false })), others);
});

test('the installed file needs no step', () => {
  assert.deepEqual(upgradePlan(up, { ...usual, next: { ...next, sha256: old.sha256 } }), []);
});

test('an upgrade that was interrupted after the file was replaced starts the service with the file', () => {
  const request = { ...usual, interrupted: 'before-start' } as const;
  assert.deepEqual(upgradePlan(up, request), [
    { kind: 'restart', timeoutMs: 60_000 },
    { kind: 'verify', expected: next },
  ]);
  assert.deepEqual(kinds(afterFailure('restart', up, request)), ['put-back', 'restart', 'verify']);
});

test('a return keeps the former file under its name until the service runs it', () => {
  const back = { ...usual, goesBack: true, allowsDowngrade: true, backsUp: false, current: next, next: old };
  const last = ['restart', 'verify', 'rename-replaced'];
  assert.deepEqual(kinds(upgradePlan(up, back)), ['keep-replaced', 'replace', ...last]);
  assert.deepEqual(kinds(upgradePlan(up, { ...back, interrupted: 'before-start' })), last);
  assert.deepEqual(kinds(upgradePlan(up, { ...back, interrupted: 'after-start' })), ['rename-replaced']);
  assert.deepEqual(afterFailure('restart', up, back)[0], { kind: 'put-back', kept: 'replaced' });
  assert.deepEqual(afterFailure('rename-replaced', up, back), []);
});

test('an upgrade is interrupted if the service does not run the installed file, or a file was not renamed', () => {
  const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
  assert.equal(interruptedAt(a, a, b, false), 'before-start');
  assert.equal(interruptedAt(a, a, undefined, true), 'before-start');
  assert.equal(interruptedAt(a, a, a, true), 'after-start');
  assert.equal(interruptedAt(a, a, a, false), undefined);
  assert.equal(interruptedAt(a, b, a, true), undefined);
});

test('an older version is refused unless it is allowed', () => {
  const back = { ...usual, current: next, next: old };
  assert.throws(() => upgradePlan(up, back), {
    message:
      '1.0.0+gaaaaaaa is older than 1.1.0, which is installed: give --allow-downgrade, or go back to the previous file with minik8s upgrade --back',
  });
  assert.ok(kinds(upgradePlan(up, { ...back, allowsDowngrade: true })).includes('replace'));
});

test('data of a newer format are converted back by the newer file, while nothing runs', () => {
  const back = { ...usual, allowsDowngrade: true, current: { ...next, dataFormat: 3 }, next: old };
  assert.deepEqual(upgradePlan(up, back).slice(1, 5), [
    { kind: 'keep-old' },
    { kind: 'stop' },
    { kind: 'lower-data', format: 1 },
    { kind: 'replace' },
  ]);
  assert.ok(!kinds(upgradePlan(node, back)).includes('lower-data'));
});

test('a failure before the file is replaced changes nothing', () => {
  assert.deepEqual(afterFailure('back-up', up, usual), []);
  assert.deepEqual(afterFailure('keep-old', up, usual), []);
});

test('a failure after the stop starts the installed file again', () => {
  for (const failed of ['stop', 'lower-data', 'replace'] as const)
    assert.deepEqual(afterFailure(failed, up, usual), [
      { kind: 'restart', timeoutMs: 60_000 },
      { kind: 'verify', expected: old },
    ]);
});

test('a version that does not start is replaced by the previous version, which is checked', () => {
  for (const failed of ['restart', 'verify'] as const)
    assert.deepEqual(afterFailure(failed, up, usual), [
      { kind: 'put-back', kept: 'old' },
      { kind: 'restart', timeoutMs: 60_000 },
      { kind: 'verify', expected: old },
    ]);
});

test('the data that the new version may have changed are restored before its file is removed', () => {
  const raised = { ...usual, next: { ...next, dataFormat: 2 } };
  assert.deepEqual(afterFailure('restart', up, raised).slice(0, 3), [
    { kind: 'stop' },
    { kind: 'lower-data', format: 1 },
    { kind: 'put-back', kept: 'old' },
  ]);
  assert.equal(afterFailure('restart', node, raised)[0]?.kind, 'put-back');
});

test('each step has a line that names the affected files', () => {
  const lines = [...upgradePlan(up, usual), ...afterFailure('verify', up, usual)].map(describeUpgradeStep);
  assert.equal(new Set(lines).size, 7);
  assert.ok(lines.includes('check that the service minik8s runs 1.1.0'));
});

test('versions are compared by their numbers', () => {
  const cases: [string, string, boolean][] = [
    ['0.9.0', '0.10.0', true],
    ['0.10.0', '0.9.0', false],
    ['1.0.0', '0.10.9', false],
    ['1.0.0+gabc', '1.0.0+gdef.dirty', false],
    ['1.2.3', '1.2.4+development', true],
  ];
  for (const [a, b, expected] of cases) assert.equal(isOlder(a, b), expected, `${a} ${b}`);
});

test('only a valid version is accepted as a version', () => {
  for (const text of ['0.1.0', '0.1.0+g1a2b3c4.dirty', '1.0.0-rc.1']) assert.ok(isVersion(text), text);
  for (const text of ['', 'v1.0.0', '1.0', '1.0.0 and more', '1.0.0\n2.0.0'])
    assert.ok(!isVersion(text), text);
});

test('a file that is not an executable of this architecture is refused', () => {
  const elf = (machine: number) => {
    const head = Buffer.alloc(20);
    head.writeUInt32BE(0x7f454c46, 0);
    head.writeUInt16LE(machine, 18);
    return head;
  };
  assert.equal(executableProblem(elf(62), 'x64'), undefined);
  assert.equal(executableProblem(elf(183), 'arm64'), undefined);
  assert.equal(executableProblem(elf(183), 'x64'), 'is an executable for arm64, and this machine is x64');
  assert.equal(
    executableProblem(elf(8), 'x64'),
    'is an executable for ELF machine 8, and this machine is x64',
  );
  for (const text of ['', '#!/bin/sh\necho a long script\n'])
    assert.match(executableProblem(Buffer.from(text), 'x64') ?? '', /^is not a Linux executable/);
});
