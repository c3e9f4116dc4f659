/**
 * Clock, randomness and log of the real process, passed to every component. Only this file and the commands
 * create them.
 */
import { surviveHangup } from '../base/abort.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { LoopMeter } from '../base/event-loop/loop-meter.ts';
import { type Random, systemRandom } from '../base/random.ts';
import type { Tracer } from '../base/tracing/span.ts';
import type { Exec } from '../os/exec.ts';
import { residentShell } from '../os/resident-shell.ts';
import { createLogger, type ProcessLogger } from '../terminal/consola-logger.ts';
import { type LogFileSettings, openLogFile } from './log-file.ts';
import { keepMemorySmall } from './memory.ts';
import type { Settings } from './settings/setting-table.ts';

/** A role that has no log file, such as the client of Slurm, writes to standard error. */
type LogSettings = Settings<'log-level' | 'log-format'> & Partial<LogFileSettings>;

export interface ProcessContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: ProcessLogger;
  /** Measures what blocks the event loop of this process, until the process ends. */
  readonly loopMeter: LoopMeter;
  /** Absent if tracing is off. */
  readonly tracer?: Tracer;
}

/** A node's additions to the process context. */
export interface NodeContext extends ProcessContext {
  /** Starts programs; one for the whole process. */
  readonly exec: Exec;
}

/**
 * Creates the context. `write` receives the lines of the log unless the settings name a log file; default is
 * standard error.
 */
export function processContext(settings: LogSettings, write?: (line: string) => void): ProcessContext {
  keepMemorySmall();
  const destination =
    ('log-file' in settings ? openLogFile(settings as LogFileSettings) : undefined) ?? write;
  const log = createLogger({
    levels: settings['log-level'],
    format: settings['log-format'],
    ...(destination && { write: destination }),
  });
  surviveHangup(() => log.warn('the terminal was closed (SIGHUP): going on; SIGTERM stops this process'));
  const loopMeter = new LoopMeter({ clock: systemClock, log });
  return { clock: systemClock, random: systemRandom, log, loopMeter };
}

export function nodeContext(settings: LogSettings, write?: (line: string) => void): NodeContext {
  const context = processContext(settings, write);
  return { ...context, exec: residentShell(context) };
}
