/**
 * The code that V8 compiles from an application, in the same bytes in every build. V8 seeds its hash tables
 * at random, which changes the order of what it stores. With fixed seeds it stores the same, but also a
 * digest of its flags, with which no program without these flags would accept the cache. That digest is
 * therefore replaced by the one of a cache that was made without flags. A build in which the result is not
 * accepted fails.
 */
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const warm = join(import.meta.dirname, 'warm.ts');
const check = join(import.meta.dirname, 'check-code-cache.ts');

/** Flags without which the order of hash tables, and the set of functions in memory, differ in each run. */
const deterministic = ['--hash-seed=1', '--random-seed=1', '--predictable', '--no-flush-bytecode'];

/** Variables such as NODE_OPTIONS and NODE_COMPILE_CACHE would change what V8 stores. */
const env = { PATH: process.env.PATH };

/** Position of the digest of V8's flags: after a magic number, V8's version and the source's digest. */
const flagsAt = 12;

/** Writes the code cache of an application's source to `target`. `node` are the words that run Node. */
export async function makeCodeCache(node: readonly string[], source: string, target: string): Promise<void> {
  const [program = '', ...words] = node;
  const usual = `${target}.usual`;
  try {
    await Promise.all([
      run(program, [...words, ...deterministic, warm, source, target], { env }),
      run(program, [...words, warm, source, usual], { env }),
    ]);
    await writeFile(target, withFlagsOf(await readFile(target), await readFile(usual)));
  } finally {
    await rm(usual, { force: true });
  }
  await run(program, [...words, check, source, target], { env });
}

/** Returns a cache with the digest of flags of another cache of the same source. */
export function withFlagsOf(cache: Buffer, usual: Buffer): Buffer {
  if (cache.length < flagsAt + 4 || !cache.subarray(0, flagsAt).equals(usual.subarray(0, flagsAt)))
    throw new Error('the header of V8’s code cache is not as config/build/code-cache.ts expects it');
  const result = Buffer.from(cache);
  usual.copy(result, flagsAt, flagsAt, flagsAt + 4);
  return result;
}
