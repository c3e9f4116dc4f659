/** The history of a run, as rows of a table. Pure. */
import { isRecord } from '../../../apimachinery/equality.ts';
import { goDuration } from '../../../base/time.ts';

export interface Entry {
  readonly id: number;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly type: string;
  readonly state?: string | undefined;
  /** Id of a task, or else the path through the enclosing states. */
  readonly task?: string | undefined;
  readonly detail?: unknown;
  readonly input?: unknown;
  readonly output?: unknown;
}

export const historyHeaders = ['ID', 'AFTER', 'TYPE', 'STATE', 'TASK', 'DETAIL'];

/**
 * Returns the rows. `begun` is the start of the run in milliseconds since the Unix epoch; times are relative
 * to it.
 */
export const historyRows = (entries: readonly Entry[], begun: number): string[][] =>
  entries.map((entry) => [
    String(entry.id),
    after(entry.time - begun),
    entry.type,
    line(entry.state ?? ''),
    entry.task ?? '',
    detailOf(entry),
  ]);

const after = (ms: number) => (ms < 1000 ? `${Math.max(0, Math.round(ms))}ms` : goDuration(ms));

function detailOf({ detail, input, output }: Entry): string {
  const shown = isRecord(detail)
    ? Object.entries(detail).map(([name, value]) => `${name}=${short(value)}`)
    : detail === undefined
      ? []
      : [short(detail)];
  const data = [
    ...(input === undefined ? [] : [`input=${short(input)}`]),
    ...(output === undefined ? [] : [`output=${short(output)}`]),
  ];
  return [...shown, ...data].join(' ');
}

/** Maximum number of characters of a value; -o json prints it whole. */
const longest = 80;

function short(value: unknown): string {
  const text = line(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

/** Returns the text on one line, without control characters for the terminal. */
const line = (text: string) => text.replaceAll(/\p{Cc}+/gu, ' ');
