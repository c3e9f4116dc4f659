/** Programs of the simulated engine, and how they use their streams. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { ProcessStreams } from './runtime.ts';

/** Runs a simulated program; resolves with its exit status. */
export type Program = (
  command: readonly string[],
  streams: ProcessStreams,
  signal: AbortSignal,
) => Promise<number>;

/** Writes its input to its output until the input ends. */
export const copyInput: Program = async (_command, { stdin, stdout }, signal) => {
  for await (const chunk of stdin ?? []) {
    signal.throwIfAborted();
    await writeTo(stdout, chunk as Buffer);
  }
  return 0;
};

/** Resolves when more may be written. */
export async function writeTo(target: Writable | undefined, data: Uint8Array): Promise<void> {
  if (target && !target.write(data)) await once(target, 'drain');
}

/** Yields the lines of an input until it ends or the signal aborts. */
export async function* linesOf(input: Readable, signal: AbortSignal): AsyncIterable<string> {
  const lines = createInterface({ input });
  const close = () => lines.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    if (!signal.aborted) yield* lines;
  } finally {
    signal.removeEventListener('abort', close);
    lines.close();
  }
}
