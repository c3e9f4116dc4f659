/**
 * Watches of documents that are no resources: a client with `watch=true` gets the text as a line at once, and
 * again after each change.
 */
import { onAbort } from '../base/abort.ts';
import type { Clock, Timer } from '../base/clock.ts';
import type { Current } from '../base/current.ts';
import type { Sink, Source } from './transport/pushed-body.ts';

/** Content type of the answer; a client recognizes by it that the server goes on to send lines. */
export const watchedType = { 'content-type': 'application/json;stream=watch' };

/**
 * Maximum duration of a watch in milliseconds, as for watches of nodes. Authorization is only checked when a
 * watch begins.
 */
const maxMs = 10 * 60_000;
/** Maximum number of bytes that a client has not read. A client with more is disconnected. */
const maxBacklogBytes = 256 * 1024;

export interface DocumentWatch {
  /** Text without line breaks. */
  readonly text: Current<string>;
  readonly clock: Clock;
  /** Ends the watch. */
  readonly shutdown: AbortSignal | undefined;
}

/** Returns a source that writes the text, and writes it again whenever it has become another. */
export function documentSource({ text, clock, shutdown }: DocumentWatch): Source {
  const ends: (() => void)[] = [];
  const release = () => {
    for (const end of ends.splice(0)) end();
  };
  return {
    begin(sink) {
      const write = lineWriter(sink, release);
      const finish = () => {
        release();
        sink.end();
      };
      const timer: Timer = clock.after(maxMs, finish);
      ends.push(() => timer.cancel(), text.onChange(write));
      write(text.value);
      if (shutdown) ends.push(onAbort(shutdown, finish));
    },
    cancel: release,
  };
}

function lineWriter(sink: Sink, release: () => void): (text: string) => void {
  let last: string | undefined;
  return (text) => {
    if (text === last) return;
    last = text;
    if (sink.backlog > maxBacklogBytes) {
      release();
      sink.cut();
    } else sink.write(Buffer.from(`${text}\n`));
  };
}
