/** The real world, handed to every component: the only place beside the commands that builds it. */
import { type Clock, systemClock } from '../base/clock.ts';
import { createLogger, type LogLevel } from '../base/consola-logger.ts';
import type { Logger } from '../base/log.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { keepHeapSmall } from './heap.ts';

export interface ProcessContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function processContext(level: LogLevel): ProcessContext {
  keepHeapSmall();
  return {
    clock: systemClock,
    random: systemRandom,
    log: createLogger(level),
  };
}
