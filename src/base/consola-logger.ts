/** The Logger of a running process: writes one line per event to standard error, through consola. */
import { type ConsolaInstance, createConsola, type LogObject } from 'consola/core';
import type { Fields, Logger } from './log.ts';
import { type LogLevel, type LogLevels, levelOf } from './log-levels.ts';
import { jsonLine, type LogFormat, textLine } from './log-line.ts';

/** consola's numbers of the levels. */
const numbers = { error: 0, warn: 1, info: 3, debug: 4 } as const satisfies Record<LogLevel, number>;

export interface LoggerOptions {
  readonly levels: LogLevels;
  readonly format: LogFormat;
  /** Destination of the lines; default: standard error. */
  readonly write?: (line: string) => void;
}

/** Returns a logger that writes the events at its component's level or above. */
export function createLogger({ levels, format, write = writeError }: LoggerOptions): Logger {
  const line = format === 'json' ? jsonLine : textLine;
  const reporter = {
    log: ({ date, type, tag, args }: LogObject) => {
      const [message, fields] = args as [string, Fields | undefined];
      write(`${line({ at: date, level: type as LogLevel, component: tag, message, fields })}\n`);
    },
  };
  const consola = createConsola({ throttle: 0, reporters: [reporter] });
  return fromConsola(consola, levels, '');
}

const writeError = (line: string) => process.stderr.write(line);

function fromConsola(consola: ConsolaInstance, levels: LogLevels, component: string): Logger {
  const level = levelOf(levels, component);
  const tagged = consola.create({ level: numbers[level], defaults: { tag: component } });
  return {
    hasDebug: level === 'debug',
    debug: (message, fields) => tagged.debug(message, fields),
    info: (message, fields) => tagged.info(message, fields),
    warn: (message, fields) => tagged.warn(message, fields),
    error: (message, fields) => tagged.error(message, fields),
    named: (name) => fromConsola(consola, levels, component === '' ? name : `${component}/${name}`),
  };
}
