/** The streams of one client to one command, over either protocol. */
import type { ProcessStreams } from '../../runtime/runtime.ts';
import type { Outcome } from './outcome.ts';

/** Which of a command's streams the client wants; nothing is sent on another one. */
export interface WantedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  /** Never with `tty`. */
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface CommandSession {
  readonly streams: ProcessStreams;
  /** Aborts when the client is gone. */
  readonly gone: AbortSignal;
  /** Ends the outputs, says how the command ended, and hangs up; resolves when the connection is closed. */
  finish(outcome: Outcome): Promise<void>;
}

/** Milliseconds a client may take to open its streams, and to hang up at the end. */
export const clientPatienceMs = 30_000;
