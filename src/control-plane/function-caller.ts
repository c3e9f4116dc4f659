/** Calls functions through the API server of this process. */
import { functionResource } from '../api/minik8s/v1/function.ts';
import { objectPath } from '../client/resource-path.ts';
import type { CallFunction } from '../controllers/triggers/targets.ts';

/** Bytes of an answer that are looked at. */
const mostText = 1024;

export const functionCaller =
  (handler: (request: Request) => Promise<Response>): CallFunction =>
  async ({ namespace, name, headers, body, signal }) => {
    const url = `http://minik8s.internal${objectPath(functionResource, name, namespace, 'invoke')}`;
    const answer = await handler(new Request(url, { method: 'POST', headers, body, signal }));
    return { status: answer.status, text: await beginningOf(answer.body, signal) };
  };

/** An answer that breaks off is none, so it is read to its end. */
async function beginningOf(body: ReadableStream<Uint8Array> | null, signal: AbortSignal): Promise<string> {
  const kept: Uint8Array[] = [];
  let left = mostText;
  for await (const chunk of body ?? []) {
    signal.throwIfAborted();
    if (left > 0) kept.push(chunk.subarray(0, left));
    left -= chunk.length;
  }
  return Buffer.concat(kept).toString('utf8').trim();
}
