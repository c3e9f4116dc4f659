/** Runs a program in a container, and passes bytes to it and from it, by the channels of exec. */
import { openStream } from '../cluster/request.ts';
import {
  type ContainerPlace,
  channels,
  endOfInput,
  message,
  partsOf,
  programPath,
} from '../terminal/plan/channels.ts';

export interface Program {
  readonly place: ContainerPlace;
  readonly command: readonly string[];
  /** Absent for a program without input. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** Called with each part of the output; an error that it throws ends the program. */
  readonly onOutput?: (bytes: Uint8Array) => void;
  readonly signal: AbortSignal;
}

export interface ProgramEnd {
  /** The Status on the error channel, as a text. */
  readonly status: string;
  readonly stderr: string;
}

/** Maximum length of what is kept of the messages of a program. */
const maxMessages = 2_000;
/** Bytes that wait in the browser until the network has sent them. */
const maxWaiting = 1024 * 1024;
/** Interval at which a full WebSocket is looked at again: it has no event for this. */
const againMs = 20;

/** Resolves when the program has ended. Rejects if the connection is lost, or the signal aborts. */
export function runProgram({ place, command, input, onOutput, signal }: Program): Promise<ProgramEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd>();
  const stream = openStream(programPath(place, command, input !== undefined));
  const end = { status: '', stderr: '' };
  const fail = (reason: unknown) => {
    reject(reason);
    stream.close();
  };
  signal.addEventListener('abort', () => fail(signal.reason), { once: true });
  const decoder = new TextDecoder();
  stream.addEventListener('open', () => {
    if (input) send(stream, input).catch(fail);
  });
  stream.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
    const parts = partsOf(new Uint8Array(data));
    if (parts?.channel === channels.error) end.status += new TextDecoder().decode(parts.data);
    if (parts?.channel === channels.stderr && end.stderr.length < maxMessages)
      end.stderr += decoder.decode(parts.data, { stream: true }).slice(0, maxMessages);
    if (parts?.channel !== channels.stdout) return;
    try {
      onOutput?.(parts.data);
    } catch (error) {
      fail(error);
    }
  });
  stream.addEventListener('close', ({ code, reason }) => {
    if (end.status !== '') resolve(end);
    else reject(new Error(reason || `the connection has ended (${code})`));
  });
  return promise;
}

async function send(stream: WebSocket, input: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const bytes of input) {
    while (stream.bufferedAmount > maxWaiting && stream.readyState === WebSocket.OPEN)
      await new Promise((resolve) => setTimeout(resolve, againMs));
    // A program that has ended reports why by its status.
    if (stream.readyState !== WebSocket.OPEN) return;
    stream.send(message(channels.stdin, bytes));
  }
  stream.send(endOfInput());
}
