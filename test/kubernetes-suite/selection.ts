/** Selection of the tests for a run. Pure. */
import { reasonNotToRun } from './not-run.ts';
import type { Results } from './results.ts';
import { type TestSet, testName } from './suite-log.ts';

export interface Wanted {
  /** Matched against names; all when there is none. */
  readonly pattern?: RegExp | undefined;
  readonly nodes: number;
  /** Also those whose result is there. */
  readonly again: boolean;
  /** Selects only tests that failed. */
  readonly failed: boolean;
}

export interface Selection {
  readonly run: readonly string[];
  /** Tests that match and have a result that counts. */
  readonly done: readonly string[];
  /** Tests that match and are left out, with the reason. */
  readonly left: ReadonlyMap<string, string>;
}

export function select(names: readonly string[], results: Results, wanted: Wanted): Selection {
  const left = new Map<string, string>();
  const run: string[] = [];
  const done: string[] = [];
  for (const name of names.filter((each) => wanted.pattern?.test(each) ?? true)) {
    const state = results.get(name)?.state;
    const reason = reasonNotToRun(name, wanted.nodes);
    if (state !== undefined && !wanted.again && !(wanted.failed && state === 'failed')) done.push(name);
    else if (reason !== undefined) left.set(name, reason);
    else if (!wanted.failed || state === 'failed') run.push(name);
  }
  return { run, done, left };
}

/** The tests of the set in what `e2e.test --list-tests` prints, each once. */
export function testsIn(listing: string, set: TestSet): string[] {
  const names = listing
    .split('\n')
    .map((line) => testName(line.slice(Math.max(0, line.indexOf('[sig-'))), set));
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

/**
 * For Ginkgo's --focus: those tests and no others, in Go's syntax. A name begins after the suite's own and a
 * blank.
 */
export function focusOf(names: readonly string[], set: TestSet): string {
  const quoted = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return `^[^[]* (?:${quoted.join('|')})${set === 'conformance' ? ' \\[Conformance\\]' : '$'}`;
}
