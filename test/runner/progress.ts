/**
 * Shows the progress of a stage: one line that is rewritten on a terminal, otherwise a line from time to
 * time.
 */

export interface Progress {
  readonly stage: string;
  /** Numbers of files. */
  readonly done: number;
  readonly all: number;
  readonly failed: number;
  readonly secondsLeft: number;
  /** Names of the running processes, in the order of their start. */
  readonly running: readonly string[];
}

const terminalIntervalMs = 1_000;
const lineIntervalMs = 30_000;

/** Returns a line such as `e2e: 12 of 50 files, 1 failed, about 7 min left; test/e2e/join.test.ts, …`. */
export function progressLine({ stage, done, all, failed, secondsLeft, running }: Progress): string {
  const failures = failed > 0 ? `, ${failed} failed` : '';
  const left = secondsLeft < 90 ? `${Math.ceil(secondsLeft)} s` : `${Math.ceil(secondsLeft / 60)} min`;
  return `${stage}: ${done} of ${all} files${failures}, about ${left} left; ${running.join(', ')}`;
}

/**
 * Returns whether a line is due if lines are not rewritten: at each tenth of the files, and 30 s after the
 * last line.
 */
export function isLineDue(
  last: { done: number; atMs: number },
  done: number,
  all: number,
  nowMs: number,
): boolean {
  const tenth = (count: number) => Math.floor((count * 10) / all);
  return tenth(done) > tenth(last.done) || nowMs - last.atMs >= lineIntervalMs;
}

/** Writes the progress until it is stopped; `moved` reports finished files. */
export class ProgressPrinter {
  readonly #out: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly #look: () => Progress;
  readonly #timer: NodeJS.Timeout;
  #last = { done: 0, atMs: performance.now() };

  constructor(out: NodeJS.WritableStream & { readonly isTTY?: boolean }, look: () => Progress) {
    this.#out = out;
    this.#look = look;
    this.#timer = setInterval(() => this.moved(), terminalIntervalMs).unref();
  }

  moved(): void {
    const progress = this.#look();
    const line = progressLine(progress);
    if (this.#out.isTTY) {
      this.#out.write(`\r\x1b[K${line.slice(0, (this.#out.columns ?? 80) - 1)}`);
    } else if (isLineDue(this.#last, progress.done, progress.all, performance.now())) {
      this.#last = { done: progress.done, atMs: performance.now() };
      this.#out.write(`${line}\n`);
    }
  }

  /** Erases the line, so that other lines can be written. */
  clear(): void {
    if (this.#out.isTTY) this.#out.write('\r\x1b[K');
  }

  stop(): void {
    clearInterval(this.#timer);
    this.clear();
  }
}
