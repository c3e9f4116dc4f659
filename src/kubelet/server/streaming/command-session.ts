/** The streams between one client and one command, over either protocol. */
import type { ProcessStreams } from '../../runtime/runtime.ts';
import type { Outcome } from './outcome.ts';

/** Streams of a command that the client requested; nothing is sent on other streams. */
export interface WantedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  /** Never true together with `tty`. */
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface CommandSession {
  readonly streams: ProcessStreams;
  /** Aborts when the client has disconnected. */
  readonly gone: AbortSignal;
  /** Ends the outputs, sends the outcome, and hangs up; resolves when the connection is closed. */
  finish(outcome: Outcome): Promise<void>;
}

/** Milliseconds that a client may take to open its streams, and to hang up at the end. */
export const clientPatienceMs = 30_000;
