/**
 * Checks at each heartbeat whether the node is short of memory, disk or PIDs, and keeps reporting pressure
 * for a transition period.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import {
  isUnder,
  type NodeUsage,
  neverUnderPressure,
  type PressureMemory,
  rememberPressure,
  type Shortage,
  shortagesOf,
  type Threshold,
} from './plan/eviction-thresholds.ts';
import type { NodeHealth } from './plan/node-conditions.ts';

export interface PressureMonitorOptions {
  readonly readUsage: () => Promise<NodeUsage>;
  readonly thresholds: readonly Threshold[];
  /** Called after every check that found a shortage. */
  readonly onShortages: (shortages: readonly Shortage[]) => void;
  /** Called at every check. */
  readonly onLook: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

const patienceMs = 2000;

export class PressureMonitor {
  readonly #options: PressureMonitorOptions;
  #memory: PressureMemory = neverUnderPressure;
  #problem: string | undefined = 'memory and disk have not been measured yet';
  #looking: Promise<void> | undefined;

  constructor(options: PressureMonitorOptions) {
    this.#options = options;
  }

  /**
   * Never rejects: the conditions report a failed measurement. Also resolves after a while when the kernel
   * does not answer (a file system that hangs), so that heartbeats go on.
   */
  async measure(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    const done = new AbortController();
    const late = sleep(this.#options.clock, patienceMs, done.signal).then(
      () => this.#fail(`memory and disk could not be measured within ${patienceMs / 1000} s`),
      () => undefined,
    );
    await Promise.race([this.#looking, late]);
    done.abort();
  }

  async #look(): Promise<void> {
    const { readUsage, thresholds, onShortages, onLook, clock } = this.#options;
    onLook();
    try {
      const shortages = shortagesOf(await readUsage(), thresholds);
      this.#memory = rememberPressure(this.#memory, shortages, clock.now());
      this.#problem = undefined;
      if (shortages.length > 0) onShortages(shortages);
    } catch (error) {
      this.#fail(errorMessage(error));
    }
  }

  #fail(problem: string): void {
    if (problem !== this.#problem)
      this.#options.log.warn('cannot measure the free memory and disk of this node', { error: problem });
    this.#problem = problem;
  }

  health(now: number): Pick<NodeHealth, 'pressures' | 'unmeasured'> {
    if (this.#problem !== undefined) return { pressures: undefined, unmeasured: this.#problem };
    const pressures = {
      MemoryPressure: isUnder(this.#memory, 'MemoryPressure', now),
      DiskPressure: isUnder(this.#memory, 'DiskPressure', now),
      PIDPressure: isUnder(this.#memory, 'PIDPressure', now),
    };
    return { pressures };
  }
}
