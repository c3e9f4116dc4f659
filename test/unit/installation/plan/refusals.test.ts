import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireNoOther } from '../../../../src/installation/plan/refusals.ts';

test('a process that holds the data directory was started by hand only if the service is not there', () => {
  for (const serviceState of ['active', 'activating', 'deactivating', 'reloading'])
    requireNoOther(7, { serviceState });
  for (const serviceState of ['inactive', 'failed']) {
    assert.throws(() => requireNoOther(7, { serviceState }), /process 7, started by hand; stop it first/);
    requireNoOther(undefined, { serviceState });
  }
});
