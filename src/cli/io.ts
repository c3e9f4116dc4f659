/**
 * All effects that a command may use: streams, environment, clock and randomness. Tests pass in their own.
 */
import type { Readable, Writable } from 'node:stream';
import type { FieldTable } from '../apimachinery/field-types.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { Progress } from '../terminal/live-lines.ts';
import type { TerminalSize } from '../terminal/progress-plan.ts';
import type { PluginPolicy } from './kuberc/plugin-policy.ts';

export interface Io {
  out(text: string): void;
  err(text: string): void;
  /**
   * Resolves when standard output has room for more text; rejects when `signal` aborts. Without this wait, an
   * endless log would fill the memory if its reader is slow. If absent, there is always room.
   */
  room?(): Promise<void>;
  /** Reads all of standard input. */
  readStdin(): Promise<string>;
  /** Returns the streams themselves, for a command that passes bytes on. */
  stdio(): Stdio;
  /** Widths of the terminals of output and errors; absent if they are not terminals. */
  readonly columns?: { readonly out?: number | undefined; readonly err?: number | undefined };
  /** Returns the size of the terminal of standard output; undefined if its cursor cannot be moved. */
  readonly screen?: () => TerminalSize | undefined;
  /**
   * Display of long operations: lines that change on a terminal, or a note from time to time if standard
   * error is no terminal.
   */
  readonly progress?: Progress;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Returns the fields of Kubernetes' own kinds, for commands that need no server. Loaded on the first call.
   */
  kubernetesFields(): Promise<FieldTable>;
  /**
   * Aborts when the user interrupts, another signal asks to end, or the reader of the output disconnects. The
   * command then cleans up and ends with the status of that signal, such as 130; it prints no error.
   */
  readonly signal: AbortSignal;
  /** Returns which credential plugins may run; undefined or absent: all. */
  pluginPolicy?(): PluginPolicy | undefined;
  /** Runs a program on this terminal, to which Ctrl-C is left meanwhile. If absent, Ctrl-C ends both. */
  lendTerminal?<T>(work: () => Promise<T>): Promise<T>;
  /** Sets the exit status. Without a call and without an error, it is 0. */
  exitWith(status: number): void;
}

export interface Stdio {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Absent if standard input is not a terminal. */
  readonly terminal?: Terminal;
}

export interface Terminal {
  /** Returns columns and rows; undefined if the output is not a terminal. */
  size(): { readonly width: number; readonly height: number } | undefined;
  /** Calls `listener` after every change of the size; returns a function that removes the listener. */
  onResize(listener: () => void): () => void;
  /**
   * Turns raw mode on or off. In raw mode every key goes to the program, Ctrl-C too. It must always be turned
   * off, or the user's shell stays in raw mode.
   */
  setRaw(on: boolean): void;
}
