/**
 * The file of results: one line for each test, with tabs between the fields. Lines are appended as tests end;
 * the last line of a name counts. Pure.
 */
import type { TestResult } from './suite-log.ts';

/** A result and the build of minik8s that it is of. */
export interface Recorded extends TestResult {
  readonly build: string;
}

export type Results = ReadonlyMap<string, Recorded>;

const fields = ['test', 'state', 'seconds', 'build', 'message'];
export const header = `${fields.join('\t')}\n`;
const states = new Set<string>(['passed', 'failed', 'skipped']);

export function lineOf({ name, state, seconds, build, message }: Recorded): string {
  return `${[name, state, seconds, build, message].map((field) => String(field).replaceAll(/\s+/g, ' ')).join('\t')}\n`;
}

/** Lines that are no result are passed over: the last one of a run that was killed may be half written. */
export function readResults(text: string): Results {
  const results = new Map<string, Recorded>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [name, state, seconds, build, message] = line.split('\t');
    if (!name || !isState(state) || build === undefined || message === undefined) continue;
    results.set(name, { name, state, seconds: Number(seconds), build, message });
  }
  return results;
}

/** All of the file, by name. */
export function fileOf(results: Results): string {
  const sorted = [...results.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  return header + sorted.map(lineOf).join('');
}

const isState = (text: string | undefined): text is TestResult['state'] => states.has(text ?? '');
