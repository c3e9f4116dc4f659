/**
 * Gives memory back to the system that is not needed. Node's buffers and TLS connections live on the heap of the C library, and
 * glibc keeps what is free below anything that is still in use: after a burst of load most of it, for good. `malloc_trim`
 * gives the pages in between back. Node reaches it by its own `node:ffi`, which is experimental: this is the only module that
 * knows of it. Another C library (musl) keeps less, and is left alone.
 */
import type { DynamicLibraryResult } from 'node:ffi';

const definitions = {
  malloc_trim: { arguments: ['u64'], return: 'i32' },
  madvise: { arguments: ['u64', 'u64', 'i32'], return: 'i32' },
} as const;

type Libc = DynamicLibraryResult<typeof definitions>;

/** A function that gives back what it can, in some milliseconds; undefined where there is none. */
export function memoryTrimmer(): (() => void) | undefined {
  const libc = openLibc();
  return libc && (() => void libc.functions.malloc_trim(0n));
}

/** MADV_DONTNEED of Linux. */
const dontNeed = 4;
/** Whatever the machine's pages are, they begin at multiples of this. */
const largestPage = 1n << 16n;

/**
 * Gives back the memory that holds `bytes`, which have to be a file's, mapped, and never written to: who reads them again has them
 * from the file. Any other bytes would be lost.
 */
export function giveBackMapped(bytes: Uint8Array): void {
  const libc = openLibc();
  if (!libc) return;
  const start = process.getBuiltinModule('node:ffi').getRawPointer(bytes);
  const first = ((start + largestPage - 1n) / largestPage) * largestPage;
  const last = ((start + BigInt(bytes.byteLength)) / largestPage) * largestPage;
  if (last > first) libc.functions.madvise(first, last - first, dontNeed);
}

/** The file of glibc; musl's has another name. */
function openLibc(): Libc | undefined {
  // Node's warning that FFI is experimental is of no use to users.
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
