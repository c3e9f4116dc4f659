/**
 * Decides whether one more test process may start than a stage always runs: most end-to-end tests wait for
 * timers, engines and other machines, and leave processors idle meanwhile.
 */

import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { machineSeconds } from './processor-seconds.ts';

/** Processor time of the machine until a moment, both in seconds. */
export interface ProcessorSample {
  readonly at: number;
  readonly busy: number;
}

/** Seconds over which the load is measured. */
const windowSeconds = 5;
/** Part of all processors that must have been idle meanwhile. */
const idlePart = 0.3;
/** Free memory that must remain for the processes that run already, in bytes. */
const minMemory = 3 * 2 ** 30;

/** Measures the load of the machine; samples are added about once a second. */
export class ProcessorRoom {
  readonly #processors: number;
  #samples: readonly ProcessorSample[] = [];
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(processors: number) {
    this.#processors = processors;
  }

  /** Records that a process started: its load must be in the samples before another one follows. */
  started(at: number): void {
    this.#startedAt = at;
  }

  add(sample: ProcessorSample): void {
    const kept = this.#samples.filter(({ at }) => at > sample.at - 2 * windowSeconds);
    this.#samples = [...kept, sample];
  }

  /** Returns whether processors and memory (in bytes) have room for one more process now. */
  isThere(now: number, availableMemory: number): boolean {
    const [last] = this.#samples.slice(-1);
    const first = this.#samples.findLast(({ at }) => last !== undefined && at <= last.at - windowSeconds);
    if (!first || !last || availableMemory < minMemory) return false;
    if (first.at < this.#startedAt || now - last.at > windowSeconds) return false;
    const busy = (last.busy - first.busy) / (last.at - first.at) / this.#processors;
    return busy <= 1 - idlePart;
  }
}

const sampleMs = 1_000;

/** Number of processes that run at once: always, and at most while processors are idle. */
export interface Limits {
  readonly least: number;
  readonly most: number;
}

/** Decides whether one more process may start beside those that run. */
export interface Room {
  mayStart(running: number): boolean;
  /** Records that a process started. */
  started(): void;
  /**
   * Returns a promise that resolves when there may be room before a process ends. The list is empty if there
   * cannot be room before.
   */
  change(running: number): Promise<void>[];
  stop(): void;
}

/** The room of this machine, by the load of its processors. */
export class MeasuredRoom implements Room {
  readonly #limits: Limits;
  readonly #room = new ProcessorRoom(availableParallelism());
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(limits: Limits) {
    this.#limits = limits;
    if (limits.most <= limits.least) return;
    const look = () => this.#room.add({ at: now(), busy: machineSeconds() });
    this.#timer = setInterval(look, sampleMs).unref();
  }

  mayStart(running: number): boolean {
    const { least, most } = this.#limits;
    return running < least || (running < most && this.#room.isThere(now(), process.availableMemory()));
  }

  started(): void {
    this.#room.started(now());
  }

  change(running: number): Promise<void>[] {
    return running < this.#limits.most && this.#timer ? [sleep(sampleMs, undefined, { ref: false })] : [];
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const now = () => performance.now() / 1000;
