/** Everything outside that a command may use: streams, environment, clock and randomness. Tests pass in their own. */
import type { Readable, Writable } from 'node:stream';
import type { FieldTable } from '../apimachinery/field-types.ts';
import type { Clock } from '../base/clock.ts';
import type { Progress } from '../base/live-lines.ts';
import type { Random } from '../base/random.ts';

export interface Io {
  out(text: string): void;
  err(text: string): void;
  /**
   * Resolves when the reader of standard output has taken enough for more to be written; rejects when `signal` aborts. Without it,
   * a log that never ends would collect in memory. Absent: there is always room.
   */
  room?(): Promise<void>;
  /** All of standard input. */
  readStdin(): Promise<string>;
  /** The streams themselves, for a command that passes bytes on. */
  stdio(): Stdio;
  /** How wide the terminals are that output and errors go to; absent where they go elsewhere. */
  readonly columns?: { readonly out?: number | undefined; readonly err?: number | undefined };
  /** Where work that takes a while is shown; absent where errors go to no terminal. */
  readonly progress?: Progress;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly clock: Clock;
  readonly random: Random;
  /** The fields of Kubernetes' own kinds, for commands that ask no server. Loaded when it is called. */
  kubernetesFields(): Promise<FieldTable>;
  /** Aborts when the user interrupts; the command then ends with status 130 and says nothing. */
  readonly signal: AbortSignal;
  /** The exit status, when it is not 0 and no error is thrown. */
  exitWith(status: number): void;
}

export interface Stdio {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Absent when standard input is not a terminal. */
  readonly terminal?: Terminal;
}

export interface Terminal {
  /** Columns and rows; undefined when the output is no terminal. */
  size(): { readonly width: number; readonly height: number } | undefined;
  /** Calls `listener` whenever the size has changed; returns a function that removes the listener. */
  onResize(listener: () => void): () => void;
  /** Raw mode: every key goes to the program, Ctrl-C too. Always turn it off, or the user's shell stays in raw mode. */
  setRaw(on: boolean): void;
}
