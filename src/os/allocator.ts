/**
 * Returns unused memory to the system. Node's buffers and TLS connections are on the heap of the C library.
 * glibc keeps free memory below any block that is still in use: after a burst of load, it keeps most of the
 * memory for good. `malloc_trim` returns the free pages in between. Node calls it through its own `node:ffi`,
 * which is experimental; no other module uses it. Other C libraries (musl) keep less memory and are not
 * trimmed.
 */

import type { DynamicLibraryResult } from 'node:ffi';
import { readFileSync, readlinkSync } from 'node:fs';
import { unwrittenMappings } from './mappings.ts';

const definitions = {
  malloc_trim: { arguments: ['u64'], return: 'i32' },
  madvise: { arguments: ['u64', 'u64', 'i32'], return: 'i32' },
} as const;

type Libc = DynamicLibraryResult<typeof definitions>;

/**
 * Returns a function that releases unused memory within some milliseconds; undefined if the C library has
 * none.
 */
export function memoryTrimmer(): (() => void) | undefined {
  const libc = openLibc();
  return libc && (() => void libc.functions.malloc_trim(0n));
}

/** The value of Linux' MADV_DONTNEED. */
const dontNeed = 4;
/** Largest page size of any machine; pages begin at multiples of it. */
const maxPage = 1n << 16n;

/**
 * Releases the memory of `bytes`, which must be a mapped file that was never written to: the next access
 * reads the file again. Any other content would be lost.
 */
export function giveBackMapped(bytes: Uint8Array): void {
  const libc = openLibc();
  if (!libc) return;
  const start = process.getBuiltinModule('node:ffi').getRawPointer(bytes);
  const first = ((start + maxPage - 1n) / maxPage) * maxPage;
  const last = ((start + BigInt(bytes.byteLength)) / maxPage) * maxPage;
  if (last > first) libc.functions.madvise(first, last - first, dontNeed);
}

/**
 * Releases the memory in which the executable itself is mapped. Pages that are used again are read from the
 * file again; pages that only the start has used stay released.
 */
export function giveBackExecutable(): void {
  const libc = openLibc();
  if (!libc) return;
  const smaps = readFileSync('/proc/self/smaps', 'utf8');
  for (const { start, end } of unwrittenMappings(smaps, readlinkSync('/proc/self/exe')))
    libc.functions.madvise(start, end - start, dontNeed);
}

/** Opens glibc; musl's library has another file name. */
function openLibc(): Libc | undefined {
  // Suppress Node's warning that FFI is experimental, which users cannot act on.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:ffi').dlopen('libc.so.6', definitions);
  } catch {
    return undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
