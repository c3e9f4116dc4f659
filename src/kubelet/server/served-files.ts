/** Files of features that this node serves to other nodes. */
import type { ServerResponse } from 'node:http';
import type { ServedFiles } from '../node/node-feature.ts';
import { RequestError } from './plan/log-request.ts';
import { sendBody } from './streamed-body.ts';

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

/** Sends a file (see `sendBody`). Rejects with RequestError if this node does not have it. */
export function sendFile(
  { files, name }: FileRequest,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const open = async (until: AbortSignal) => {
    const stream = await files.open(name, until);
    if (!stream) throw new RequestError(404, `this node does not have ${JSON.stringify(name)}`);
    return stream as AsyncIterable<Uint8Array>;
  };
  return sendBody({ contentType: 'application/octet-stream', open }, response, signal);
}
