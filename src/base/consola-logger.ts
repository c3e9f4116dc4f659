/** The Logger of a running process: one line an event on standard error, through consola. */
import { type ConsolaInstance, createConsola, type LogObject } from 'consola/core';
import { errorMessage, type Fields, type Logger } from './log.ts';

const levels = { error: 0, warn: 1, info: 3, debug: 4 } as const;

export type LogLevel = keyof typeof levels;

/** Writes what is at `level` or graver, such as `2026-01-02T03:04:05.678Z INFO  kubelet: started pod=default/web`. */
export function createLogger(
  level: LogLevel,
  write: (line: string) => void = (line) => process.stderr.write(line),
): Logger {
  const consola = createConsola({
    level: levels[level],
    throttle: 0,
    reporters: [{ log: (event) => write(`${formatEvent(event)}\n`) }],
  });
  return fromConsola(consola, '');
}

function fromConsola(consola: ConsolaInstance, component: string): Logger {
  const tagged = component === '' ? consola : consola.withTag(component);
  return {
    debug: (message, fields) => tagged.debug(message, fields),
    info: (message, fields) => tagged.info(message, fields),
    warn: (message, fields) => tagged.warn(message, fields),
    error: (message, fields) => tagged.error(message, fields),
    named: (name) => fromConsola(consola, component === '' ? name : `${component}/${name}`),
  };
}

function formatEvent(event: LogObject): string {
  const [message, fields] = event.args as [unknown, Fields | undefined];
  const head = `${event.date.toISOString()} ${event.type.toUpperCase().padEnd(5)} `;
  return `${head}${event.tag ? `${event.tag}: ` : ''}${oneLine(String(message))}${formatFields(fields)}`;
}

function formatFields(fields: Fields = {}): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${formatValue(value)}`)
    .join('');
}

function formatValue(value: unknown): string {
  const text =
    value instanceof Error
      ? errorMessage(value)
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value);
  return /[\s"=]/.test(text) || text === '' ? JSON.stringify(text) : text;
}

function oneLine(message: string): string {
  return message.replaceAll('\n', ' ');
}
