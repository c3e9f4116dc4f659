/**
 * Writes an answer whose body is a web stream to an HTTP/1.1 client. The Hono adapter would print errors of
 * bodies as bare stacks.
 */
import type { ServerResponse } from 'node:http';
import { cutAnswer } from '../../http/cut-answer.ts';

/**
 * Resolves when the answer has been written or the client has disconnected. The error of a body that fails is
 * passed to `onFailure`, and the answer is cut off.
 */
export async function pourAnswer(
  { status, headers, body }: Response,
  outgoing: ServerResponse,
  onFailure: (error: unknown) => void,
): Promise<void> {
  outgoing.writeHead(status, [...headers].flat());
  if (!body) {
    outgoing.end();
    return;
  }
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => undefined);
  if (outgoing.closed) return leave();
  outgoing.once('close', leave);
  let hasBegun = false;
  // The head is sent with the first bytes of the body if they are available already.
  process.nextTick(() => {
    if (!hasBegun && !outgoing.closed) outgoing.flushHeaders();
  });
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      hasBegun = true;
      if (!outgoing.write(piece.value) && !outgoing.closed) await room(outgoing);
    }
    hasBegun = true;
    outgoing.end();
  } catch (error) {
    hasBegun = true;
    if (outgoing.closed) return;
    outgoing.flushHeaders();
    onFailure(error);
    cutAnswer(outgoing);
  } finally {
    outgoing.off('close', leave);
  }
}

/** Resolves when the client can take more, or has disconnected. */
function room(outgoing: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  outgoing.once('drain', resolve);
  outgoing.once('close', resolve);
  return promise.finally(() => {
    outgoing.off('drain', resolve);
    outgoing.off('close', resolve);
  });
}
