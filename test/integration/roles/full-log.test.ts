/** A master whose log cannot be written, as on a full disk. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { freePort } from '../../fixtures/free-port.ts';

const main = join(import.meta.dirname, '../../../src/main.ts');

test('a master serves while each line of its log fails with ENOSPC', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-full-log-'));
  const full = openSync('/dev/full', 'w');
  const port = await freePort();
  const flags = [
    '--data-dir',
    directory,
    '--bind-address',
    '127.0.0.1',
    '--port',
    `${port}`,
    '--log-level',
    'debug',
  ];
  const master = spawn(process.execPath, [main, 'master', ...flags], { stdio: ['ignore', 'ignore', full] });
  closeSync(full);
  const ended = once(master, 'exit');
  context.after(async () => {
    master.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true });
  });
  const isReady = () => {
    assert.equal(master.exitCode, null, 'the master has ended');
    return statusOf(port).then((status) => status === 200);
  };
  await eventually(systemClock, 'the master is ready', isReady, 60_000);
  assert.equal(master.exitCode, null);
});

/** Returns the status of /readyz; undefined while nothing listens. */
const statusOf = (port: number) =>
  new Promise<number | undefined>((resolve) => {
    request({ host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', () => resolve(undefined))
      .end();
  });
