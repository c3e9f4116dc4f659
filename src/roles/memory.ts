/** How the memory of a process that runs for long grows, and shrinks again. */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { memoryTrimmer } from '../base/allocator.ts';
import { forgetAsset } from '../base/assets.ts';

/**
 * How much the old part of the heap may grow between two full collections, in percent of what lives in it. By itself V8
 * lets it grow to as much as four times that while much is allocated, which a server always does (docs/scale.md).
 */
const growth = 25;

/** The delay before freed memory is given back: once for many connections that end together. */
const settleMs = 5000;

/** To be called when everything is loaded: V8 refuses compiled code that was kept under other flags. */
export function keepMemorySmall(settle = settleMs): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`);
  forgetAsset('server.cjs');
  forgetAsset('server.cache');
  giveBackWhatIsFreed(settle);
}

/**
 * A full collection frees buffers. What TLS holds for a connection goes when that ends, and a server that has nothing
 * to do then collects nothing for long. There is no asking how much is free: to give back nothing takes a millisecond.
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

/** Node's own types do not say that an entry of a collection tells which sort it was. */
const isFull = (entry: PerformanceEntry & { readonly detail?: { readonly kind?: number } }) =>
  entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
