/** `ctl cp` through tar, sh and test as they are on this machine, over connections that get lost. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, test } from 'node:test';
import { download, isMissing, type Program, upload } from '../../../../src/cli/copy/transfer.ts';
import { LostConnection } from '../../../../src/cli/streaming/run-command.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'minik8s-cp-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Runs the program on this machine. */
const here: Program = async (command, { stdin, stdout, stderr }, reads) => {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { stdio: [reads ? 'pipe' : 'ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const streams = [
    pipeline(child.stdout as Readable, stdout, { end: false }),
    pipeline(child.stderr as Readable, stderr, { end: false }),
    ...(child.stdin ? [pipeline(stdin, child.stdin)] : []),
  ];
  await Promise.all(streams);
  const [code] = (await ended) as [number];
  return code;
};

/**
 * Returns a program that loses the first connections of an archive, each after its number of bytes, and the
 * commands that have run.
 */
function losing(...lengths: readonly number[]) {
  const commands: (readonly string[])[] = [];
  const program: Program = async (command, stdio, reads) => {
    if (command[0] === 'test') return here(command, stdio, reads);
    const length = lengths[commands.length];
    commands.push(command);
    if (length === undefined) return here(command, stdio, reads);
    const parts: Buffer[] = [];
    const kept = new Writable({
      write(part, _encoding, done) {
        parts.push(part);
        done();
      },
    });
    await here(command, { ...stdio, stdout: kept }, reads);
    const sent = Buffer.concat(parts).subarray(0, length);
    if (sent.length > 0) await new Promise((done) => stdio.stdout.write(sent, done));
    throw new LostConnection();
  };
  return { program, commands };
}

/** A clock whose timers are due at once; `said` are their delays and the messages. */
function transferOf(program: Program) {
  const said: string[] = [];
  const err = (text: string) => void said.push(text);
  const clock = new FakeClock();
  clock.after = (ms, fn) => {
    said.push(`waited ${ms} ms\n`);
    clock.soon(fn);
    return { cancel() {} };
  };
  const sink = () =>
    new Writable({
      write(part, _encoding, done) {
        err(String(part));
        done();
      },
    });
  const stderr = sink();
  const stdio = () => ({ stdin: Readable.from([]), stdout: sink(), stderr });
  const { signal } = new AbortController();
  return { transfer: { io: { clock, signal, err, stdio }, program }, said, stderr };
}

const content = Buffer.from('0123456789abcdef'.repeat(10_000));

async function downloading(retries: number, ...lost: readonly number[]) {
  const from = join(directory, 'from');
  writeFileSync(from, content);
  const { program, commands } = losing(...lost);
  const { transfer, said, stderr } = transferOf(program);
  const local = join(directory, 'to');
  const remote = { pod: 'web', path: from };
  try {
    const code = await download(transfer, { local, remote }, retries);
    return {
      code,
      commands,
      said,
      listeners: stderr.listenerCount('error'),
      whole: readFileSync(local).equals(content),
    };
  } finally {
  }
}

test('a copy from a container continues where its connection was lost, and is whole', async () => {
  const { code, commands, said, whole } = await downloading(2, 70_001, 50_000);
  assert.deepEqual([code, whole], [0, true]);
  assert.deepEqual(
    commands.map((command) => command.at(-1)),
    [join(directory, 'from'), '70002', '120002'],
  );
  assert.deepEqual(
    said.filter((line) => line.startsWith('Resuming')),
    ['Resuming copy at 70001 bytes, retry 1/2\n', 'Resuming copy at 120001 bytes, retry 2/2\n'],
  );
  assert.equal(said.filter((line) => line === 'waited 1000 ms\n').length, 2);
});

test('a connection that was lost before the first byte begins the copy again', async () => {
  const { whole, commands } = await downloading(1, 0);
  assert.deepEqual([whole, commands.map(([program]) => program)], [true, ['tar', 'tar']]);
});

test('a copy is resumed as often as requested and not more, and without a limit below 0', async () => {
  await assert.rejects(downloading(0, 10), /the connection was lost before the command ended/);
  await assert.rejects(downloading(1, 10, 10), /the connection was lost/);
  const { whole, listeners } = await downloading(-1, ...Array(6).fill(10));
  assert.deepEqual([whole, listeners], [true, 0], 'connections leave no listeners behind');
});

test('a copy that is not whole leaves no new file, and warns about a file that existed before', async () => {
  await assert.rejects(downloading(0, 70_000), /the connection was lost/);
  assert.equal(existsSync(join(directory, 'to')), false);
  writeFileSync(join(directory, 'to'), 'before');
  const { program } = losing(70_000);
  const { transfer, said } = transferOf(program);
  const plan = { local: join(directory, 'to'), remote: { pod: 'web', path: join(directory, 'from') } };
  await assert.rejects(download(transfer, plan, 0), /the connection was lost/);
  assert.equal(said.at(-1), `warning: ${plan.local} has only a part of its new content\n`);
  assert.equal(existsSync(plan.local), true);
});

test('the failure of tar is the exit code of the copy, not an error about its archive', async () => {
  const { transfer, said } = transferOf(here);
  const missing = { local: join(directory, 'to'), remote: { pod: 'web', path: join(directory, 'none') } };
  const code = await download(transfer, missing, 0);
  assert.notEqual(code, 0);
  assert.match(said.join(''), /none: .*No such file/);
  assert.equal(existsSync(missing.local), false);
});

test('a local file that cannot be written ends the copy with its own error', async () => {
  writeFileSync(join(directory, 'from'), content);
  writeFileSync(join(directory, 'file'), '');
  const { transfer } = transferOf(here);
  const plan = { local: join(directory, 'file/to'), remote: { pod: 'web', path: join(directory, 'from') } };
  await assert.rejects(download(transfer, plan, 0), /ENOTDIR|EEXIST/);
});

test('a copy to a container goes into an existing directory, and else gets the name of the path', async () => {
  const local = join(directory, 'own');
  mkdirSync(local);
  writeFileSync(join(local, 'run.sh'), 'echo\n');
  chmodSync(join(local, 'run.sh'), 0o751);
  mkdirSync(join(directory, 'there'));
  const { transfer } = transferOf(here);
  const to = (path: string) => ({ local, remote: { pod: 'web', path: join(directory, path) } });
  assert.equal(await upload(transfer, to('there'), true), 0);
  assert.equal(readFileSync(join(directory, 'there/own/run.sh'), 'utf8'), 'echo\n');
  assert.equal(await upload(transfer, to('there/other'), true), 0);
  assert.equal(statSync(join(directory, 'there/other/run.sh')).mode & 0o777, 0o751);
  assert.notEqual(await upload(transfer, to('none/other'), true), 0, 'tar names the missing directory');
});

test('a copy to a container that ends early warns about the part, unless nothing was sent', async () => {
  const local = join(directory, 'a');
  writeFileSync(local, content);
  const upTo =
    (isRead: boolean): Program =>
    async (command, { stdin }) => {
      if (command[0] === 'test') return 1;
      if (isRead) await once(stdin, 'readable');
      throw new LostConnection();
    };
  const plan = { local, remote: { pod: 'web', path: '/srv/b' } };
  for (const [isRead, expected] of [
    [true, ['warning: web:/srv/b may have only a part of its new content\n']],
    [false, []],
  ] as const) {
    const { transfer, said } = transferOf(upTo(isRead));
    await assert.rejects(upload(transfer, plan, true), LostConnection);
    assert.deepEqual(said, expected);
  }
});

test('owners and permissions are not kept on request', async () => {
  writeFileSync(join(directory, 'a'), '');
  const commands: (readonly string[])[] = [];
  const program: Program = (command, stdio, reads) => {
    commands.push(command);
    return here(command, stdio, reads);
  };
  const { transfer } = transferOf(program);
  const plan = { local: join(directory, 'a'), remote: { pod: 'web', path: join(directory, 'b') } };
  for (const preserves of [true, false]) assert.equal(await upload(transfer, plan, preserves), 0);
  const flags = commands.map((command) => command.includes('--no-same-owner'));
  assert.deepEqual(
    flags.filter((_, index) => commands[index]?.[0] === 'tar'),
    [false, true],
  );
});

test('only a path that is neither a file nor a link is missing; a container without test decides nothing', async () => {
  writeFileSync(join(directory, 'a'), '');
  assert.equal(await isMissing(here, join(directory, 'a')), false);
  assert.equal(await isMissing(here, join(directory, 'b')), true);
  const without: Program = async () => {
    throw new Error('test: not found');
  };
  assert.equal(await isMissing(without, '/x'), false);
  assert.equal(await isMissing(async () => 127, '/x'), false);
});
