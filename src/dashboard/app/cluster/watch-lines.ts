/** The events of a watch, read from the stream of an answer. */
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { WatchEvent } from '../../../client/client.ts';
import { watchEventOf } from '../../../client/watch-event.ts';
import { request } from './request.ts';

export interface WatchRequest {
  readonly path: string;
  readonly accept: string;
  readonly signal: AbortSignal;
  /** Called when the server has begun to answer. */
  readonly onOpen?: (() => void) | undefined;
}

/**
 * Yields the events of a watch until the server ends it; a watch whose signal aborts ends without an error.
 */
export async function* watchLines<T extends KubeObject>({
  path,
  accept,
  signal,
  onOpen,
}: WatchRequest): AsyncGenerator<WatchEvent<T>> {
  try {
    const response = await request(path, { headers: { accept }, signal });
    onOpen?.();
    if (!response.body) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      yield* eventsOf<T>(reader, `GET ${path}`);
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function* eventsOf<T extends KubeObject>(
  reader: ReadableStreamDefaultReader<string>,
  what: string,
): AsyncGenerator<WatchEvent<T>> {
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield watchEventOf<T>(line, what);
  }
  if (rest.trim() !== '') throw new Error('the watch was cut in the middle of an event');
}
