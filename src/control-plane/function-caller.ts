/** Calls functions through the API server of this process. */

import { objectPath } from '../client/resource-path.ts';
import { functionResource } from '../features/functions/api/function.ts';
import type { CallFunction } from '../features/triggers/controller/targets.ts';

/** Maximum number of bytes of an answer that are kept. */
const maxText = 1024;

export const functionCaller =
  (handler: (request: Request) => Promise<Response>): CallFunction =>
  async ({ namespace, name, headers, body, signal }) => {
    const url = `http://minik8s.internal${objectPath(functionResource, name, namespace, 'invoke')}`;
    const answer = await handler(new Request(url, { method: 'POST', headers, body, signal }));
    return { status: answer.status, text: await beginningOf(answer.body, signal) };
  };

/** The answer is read to its end, because an answer that breaks off counts as a failure. */
async function beginningOf(body: ReadableStream<Uint8Array> | null, signal: AbortSignal): Promise<string> {
  const kept: Uint8Array[] = [];
  let left = maxText;
  for await (const chunk of body ?? []) {
    signal.throwIfAborted();
    if (left > 0) kept.push(chunk.subarray(0, left));
    left -= chunk.length;
  }
  return Buffer.concat(kept).toString('utf8').trim();
}
