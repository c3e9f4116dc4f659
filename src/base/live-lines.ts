/**
 * Lines of a terminal that change in place while work is under way, and that are gone when it is over: what the program says
 * itself stands as if they had never been there.
 */
import type { Clock, Timer } from './clock.ts';
import { progressLines, rowsOf, type TerminalSize, type Work } from './progress-plan.ts';

/** Work that is shown until it is disposed of. */
export interface Activity extends Disposable {
  /** How far it is. */
  say(detail: string): void;
}

/** Where work is shown; absent where nobody would see it. */
export interface Progress {
  begin(what: string): Activity;
}

export interface LiveLinesOptions {
  /** To the terminal, at once. */
  readonly write: (text: string) => void;
  readonly size: () => TerminalSize;
  readonly clock: Clock;
}

const everyMs = 100;
/** What is over sooner is not shown. */
const afterMs = 300;

const nothing: Activity = { say() {}, [Symbol.dispose]() {} };

/** Work that is shown if it can be. */
export const beginWork = (progress: Progress | undefined, what: string): Activity =>
  progress?.begin(what) ?? nothing;

export class LiveLines implements Progress {
  readonly #options: LiveLinesOptions;
  readonly #works = new Set<{ what: string; detail: string; since: number } & Work>();
  #drawn: readonly string[] = [];
  #timer: Timer | undefined;
  /** The program's own text ended within a line: to draw there would be to erase it. */
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

  /** To be called before the program writes to the terminal, with what it writes. */
  before(text: string): void {
    this.#erase();
    if (text !== '') this.#isWithinLine = !text.endsWith('\n');
  }

  /** Ends all of it, as when the program ends. */
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

  /** To the begin of the first line that was drawn, and all below it gone. */
  #toStart(): string {
    if (this.#drawn.length === 0) return '';
    const up = rowsOf(this.#drawn, this.#options.size()) - 1;
    return `\r${up > 0 ? `\x1b[${up}A` : ''}\x1b[J`;
  }
}

/**
 * On the terminal of standard error, if that is one that can move its cursor; standard output is for what was asked for. Undefined where
 * it is none: then nothing more is written than without. Gone when the process ends.
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
