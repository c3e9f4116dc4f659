import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockChecks } from '../../../../src/doctor/checks/clock.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

const at = (isSynchronised: boolean | undefined, hasService = true) =>
  linesOf(observe(clockChecks, 'clock-synchronised', { isSynchronised, hasService }));

test('the advice for an unsynchronized clock is to enable or install the time service', () => {
  assert.deepEqual(at(true), ['ok: the clock is synchronised']);
  assert.deepEqual(at(false), ['warning: the clock is not synchronised # timedatectl set-ntp true']);
  assert.match(at(false, false)[0] ?? '', /^warning: .* # apt-get .*install .* chrony$/);
  assert.deepEqual(at(undefined), ['note: whether the clock is synchronised is not known']);
});
