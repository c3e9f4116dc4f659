import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  exitStatusOf,
  type Finding,
  fault,
  findingsOf,
  note,
  ok,
  warning,
  worstOf,
} from '../../../src/doctor/finding.ts';

const of = (...all: readonly ReturnType<typeof ok>[]): readonly Finding[] =>
  all.map((one) => ({ check: 'x', ...one }));

describe('findings', () => {
  it('lead to the exit status 0 without warnings, 1 with a warning, and 2 with a fault', () => {
    assert.equal(exitStatusOf([]), 0);
    assert.equal(exitStatusOf(of(ok('a'), note('b'))), 0);
    assert.equal(exitStatusOf(of(warning('a', 'why'), ok('b'))), 1);
    assert.equal(exitStatusOf(of(ok('a'), fault('b', 'why'), warning('c', 'why'))), 2);
  });

  it('are as bad as the worst one', () => {
    assert.equal(worstOf([]), 'ok');
    assert.equal(worstOf(of(note('a'), ok('b'))), 'note');
    assert.equal(worstOf(of(fault('a', 'why'), note('b'))), 'fault');
  });

  it('of unknown facts are one note with the reason', () => {
    const checks = [{ name: 'a', find: () => [ok('fine')] }];
    assert.deepEqual(findingsOf('subject', checks, { unknown: 'no rights' }, undefined), [
      { check: 'subject', severity: 'note', found: 'not examined: no rights' },
    ]);
  });

  it('of known facts have the name of their check', () => {
    const checks = [{ name: 'a', find: (facts: number) => [ok(`has ${facts}`), ok('more')] }];
    assert.deepEqual(findingsOf('subject', checks, { value: 7 }, undefined), [
      { check: 'a', severity: 'ok', found: 'has 7' },
      { check: 'a', severity: 'ok', found: 'more' },
    ]);
  });
});
