import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemdControl } from '../../../src/installation/systemd-control.ts';
import type { Exec } from '../../../src/os/exec.ts';

test('the state of the service is the state that systemd reports', async () => {
  const calls: string[] = [];
  const exec: Exec = async (file, args) => {
    calls.push([file, ...args].join(' '));
    return { stdout: 'activating\n', stderr: '' };
  };
  assert.equal(await systemdControl.state(exec), 'activating');
  assert.deepEqual(calls, ['systemctl show --property ActiveState --value minik8s.service']);
});
