/** Copies by running programs in a container: `test`, tar, and sh and tail if a copy is resumed. */
import { basename, posix, resolve } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { sleep } from '../../base/clock.ts';
import { TransportError } from '../../client/transport-error.ts';
import type { Io, Stdio } from '../io.ts';
import { LostConnection } from '../streaming/run-command.ts';
import { archiveOf, extract } from './copy.ts';
import { type CopyPlan, memberPrefix, splitRemote } from './cp-plan.ts';

/** Runs a program in the container and resolves to its exit code. */
export type Program = (command: readonly string[], stdio: Stdio, stdin: boolean) => Promise<number>;

export interface Transfer {
  readonly io: Pick<Io, 'clock' | 'signal' | 'err' | 'stdio'>;
  readonly program: Program;
}

/**
 * Copies a file or directory to the container and resolves to the exit code of tar. With `preserves` false
 * the owners and permissions are not kept. If the copy ends early, `err` says that the container may have a
 * part, because the lost connection may be the only one to the container.
 */
export async function upload(
  { io, program }: Transfer,
  { local, remote }: Pick<Extract<CopyPlan, { direction: 'to pod' }>, 'local' | 'remote'>,
  preserves: boolean,
): Promise<number> {
  const own = basename(resolve(local));
  const { directory, name } = (await isDirectory(program, remote.path))
    ? { directory: remote.path, name: own }
    : splitRemote(remote.path);
  const archive = archiveOf(local, name || own, io.err);
  let isBegun = false;
  const begun = async function* () {
    isBegun = true;
    yield* archive;
  };
  const stdin = Readable.from(begun(), { objectMode: false });
  const { stdout, stderr } = io.stdio();
  // -m: extracted files get the current time, not the times in the archive.
  const owners = preserves ? [] : ['--no-same-permissions', '--no-same-owner'];
  const command = ['tar', ...owners, '-xmf', '-', '-C', directory];
  try {
    return await program(command, { stdin, stdout, stderr }, true);
  } catch (error) {
    const place = `${remote.pod}:${posix.join(directory, name || own)}`;
    if (isBegun) io.err(`warning: ${place} may have only a part of its new content\n`);
    throw error;
  }
}

const isDirectory = async (program: Program, path: string) => (await testOf(program, '-d', path)) === 0;

/** Resolves to true if the container has neither a file nor a symlink at the path. */
export const isMissing = async (program: Program, path: string) =>
  (await testOf(program, '-e', path)) === 1 && (await testOf(program, '-L', path)) === 1;

/**
 * Resolves to the exit code of `test` in the container: 0 for true, 1 for false. Resolves to undefined if
 * `test` cannot be run: the container may lack it, and tar reports any problem itself.
 */
async function testOf(program: Program, question: string, path: string): Promise<number | undefined> {
  const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const stdio = { stdin: Readable.from([]), stdout: nowhere(), stderr: nowhere() };
  try {
    return await program(['test', question, path], stdio, false);
  } catch {
    return undefined;
  }
}

/**
 * Copies a file or directory from the container and resolves to the exit code of tar. `retries`: maximum
 * number of times that a lost connection is resumed; below 0: no limit.
 */
export async function download(
  transfer: Transfer,
  { local, remote }: Pick<Extract<CopyPlan, { direction: 'from pod' }>, 'local' | 'remote'>,
  retries: number,
): Promise<number> {
  const { io } = transfer;
  const archive = new PassThrough();
  const packed = pack(transfer, remote.path, retries, archive).finally(() => archive.end());
  const extraction = { prefix: memberPrefix(remote.path), destination: local, err: io.err };
  let gaveUp = false;
  const extracted = extract(archive, extraction).catch((error) => {
    gaveUp = !archive.writableEnded;
    archive.destroy();
    throw error;
  });
  const [code, result] = await Promise.allSettled([packed, extracted]);
  if (result.status === 'rejected' && gaveUp) throw result.reason;
  // tar's own error is more useful than the error of an archive that ended too early.
  if (code.status === 'rejected') throw code.reason;
  if (code.value === 0 && result.status === 'rejected') throw result.reason;
  return code.value;
}

/** Delay in milliseconds before a copy is resumed: the cause of the lost connection may persist. */
const retryMs = 1000;

/**
 * Writes the archive of a path, over as many connections as needed, up to `retries`; resolves to tar's exit
 * code.
 */
async function pack(
  { io, program }: Transfer,
  path: string,
  retries: number,
  archive: Writable,
): Promise<number> {
  let received = 0;
  const { stderr } = io.stdio();
  const counted = (chunk: Uint8Array) => {
    received += chunk.length;
  };
  for (let tries = 1; ; tries++) {
    // New streams for each connection: a pipeline leaves its listeners on the last one.
    const stdout = onto(archive, counted);
    const streams = { stdin: Readable.from([]), stdout, stderr: onto(stderr) };
    try {
      return await packed(program, packCommand(path, received), streams);
    } catch (error) {
      const isSpent = retries >= 0 && tries > retries;
      if (!isLostConnection(error) || io.signal.aborted || isSpent) throw error;
      io.err(`Resuming copy at ${received} bytes, retry ${tries}/${retries}\n`);
      await sleep(io.clock, retryMs, io.signal);
    }
  }
}

/**
 * Returns a stream that calls `see` with each part, and then writes the part to another stream. Closed if the
 * other one is.
 */
function onto(target: Writable, see: (chunk: Uint8Array) => void = () => undefined): Writable {
  const stream = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      see(chunk);
      target.write(chunk, done);
    },
  });
  const close = () => void stream.destroy();
  target.once('close', close);
  stream.once('close', () => target.off('close', close));
  return stream;
}

/** Runs a program, and returns or throws when what it has written has been passed on. */
async function packed(program: Program, command: readonly string[], stdio: Stdio): Promise<number> {
  try {
    return await program(command, stdio, false);
  } finally {
    await Promise.all([stdio.stdout, stdio.stderr].map(passedOn));
  }
}

/**
 * Ends a stream and resolves when the parts that were written to it have been passed on, or never will be. A
 * program has ended while its last parts still wait: `pipeline` with `end: false` does not wait for them.
 */
async function passedOn(stream: Writable): Promise<void> {
  stream.end();
  await finished(stream).catch(() => undefined);
}

/** Returns the command that writes the archive of a path without its first `received` bytes. */
const packCommand = (path: string, received: number): string[] =>
  received === 0
    ? ['tar', 'cf', '-', path]
    : ['sh', '-c', 'tar cf - "$1" | tail -c "+$2"', 'sh', path, String(received + 1)];

const isLostConnection = (error: unknown): boolean =>
  error instanceof LostConnection || error instanceof TransportError;
