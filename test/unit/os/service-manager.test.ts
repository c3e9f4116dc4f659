import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Exec } from '../../../src/os/exec.ts';
import { openServiceManager } from '../../../src/os/service-manager.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

function opened(environment: Record<string, string | undefined>, failure?: Error) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const sent: string[] = [];
  const errors: unknown[] = [];
  const exec: Exec = async (file, args, options) => {
    sent.push([file, ...args, `to ${options?.env?.NOTIFY_SOCKET}`].join(' '));
    if (failure) throw failure;
    return { stdout: '', stderr: '' };
  };
  const onError = (error: unknown) => void errors.push(error);
  const manager = openServiceManager({ environment, exec, clock, onError, signal: stop.signal });
  return { manager, clock, sent, errors, stop };
}

const alive = 'systemd-notify READY=1 WATCHDOG=1 to /run/notify';

test('without a service manager nothing is sent', async () => {
  const { manager, sent } = opened({});
  await manager.ready('cluster');
  assert.deepEqual(sent, []);
});

test('child processes do not inherit the connection', () => {
  const watchdog = { WATCHDOG_USEC: '1', WATCHDOG_PID: '1' };
  const environment = { PATH: '/bin', NOTIFY_SOCKET: '/run/notify', ...watchdog };
  opened(environment);
  assert.deepEqual(environment, { PATH: '/bin' });
});

test('ready is sent with a status; without a watchdog nothing follows', async () => {
  const { manager, sent, clock } = opened({ NOTIFY_SOCKET: '/run/notify' });
  await manager.ready('node vm1');
  await clock.advance(600_000);
  assert.deepEqual(sent, ['systemd-notify READY=1 STATUS=node vm1 to /run/notify']);
});

test('the watchdog is notified three times within its timeout, until it is stopped', async () => {
  const { manager, sent, clock, stop } = opened({ NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '120000000' });
  await clock.advance(600_000);
  assert.deepEqual(sent, [], 'a process that starts is not watched');
  await manager.ready('waiting for approval');
  await clock.advance(39_000);
  assert.deepEqual(sent.slice(1), [alive]);
  await manager.ready('node vm1');
  await clock.advance(81_000);
  assert.deepEqual(sent.slice(1), [
    alive,
    'systemd-notify READY=1 STATUS=node vm1 to /run/notify',
    alive,
    alive,
    alive,
  ]);
  stop.abort();
  await clock.advance(600_000);
  assert.equal(sent.length, 6);
});

test('a notice that cannot be sent is reported, and the next ones are sent all the same', async () => {
  const failure = new Error('no systemd-notify');
  const { manager, clock, errors } = opened(
    { NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '3000000' },
    failure,
  );
  await manager.ready('x');
  await clock.advance(1_500);
  assert.deepEqual(errors, [failure, failure, failure]);
});

test('a file for the status line is written when the service is ready, and removed at the next start', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-ready-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'ready');
  writeFileSync(path, 'of an earlier process\n');
  const environment = { SERVICE_READY_FILE: path };
  const { manager, sent, errors } = opened(environment);
  assert.deepEqual(environment, {});
  assert.ok(!existsSync(path), 'an earlier process has left it');
  await manager.ready('waiting for approval');
  await manager.ready('node vm1');
  assert.equal(readFileSync(path, 'utf8'), 'node vm1\n');
  assert.deepEqual([sent, errors], [[], []]);

  const broken = opened({ SERVICE_READY_FILE: join(directory, 'none/ready') });
  await broken.manager.ready('node vm1');
  assert.match(String(broken.errors[0]), /ENOENT/);
});
