/** Reads lines of a log in the formats of log-line.ts. Pure. */
import { type LogLevel, logLevels } from './log-levels.ts';
import type { LogEvent } from './log-line.ts';

const textHead =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (ERROR|WARN |INFO |DEBUG) (?:([a-z0-9][\w./-]*): )?(.*)$/is;

/** Returns the event of a line; undefined for a line that is none, such as one of a stack. */
export function parseLogLine(line: string): LogEvent | undefined {
  return line.startsWith('{') ? parseJson(line) : parseText(line);
}

function parseText(line: string): LogEvent | undefined {
  const [, at, level, component = '', rest = ''] = textHead.exec(line) ?? [];
  if (at === undefined || level === undefined) return undefined;
  const { message, fields } = splitFields(rest);
  return { at: new Date(at), level: level.trim().toLowerCase() as LogLevel, component, message, fields };
}

const field = / ([\w.-]+)=("(?:[^"\\]|\\.)*"|[^\s"=]+)$/;

/** Splits the fields off the end of a line. */
function splitFields(rest: string): Pick<LogEvent, 'message' | 'fields'> {
  const found: [string, unknown][] = [];
  let message = rest;
  for (let match = field.exec(message); match !== null; match = field.exec(message)) {
    const [, name = '', text = ''] = match;
    found.unshift([name, fieldValue(text)]);
    message = message.slice(0, match.index);
  }
  return { message, fields: Object.fromEntries(found) };
}

function fieldValue(text: string): unknown {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  if (text === 'true' || text === 'false') return text === 'true';
  if (!text.startsWith('"')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parseJson(line: string): LogEvent | undefined {
  let value: Readonly<Record<string, unknown>>;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { ts, level, component = '', msg, ...fields } = value;
  const known = logLevels.find((one) => one === level);
  if (typeof ts !== 'string' || known === undefined || typeof msg !== 'string') return undefined;
  return { at: new Date(ts), level: known, component: String(component), message: msg, fields };
}
