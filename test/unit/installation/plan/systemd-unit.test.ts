import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stopSecondsFor } from '../../../../src/installation/plan/systemd-unit.ts';

test('a stop may take longer than the pods get for theirs, and never less than 90 seconds', () => {
  assert.equal(stopSecondsFor(0), 90);
  assert.equal(stopSecondsFor(60_000), 90);
  assert.equal(stopSecondsFor(600_500), 631);
});
