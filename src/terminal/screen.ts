/** Text on a terminal that is replaced in place, such as a table that changes. */
import type { Clock, Timer } from '../base/clock.ts';
import type { TerminalSize } from './progress-plan.ts';

export interface ScreenOptions {
  /** Writes to the terminal immediately. */
  readonly write: (text: string) => void;
  readonly size: () => TerminalSize;
  readonly clock: Clock;
}

/** Minimum milliseconds between two drawings, so that many changes at once are drawn once. */
const restMs = 100;

export class Screen implements Disposable {
  readonly #options: ScreenOptions;
  #drawnRows = 0;
  #wanted: (() => string) | undefined;
  #timer: Timer | undefined;

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  /** Replaces the text, at once or together with the changes of the next moment. */
  show(text: () => string): void {
    this.#wanted = text;
    if (this.#timer) return;
    this.#draw();
    this.#rest();
  }

  /** Draws what is due; the text stays on the terminal. */
  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#draw();
  }

  #rest(): void {
    this.#timer = this.#options.clock.after(restMs, () => {
      this.#timer = undefined;
      if (!this.#wanted) return;
      this.#draw();
      this.#rest();
    });
  }

  #draw(): void {
    if (!this.#wanted) return;
    const lines = frameOf(this.#wanted(), this.#options.size().rows);
    this.#wanted = undefined;
    this.#options.write(drawing(lines, this.#drawnRows));
    this.#drawnRows = lines.length;
  }
}

/** Returns the lines that fit: lines that have scrolled off cannot be replaced. */
function frameOf(text: string, rows: number): readonly string[] {
  const lines = text.replace(/\n$/, '').split('\n');
  const most = Math.max(2, rows - 1);
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), `… and ${lines.length - most + 1} more`];
}

/**
 * Returns the sequences that replace lines: the terminal clips long ones, clears the rest of each, and what
 * is below the last. They end with a newline, so that lines of progress can follow.
 */
function drawing(lines: readonly string[], drawnRows: number): string {
  const up = drawnRows > 0 ? `\r\x1b[${drawnRows}A` : '';
  return `${up}\x1b[?7l${lines.join('\x1b[K\n')}\x1b[J\x1b[?7h\n`;
}
