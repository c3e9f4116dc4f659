import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceStateOf } from '../../../src/installation/machine-facts.ts';
import type { Exec } from '../../../src/os/exec.ts';

test('the state of the service is the one that systemd names', async () => {
  const calls: string[] = [];
  const exec: Exec = async (file, args) => {
    calls.push([file, ...args].join(' '));
    return { stdout: 'activating\n', stderr: '' };
  };
  assert.equal(await serviceStateOf(exec), 'activating');
  assert.deepEqual(calls, ['systemctl show --property ActiveState --value minik8s.service']);
});
