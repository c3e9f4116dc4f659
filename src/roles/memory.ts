/** Limits the memory of a long-running process. */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { giveBackExecutable, memoryTrimmer } from '../os/allocator.ts';
import { forgetAsset } from '../os/assets.ts';

/**
 * Maximum growth of the old part of the heap between two full collections, in percent of its live objects.
 * V8 itself lets the heap grow to up to four times its live objects while a process allocates a lot, which a
 * server always does (docs/scale.md).
 */
const growth = 25;

/** Delay in milliseconds until growth is limited: full collections are a tenth of the time of a start. */
const growthMs = 2000;

/**
 * Delay in milliseconds before freed memory is returned to the system; one return serves many connections
 * that end together.
 */
const settleMs = 5000;

/** Delay in milliseconds until memory that only the start of a role needs is released. */
const startedMs = 30_000;

/** Must be called after everything is loaded: V8 rejects compiled code that was cached under other flags. */
export function keepMemorySmall(settle = settleMs, started = startedMs): void {
  setTimeout(() => setFlagsFromString(`--heap-growing-percent=${growth}`), growthMs).unref();
  forgetAsset('server.cjs');
  forgetAsset('server.cache');
  giveBackWhatIsFreed(settle);
  setTimeout(giveBackExecutable, started).unref();
}

/**
 * Returns memory to the system after each full garbage collection, which frees buffers, and after the end of
 * a connection, which frees its TLS memory: an idle server has no full collection for a long time. The amount
 * of memory that could be returned cannot be queried; a call without effect takes a millisecond.
 */
function giveBackWhatIsFreed(settle: number): void {
  let trim: (() => void) | undefined;
  let waits = false;
  const giveBackSoon = () => {
    if (waits) return;
    waits = true;
    setTimeout(() => {
      waits = false;
      trim ??= memoryTrimmer() ?? (() => {});
      trim();
    }, settle).unref();
  };
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isFull)) giveBackSoon();
  });
  observer.observe({ entryTypes: ['gc'] });
  subscribe('net.server.socket', (message) => {
    (message as { readonly socket: Socket }).socket.once('close', giveBackSoon);
  });
}

/** Node's types lack the kind in the entry of a collection. */
const isFull = (entry: PerformanceEntry & { readonly detail?: { readonly kind?: number } }) =>
  entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
