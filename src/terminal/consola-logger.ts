/** The Logger of a running process: writes one line per event to standard error, through consola. */
import { type ConsolaInstance, createConsola, type LogObject } from 'consola/core';
import type { Fields, Logger } from '../base/log.ts';
import { type LogLevel, type LogLevels, levelOf, unknownComponents } from './log-levels.ts';
import { jsonLine, type LogFormat, textLine } from './log-line.ts';

/** consola's numbers of the levels. */
const numbers = { error: 0, warn: 1, info: 3, debug: 4 } as const satisfies Record<LogLevel, number>;

export interface LoggerOptions {
  readonly levels: LogLevels;
  readonly format: LogFormat;
  /** Destination of the lines; default: standard error. */
  readonly write?: (line: string) => void;
}

export interface ProcessLogger extends Logger {
  /**
   * Writes one warning if the levels name components for which no logger has been made. Must be called when
   * the process is ready, because components make their loggers during the start; later calls do nothing.
   * `later` names the components that are made later still, for the warning.
   */
  warnOfUnknownComponents(later?: string): void;
}

/** Returns a logger that writes the events at its component's level or above. */
export function createLogger({ levels, format, write = writeError }: LoggerOptions): ProcessLogger {
  const line = format === 'json' ? jsonLine : textLine;
  const reporter = {
    log: ({ date, type, tag, args }: LogObject) => {
      const [message, fields] = args as [string, Fields | undefined];
      write(`${line({ at: date, level: type as LogLevel, component: tag, message, fields })}\n`);
    },
  };
  const consola = createConsola({ throttle: 0, reporters: [reporter] });
  const made = new Set<string>();
  const log = fromConsola({ consola, levels, made }, '');
  let isChecked = false;
  return {
    ...log,
    warnOfUnknownComponents(later) {
      if (isChecked) return;
      isChecked = true;
      const problems = unknownComponents(levels, made);
      if (problems.length === 0) return;
      const except = later === undefined ? '' : ` (${later})`;
      log.warn(`--log-level: ${problems.join('; ')}${except}`);
    },
  };
}

interface Root {
  readonly consola: ConsolaInstance;
  readonly levels: LogLevels;
  /** Paths of all components for which a logger was made. */
  readonly made: Set<string>;
}

const writeError = (line: string) => process.stderr.write(line);

function fromConsola(root: Root, component: string): Logger {
  const { consola, levels, made } = root;
  if (component !== '') made.add(component);
  const level = levelOf(levels, component);
  const tagged = consola.create({ level: numbers[level], defaults: { tag: component } });
  return {
    hasDebug: level === 'debug',
    debug: (message, fields) => tagged.debug(message, fields),
    info: (message, fields) => tagged.info(message, fields),
    warn: (message, fields) => tagged.warn(message, fields),
    error: (message, fields) => tagged.error(message, fields),
    named: (name) => fromConsola(root, component === '' ? name : `${component}/${name}`),
  };
}
