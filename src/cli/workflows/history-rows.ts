/** The history of a run as rows of a table. Pure. */
import { isRecord } from '../../apimachinery/equality.ts';
import { goDuration } from '../../base/time.ts';

export interface Entry {
  readonly id: number;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly type: string;
  readonly state?: string | undefined;
  /** Of a task its id, else the way through the states around. */
  readonly task?: string | undefined;
  readonly detail?: unknown;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly omitted?: string | undefined;
}

export const historyHeaders = ['ID', 'AFTER', 'TYPE', 'STATE', 'TASK', 'DETAIL'];

/** `begun`: when the run began, from which times are counted. */
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

function detailOf({ detail, input, output, omitted }: Entry): string {
  const told = isRecord(detail)
    ? Object.entries(detail).map(([name, value]) => `${name}=${short(value)}`)
    : detail === undefined
      ? []
      : [short(detail)];
  const data = [
    ...(input === undefined ? [] : [`input=${short(input)}`]),
    ...(output === undefined ? [] : [`output=${short(output)}`]),
    ...(omitted === undefined ? [] : [`(${line(omitted)})`]),
  ];
  return [...told, ...data].join(' ');
}

/** Characters of a value; -o json has it whole. */
const longest = 80;

function short(value: unknown): string {
  const text = line(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

/** On one line, without what a terminal would act on. */
const line = (text: string) => text.replaceAll(/\p{Cc}+/gu, ' ');
