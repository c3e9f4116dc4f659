/** Files of features that this node serves to other nodes. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ServedFiles } from '../node/node-feature.ts';
import { RequestError } from './plan/log-request.ts';

export interface FileRequest {
  readonly files: ServedFiles;
  readonly name: string;
}

/** Returns which file a path addresses; undefined for any other path. */
export function fileRequest(all: readonly ServedFiles[], { pathname }: URL): FileRequest | undefined {
  const files = all.find(({ prefix }) => pathname.startsWith(prefix));
  if (!files) return undefined;
  const name = decodeURIComponent(pathname.slice(files.prefix.length));
  return name === '' || name.includes('/') ? undefined : { files, name };
}

/**
 * Sends a file. Rejects with RequestError when nothing has been sent. Rejects with another error when the
 * file
 * ends too early: the connection must then be closed, so that the client notices.
 */
export async function sendFile(
  { files, name }: FileRequest,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const both = AbortSignal.any([signal, gone.signal]);
  try {
    const stream = await files.open(name, both);
    if (!stream) throw new RequestError(404, `this node does not have ${JSON.stringify(name)}`);
    response.setHeader('content-type', 'application/octet-stream');
    response.flushHeaders();
    for await (const chunk of stream as AsyncIterable<Uint8Array>)
      if (!response.write(chunk)) await once(response, 'drain', { signal: both });
    response.end();
  } catch (error) {
    if (both.aborted) return void response.destroy();
    throw error;
  } finally {
    gone.abort();
  }
}
