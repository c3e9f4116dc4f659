/**
 * Reporter of node:test in a test process: writes one JSON line before the first test of each depth, one for
 * each test and suite that ended, one for each error that nothing caught, with the names of the test that ran
 * then, and one after the last. test/runner/report.ts reads the lines.
 */
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { Uncaught } from './async-tracking.ts';
import { usedSeconds } from './processor-seconds.ts';

export interface EndedTest {
  /** Names of the suites around the test, outermost first, and its own. */
  readonly path: readonly string[];
  readonly suite: boolean;
  readonly failed: boolean;
  /** Reason of a skip; empty when the test gives none, undefined when it was run. */
  readonly skipped?: string | undefined;
  readonly ms: number;
  /** Error with its stack; undefined when the test passed, or failed only because a test inside it did. */
  readonly error?: string | undefined;
  /** Processor time of the process until then, in seconds; undefined for a test inside another one. */
  readonly used?: number | undefined;
}

/**
 * Node passes the events on when the event loop is free, so the time of a first test that blocks it counts as
 * loading.
 */
export type Line =
  | EndedTest
  | { readonly begin: number; readonly used: number }
  | { readonly uncaught: readonly string[]; readonly error: string; readonly used?: undefined }
  | { readonly end: true; readonly used: number };

export default async function* (events: AsyncIterable<TestEvent>): AsyncIterable<string> {
  const names: string[] = [];
  let begun = 0;
  const uncaught = new Uncaught();
  const lingering = new Lingering(Number(process.env.MINIK8S_TEST_LINGER_MS));
  for await (const event of events) {
    lingering.see(event);
    if (event.type === 'test:dequeue' && event.data.nesting === begun) {
      begun += 1;
      yield lineOf({ begin: event.data.nesting, used: usedSeconds() });
    }
    for (const { path, error } of uncaught.see(event))
      yield lineOf({ uncaught: path, error: `not caught: ${inspect(error)}` });
    if (event.type === 'test:start') names[event.data.nesting] = event.data.name;
    else if (event.type === 'test:pass' || event.type === 'test:fail') yield lineOf(endedTest(event, names));
    else if (event.type === 'test:summary') yield lineOf({ end: true, used: usedSeconds() });
  }
}

/**
 * Ends this process when its tests have ended and a program, a server or a timer of theirs keeps it running.
 */
class Lingering {
  readonly #limitMs: number;
  #open = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `limitMs` NaN stands for no limit. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  see(event: TestEvent): void {
    const { type, data } = event;
    if (type !== 'test:enqueue' && type !== 'test:pass' && type !== 'test:fail') return;
    if (data.nesting !== 0 || Number.isNaN(this.#limitMs)) return;
    this.#open += type === 'test:enqueue' ? 1 : -1;
    clearTimeout(this.#timer);
    if (this.#open === 0) this.#timer = setTimeout(() => this.#end(), this.#limitMs).unref();
  }

  #end(): void {
    const kinds = [...new Set(process.getActiveResourcesInfo())].join(', ');
    process.stderr.write(
      `the tests ended ${this.#limitMs / 1000} s ago, and the process goes on: ${kinds}\n`,
      () => process.exit(lingeringStatus),
    );
  }
}

const lingeringStatus = 7;

const lineOf = (line: Line) => `${JSON.stringify(line)}\n`;

function endedTest(
  { type, data }: Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>,
  names: readonly string[],
): EndedTest {
  const { skip, todo, details } = data;
  // node:test does not count the failure of a test that is still to be done.
  const failed = type === 'test:fail' && (todo === undefined || todo === false);
  return {
    path: [...names.slice(0, data.nesting), data.name],
    suite: details.type === 'suite',
    failed,
    skipped: skip === undefined || skip === false ? undefined : skip === true ? '' : skip,
    ms: details.duration_ms,
    error: failed && 'error' in details ? textOf(details.error) : undefined,
    used: data.nesting === 0 ? usedSeconds() : undefined,
  };
}

function textOf(error: Error & { readonly failureType?: string }): string | undefined {
  if (error.failureType === 'subtestsFailed') return undefined;
  const cause = error.cause ?? error;
  return typeof cause === 'string' ? cause : inspect(cause);
}
