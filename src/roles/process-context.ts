/** The real world, handed to every component: the only place beside the commands that builds it. */
import { type Clock, systemClock } from '../base/clock.ts';
import { createLogger, type LogLevel } from '../base/consola-logger.ts';
import type { Exec } from '../base/exec.ts';
import type { Logger } from '../base/log.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { residentShell } from '../base/resident-shell.ts';
import { keepMemorySmall } from './memory.ts';

export interface ProcessContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** What a node has beside that. */
export interface NodeContext extends ProcessContext {
  /** Starts programs; one for the whole process. */
  readonly exec: Exec;
}

export function processContext(level: LogLevel): ProcessContext {
  keepMemorySmall();
  return {
    clock: systemClock,
    random: systemRandom,
    log: createLogger(level),
  };
}

export function nodeContext(level: LogLevel): NodeContext {
  const context = processContext(level);
  return { ...context, exec: residentShell(context) };
}
