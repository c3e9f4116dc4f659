/** How the heap of a process that runs for long grows. */
import { setFlagsFromString } from 'node:v8';

/**
 * How much the old part of the heap may grow between two full collections, in percent of what lives in it. By itself V8
 * lets it grow to as much as four times that while much is allocated, which a server always does (docs/scale.md).
 */
const growth = 25;

/** To be called when everything is loaded: V8 refuses compiled code that was kept under other flags. */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`);
}
