/** The format of a log event: one line, whatever its message and fields contain. Pure. */
import { errorMessage, type Fields } from '../base/log.ts';
import type { LogLevel } from './log-levels.ts';

export interface LogEvent {
  readonly at: Date;
  readonly level: LogLevel;
  /** Component path; empty for the process itself. */
  readonly component: string;
  readonly message: string;
  readonly fields?: Fields | undefined;
}

export const logFormats = ['text', 'json'] as const;

export type LogFormat = (typeof logFormats)[number];

/**
 * Returns a line such as `2026-01-02T03:04:05.678Z INFO  kubelet: started pod=default/web`, without a line
 * end.
 */
export function textLine({ at, level, component, message, fields = {} }: LogEvent): string {
  const head = `${at.toISOString()} ${level.toUpperCase().padEnd(5)} ${component === '' ? '' : `${component}: `}`;
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${inLine(name)}=${textValue(value)}`);
  return `${head}${inLine(message)}${shown.join('')}`;
}

/**
 * Returns a JSON object with `ts`, `level`, `component`, `msg` and the event's fields. A field with one of
 * these names gets the prefix `_`.
 */
export function jsonLine({ at, level, component, message, fields = {} }: LogEvent): string {
  const own = { ts: at.toISOString(), level, ...(component !== '' && { component }), msg: message };
  const members = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [ownNames.has(name) ? `_${name}` : name, value]);
  const all = [...Object.entries(own), ...members];
  return `{${all.map(([name, value]) => `${json(name)}:${json(value)}`).join(',')}}`;
}

const ownNames: ReadonlySet<string> = new Set(['ts', 'level', 'component', 'msg']);

/**
 * Unsafe characters: control characters could move the cursor, Unicode line separators end the line for some
 * readers, and bidirectional controls change the displayed order.
 */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const escapeOne = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const inLine = (text: string) => text.replace(/\r?\n/g, ' ').replace(unsafe, escapeOne);

function textValue(value: unknown): string {
  const text = typeof value === 'object' && !(value instanceof Error) ? json(value) : plain(value);
  return /[\s"=]/.test(text) || text === '' || text.search(unsafe) >= 0 ? json(text) : text;
}

const plain = (value: unknown): string => (value instanceof Error ? errorMessage(value) : String(value));

/**
 * Returns JSON in one line. Values that JSON does not have become text; a value that cannot be serialized is
 * replaced with a note.
 */
function json(value: unknown): string {
  try {
    const text = JSON.stringify(value, (_, part) =>
      part instanceof Error ||
      typeof part === 'bigint' ||
      typeof part === 'function' ||
      typeof part === 'symbol'
        ? plain(part)
        : part,
    );
    return text.replace(unsafe, escapeOne);
  } catch (error) {
    return JSON.stringify(`(not readable: ${errorMessage(error)})`).replace(unsafe, escapeOne);
  }
}
