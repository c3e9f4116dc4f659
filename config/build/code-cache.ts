/**
 * The code that V8 compiles from an application, in the same bytes in every build. V8 seeds its hash tables
 * at random, which changes the order of what it stores. With fixed seeds it stores the same, but also a
 * digest of its flags, with which no program without these flags would accept the cache. That digest is
 * therefore replaced by the one of a cache that was made without flags. A build in which the result is not
 * accepted fails.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const check = join(import.meta.dirname, 'check-code-cache.ts');

/**
 * Flags without which the order of hash tables, and the set of functions in memory, differ in each run. The
 * sizes avoid collections of the old part of the heap: V8 stores 4 unused bytes of each function, which are 0
 * only in memory that nothing used before.
 */
const deterministic = [
  ...['--hash-seed=1', '--random-seed=1', '--predictable', '--no-flush-bytecode'],
  ...['--initial-heap-size=2048', '--min-semi-space-size=64'],
];

/** Variables such as NODE_OPTIONS and NODE_COMPILE_CACHE would change what V8 stores. */
const env = { PATH: process.env.PATH };

const maxBuffer = 64 * 1024 * 1024;
/** Offsets of the digests of the source and of V8's flags, behind a magic number and V8's version. */
const sourceAt = 8;
const flagsAt = 12;

/** A script, and the file for the code that V8 compiles from it. */
export interface CachedScript {
  readonly source: string;
  readonly cache: string;
}

/**
 * Makes the code caches of scripts. `node` are the words that run Node, `warm` those of a program that runs
 * the scripts and writes the caches, with these environment variables.
 */
export async function makeCodeCaches(
  node: readonly string[],
  warm: readonly string[],
  scripts: readonly CachedScript[],
  variables: Readonly<Record<string, string>> = {},
): Promise<void> {
  const [program = '', ...words] = node;
  const [, usual] = await Promise.all([
    run(program, [...words, ...deterministic, ...warm], { env: { ...env, ...variables }, maxBuffer }),
    run(program, [...words, '--print', headerOfAnyCache], { env }),
  ]);
  const header = Buffer.from(usual.stdout.trim(), 'hex');
  for (const { cache } of scripts) await writeFile(cache, withFlagsOf(await readFile(cache), header));
  await run(program, [...words, check, ...scripts.flatMap(({ source, cache }) => [source, cache])], { env });
}

const headerOfAnyCache = `new (require('node:vm').Script)('0').createCachedData().toString('hex', 0, ${flagsAt + 4})`;

/** Returns a cache with the digest of flags of another cache, which the same program made. */
export function withFlagsOf(cache: Buffer, usual: Buffer): Buffer {
  if (cache.length < flagsAt + 4 || !cache.subarray(0, sourceAt).equals(usual.subarray(0, sourceAt)))
    throw new Error('the header of V8’s code cache is not as config/build/code-cache.ts expects it');
  const result = Buffer.from(cache);
  usual.copy(result, flagsAt, flagsAt, flagsAt + 4);
  return result;
}
