/**
 * The file of results: one line for each test, with tabs between the fields. Lines are appended as tests end;
 * the last line of a test counts. Pure.
 */
import type { TestResult } from './suite-log.ts';

/** A result, and the build of minik8s that was tested. */
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

/** Lines that are not results are ignored: the last line may be incomplete if a run was killed. */
export function readResults(text: string): Results {
  const results = new Map<string, Recorded>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [name, state, seconds, build, message] = line.split('\t');
    if (!name || !isState(state) || build === undefined || message === undefined) continue;
    results.set(name, { name, state, seconds: Number(seconds), build, message });
  }
  return results;
}

/** Returns the text of the whole file, sorted by the names of the tests. */
export function fileOf(results: Results): string {
  const sorted = [...results.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  return header + sorted.map(lineOf).join('');
}

const isState = (text: string | undefined): text is TestResult['state'] => states.has(text ?? '');
