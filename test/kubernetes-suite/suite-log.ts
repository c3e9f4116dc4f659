/** Reader of the output of Ginkgo while the suite runs. Pure. */
import { stripVTControlCharacters } from 'node:util';

/** The conformance tests, or all others that the suite has. */
export type TestSet = 'conformance' | 'others';

/** Result of one test. */
export interface TestResult {
  /** Name as Kubernetes lists it; a conformance test has no closing `[Conformance]`. */
  readonly name: string;
  /** Skipped: the test itself said that this cluster is not one for it, and its message is the reason. */
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly seconds: number;
  /** First message of the failure, on one line; empty if the test passed. */
  readonly message: string;
}

const mark = '[Conformance]';
const maxMessageLength = 400;
/** Between the report of one test and the next. */
const divider = /^-{20,}$/;
/** A report's first line: a sign, what is not as it should be, and the time it took. */
const verdict = /^(?:•|S) .*?(?:\[([A-Z][A-Z ()]+)\] )?.*\[([\d.]+) seconds\]/;

/** Labels that a report writes after a name: the area, and others. */
const labels = / \[sig-[^\]]*\]$/;

/**
 * A test's name out of a line that begins with it; undefined for a line that does not, or of no test of the
 * set.
 */
export function testName(line: string, set: TestSet): string | undefined {
  const closing = line.indexOf(mark);
  if (!line.startsWith('[sig-') || closing < 0 !== (set === 'others')) return undefined;
  const end = set === 'conformance' ? closing : line.trimEnd().replace(labels, '').length;
  // A failure names the step that failed in the middle of it.
  const steps = /\[(?:It|(?:Before|After|JustBefore|JustAfter)(?:Each|All)|DeferCleanup[^\]]*)\] ?/g;
  return line.slice(0, end).replaceAll(steps, '').trim();
}

/** Takes a log in pieces and gives the results that are complete so far. */
export class SuiteLog {
  readonly #set: TestSet;
  #rest = '';
  #block: string[] = [];
  #crash: string | undefined;

  constructor(set: TestSet) {
    this.#set = set;
  }

  /**
   * The last words of a process of the suite that ended in the middle of a test, which then has no report.
   */
  get crash(): string | undefined {
    return this.#crash;
  }

  /** The tests whose report ended in this piece. */
  read(piece: string): TestResult[] {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    const results: TestResult[] = [];
    for (const line of lines) {
      if (/^(panic|fatal error): /.test(line)) this.#crash = oneLine(line);
      if (!divider.test(line)) {
        this.#block.push(line);
        continue;
      }
      const result = resultOf(this.#block, this.#set);
      if (result !== undefined) results.push(result);
      this.#block = [];
    }
    return results;
  }
}

/**
 * Undefined for what is no report of a test of the set that ended: the suite's own words, a test still under
 * way.
 */
function resultOf(lines: readonly string[], set: TestSet): TestResult | undefined {
  const at = lines.findIndex((line) => verdict.test(line));
  if (at < 0) return undefined;
  const [, bad, seconds] = verdict.exec(lines[at] ?? '') ?? [];
  // One process alone writes the name before it runs the test, several write it after.
  const names = [...lines.slice(at + 1), ...lines.slice(0, at)];
  const name = names.map((line) => testName(line, set)).find((found) => found !== undefined);
  if (name === undefined) return undefined;
  const state = bad === undefined ? 'passed' : bad.startsWith('SKIPPED') ? 'skipped' : 'failed';
  if (bad?.startsWith('INTERRUPTED')) return undefined;
  const message = state === 'passed' ? '' : messageOf(lines, set);
  return { name, state, seconds: Math.round(Number(seconds)), message };
}

/** Returns the text after the first `[FAILED]` or similar mark, up to the place in the source. */
function messageOf(lines: readonly string[], set: TestSet): string {
  const start = /^\s*\[(?:FAILED|SKIPPED|PANICKED|TIMEDOUT|ABORTED)\] (?!in )(.*)/i;
  const at = lines.findIndex((line) => start.test(line) && testName(line.trim(), set) === undefined);
  if (at < 0) return 'no message';
  const said = [start.exec(lines[at] ?? '')?.[1] ?? ''];
  for (const line of lines.slice(at + 1)) {
    if (/^\s*(?:In \[|<< Timeline|There were additional failures)/.test(line)) break;
    said.push(line);
  }
  return oneLine(said.join(' '));
}

/** Removes parts that differ in each run: addresses of Go's memory, the command line of a kubectl. */
function oneLine(text: string): string {
  const line = stripVTControlCharacters(text)
    .replaceAll(/\b0x[0-9a-f]{6,}\b/g, '0x…')
    .replaceAll(/\s+/g, ' ')
    .replace(/error running \S*kubectl .*?stderr: /, 'kubectl: ')
    .trim();
  return line.length > maxMessageLength ? `${line.slice(0, maxMessageLength)}…` : line;
}
