/**
 * The kustomize of the executable as a program of its own (config/kustomize): it builds one kustomization
 * with the library that kubectl 1.32 contains. It has no plugins, no containers and no Helm, starts no shell,
 * and is bounded in time and memory. Remote bases are fetched by git, as kubectl fetches them.
 */
import { spawn } from 'node:child_process';
import { lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorMessage } from '../../base/log.ts';
import { extractAsset } from '../../os/assets.ts';
import { makeTemporaryFolder } from '../../os/temporary-folder.ts';
import { cacheRoot } from '../connection/discovery-cache.ts';
import type { Io } from '../io.ts';
import {
  type BuildRequest,
  buildLimits,
  builtText,
  type ProgramEnd,
  programArguments,
  warningsOf,
} from './build-plan.ts';

type ProgramIo = Pick<Io, 'env' | 'homeDirectory' | 'signal' | 'err'>;

/**
 * Resolves to the objects as YAML, or to an empty text if they were written to files. Prints the warnings of
 * kustomize; rejects with its error. `cacheDirectory` is the value of --cache-dir.
 */
export async function buildKustomization(
  io: ProgramIo,
  request: BuildRequest,
  cacheDirectory?: string,
): Promise<string> {
  await using program = await placeProgram(io, cacheDirectory);
  const end = await runProgram(program.path, programArguments(request), io);
  const warnings = warningsOf(end);
  if (warnings !== '') io.err(warnings);
  return builtText(end);
}

interface PlacedProgram extends AsyncDisposable {
  readonly path: string;
}

/**
 * Writes the program to the user's cache, where later commands find it. If other users may write to the
 * cache, or this user may not, a temporary folder is used for this command.
 */
async function placeProgram(io: ProgramIo, cacheDirectory: string | undefined): Promise<PlacedProgram> {
  const folder = join(cacheRoot(io, cacheDirectory), 'minik8s', 'bin');
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (await isOwn(folder)) {
      const path = join(folder, 'kustomize');
      await extractAsset('kustomize.zst', path, 0o700);
      return { path, [Symbol.asyncDispose]: async () => {} };
    }
  } catch {
    // Without a cache the command works too, only slower.
  }
  const temporary = await makeTemporaryFolder(io.env.TMPDIR || tmpdir(), 'minik8s-kustomize-');
  const path = join(temporary.path, 'kustomize');
  await extractAsset('kustomize.zst', path, 0o700);
  return { path, [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose]() };
}

/** Returns true for a folder in which no other user can replace a file. */
async function isOwn(folder: string): Promise<boolean> {
  const found = await lstat(folder);
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

function runProgram(path: string, args: readonly string[], io: ProgramIo): Promise<ProgramEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd>();
  const { signal } = io;
  const child = spawn(path, [...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...io.env }, signal });
  const [out, errors] = [collect(buildLimits.outputBytes), collect(buildLimits.warningBytes)];
  const overflow = () => child.kill('SIGKILL');
  child.stdout.on('data', (chunk: Buffer) => out.add(chunk, overflow));
  child.stderr.on('data', (chunk: Buffer) => errors.add(chunk, () => {}));
  child.on('error', (cause) => {
    const why = `cannot run ${path}: ${errorMessage(cause)}; choose another folder with --cache-dir`;
    reject(signal.aborted ? signal.reason : new Error(why, { cause }));
  });
  child.on('close', (status, killedBy) => {
    const isTooLong = out.isFull();
    resolve({ status, killedBy, isTooLong, output: out.text(), errors: errors.text() });
  });
  return promise;
}

/** Returns a collector that keeps at most `limit` bytes. */
function collect(limit: number) {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    add(chunk: Buffer, whenFull: () => void): void {
      if (size + chunk.length <= limit) chunks.push(chunk);
      else whenFull();
      size += chunk.length;
    },
    isFull: () => size > limit,
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
}
