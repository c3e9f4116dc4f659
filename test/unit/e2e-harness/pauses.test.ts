import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pauseMs } from '../../fixtures/eventually.ts';

it('the pause of an integration test grows with its probe and with the time waited, to 200 ms', () => {
  assert.deepEqual(
    [
      [0.1, 0],
      [20, 50],
      [1, 900],
      [1, 60_000],
      [500, 500],
    ].map(([probe = 0, waited = 0]) => pauseMs(probe, waited)),
    [3, 60, 90, 200, 200],
  );
});
