/** Request bodies, bounded: what is larger is refused and not kept. */
import { newBadRequest, newStatusError } from '../apimachinery/status-error.ts';
import type { RequestScope } from './request-scope.ts';

/** k8s.io/apiserver's MaxRequestBodyBytes. */
export const maxBodyBytes = 3 * 1024 * 1024;
/**
 * A body up to this is read to its end and dropped before the refusal, so that the client, which is still sending,
 * gets to read it. A larger one costs the client its connection.
 */
const maxDrainedBytes = 32 * 1024 * 1024;

const tooLarge = () =>
  newStatusError('RequestEntityTooLarge', `Request entity too large: limit is ${maxBodyBytes}`);

/** Milliseconds a client gets to send all of it. What /proxy passes on takes the time it takes. */
const patienceMs = 60_000;

export async function readBody({
  request,
  server,
}: Pick<RequestScope, 'request' | 'server'>): Promise<Buffer> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = server.clock.after(patienceMs, () =>
    reject(newStatusError('Timeout', `the request body did not arrive within ${patienceMs / 1000} s`)),
  );
  try {
    return await Promise.race([late, readAll(request)]);
  } finally {
    timer.cancel();
  }
}

async function readAll(request: Request): Promise<Buffer> {
  if (!request.body) return Buffer.alloc(0);
  if (Number(request.headers.get('content-length') ?? 0) > maxDrainedBytes) throw tooLarge();
  let chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size <= maxBodyBytes) chunks.push(chunk);
      else chunks = [];
      if (size > maxDrainedBytes) break;
    }
  } catch (error) {
    throw newBadRequest(
      `the request body could not be read: ${error instanceof Error ? error.message : error}`,
    );
  }
  if (size > maxBodyBytes) throw tooLarge();
  return Buffer.concat(chunks);
}
