/**
 * Terminal lines that are updated in place while work is in progress, and erased at its end: the program's
 * own output looks as if they had never existed.
 */
import type { Clock, Timer } from '../base/clock.ts';
import { progressLines, rowsOf, type TerminalSize, type Work } from './progress-plan.ts';

/** Work that is shown until it is disposed. */
export interface Activity extends Disposable {
  /** Sets the text about the work's progress. */
  say(detail: string): void;
}

/** Display of work in progress. */
export interface Progress {
  /** Time in milliseconds until the first display, for which no state of the work is needed. */
  readonly delayMs: number;
  begin(what: string): Activity;
}

export interface LiveLinesOptions {
  /** Writes to the terminal immediately. */
  readonly write: (text: string) => void;
  readonly size: () => TerminalSize;
  readonly clock: Clock;
}

const everyMs = 100;
/** Delay before the display: shorter work is not shown. */
const afterMs = 300;

const nothing: Activity = { say() {}, [Symbol.dispose]() {} };

/** Shows work if there is a display. */
export const beginWork = (progress: Progress | undefined, what: string): Activity =>
  progress?.begin(what) ?? nothing;

export class LiveLines implements Progress {
  readonly delayMs = 0;
  readonly #options: LiveLinesOptions;
  readonly #works = new Set<{ what: string; detail: string; since: number } & Work>();
  #drawn: readonly string[] = [];
  #timer: Timer | undefined;
  /** True if the program's own output ended within a line: drawing would erase that line. */
  #isWithinLine = false;

  constructor(options: LiveLinesOptions) {
    this.#options = options;
  }

  begin(what: string): Activity {
    const work = { what, detail: '', since: this.#options.clock.monotonic() };
    this.#works.add(work);
    this.#timer ??= this.#options.clock.after(afterMs, () => this.#tick());
    return {
      say: (detail) => {
        work.detail = detail;
      },
      [Symbol.dispose]: () => {
        this.#works.delete(work);
        if (this.#works.size === 0) this.clear();
      },
    };
  }

  /** Must be called before the program writes to the terminal, with the text that it writes. */
  before(text: string): void {
    this.#erase();
    if (text !== '') this.#isWithinLine = !text.endsWith('\n');
  }

  /** Removes the display, as at the end of the program. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#erase();
  }

  #tick(): void {
    this.#timer = undefined;
    if (this.#works.size === 0) return;
    this.#draw();
    this.#timer = this.#options.clock.after(everyMs, () => this.#tick());
  }

  #draw(): void {
    if (this.#isWithinLine) return;
    const { clock, size, write } = this.#options;
    const lines = progressLines([...this.#works], clock.monotonic(), size());
    write(`${this.#toStart()}${lines.join('\n')}`);
    this.#drawn = lines;
  }

  #erase(): void {
    if (this.#drawn.length > 0) this.#options.write(this.#toStart());
    this.#drawn = [];
  }

  /**
   * Returns the sequence that moves to the beginning of the first drawn line and clears everything below it.
   */
  #toStart(): string {
    if (this.#drawn.length === 0) return '';
    const up = rowsOf(this.#drawn, this.#options.size()) - 1;
    return `\r${up > 0 ? `\x1b[${up}A` : ''}\x1b[J`;
  }
}

/**
 * Returns a display on the terminal of standard error, since standard output is for the program's results.
 * Undefined if standard error is not a terminal that can move its cursor: then nothing is shown. The display
 * is erased when the process ends.
 */
export function terminalLines(clock: Clock): LiveLines | undefined {
  const { stderr, env } = process;
  const { TERM: name = '' } = env;
  if (!stderr.isTTY || name === '' || name === 'dumb') return undefined;
  const live = new LiveLines({
    write: (text) => void stderr.write(text),
    size: () => ({ columns: stderr.columns || 80, rows: stderr.rows || 24 }),
    clock,
  });
  process.once('exit', () => live.clear());
  return live;
}
