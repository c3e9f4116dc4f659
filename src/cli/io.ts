/** What a command may touch of the world: its streams, its environment, its clock. Tests hand in their own. */
import type { Clock } from '../base/clock.ts';

export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** All of standard input. */
  readStdin(): Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly clock: Clock;
  /** Aborts when the user interrupts; the command then ends with status 130 and says nothing. */
  readonly signal: AbortSignal;
  /** The exit status, when it is not 0 and no error is thrown. */
  exitWith(status: number): void;
}
