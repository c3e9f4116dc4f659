/** Reads request bodies up to a maximum size. */
import { newBadRequest, newStatusError } from '../../apimachinery/status-error.ts';
import { goesOn } from '../request/request-meter.ts';
import type { RequestScope } from '../request/request-scope.ts';

/** k8s.io/apiserver's MaxRequestBodyBytes. */
export const maxBodyBytes = 3 * 1024 * 1024;
/**
 * A body up to this size is read to its end and discarded before it is rejected, so that the client, which is
 * still sending, can read the answer. A client with a larger body is disconnected.
 */
export const maxDrainedBytes = 32 * 1024 * 1024;

const tooLarge = () =>
  newStatusError('RequestEntityTooLarge', `Request entity too large: limit is ${maxBodyBytes}`);

/** Timeout in milliseconds of a whole body. Bodies that /proxy forwards have no timeout. */
export const bodyTimeoutMs = 60_000;

export async function readBody({
  request,
  server,
}: Pick<RequestScope, 'request' | 'server'>): Promise<Buffer> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = server.clock.after(bodyTimeoutMs, () =>
    reject(newStatusError('Timeout', `the request body did not arrive within ${bodyTimeoutMs / 1000} s`)),
  );
  try {
    const body = await Promise.race([late, readAll(request)]);
    goesOn(server, request);
    return body;
  } finally {
    timer.cancel();
  }
}

async function readAll(request: Request): Promise<Buffer> {
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (length > maxDrainedBytes) throw tooLarge();
  return length <= maxBodyBytes ? readWhole(request) : readInParts(request);
}

const unreadable = (error: unknown) =>
  newBadRequest(`the request body could not be read: ${error instanceof Error ? error.message : error}`);

/**
 * Reads a body with a Content-Length, which HTTP does not exceed. The body comes directly from the
 * connection, without a stream of its own.
 */
async function readWhole(request: Request): Promise<Buffer> {
  const body = Buffer.from(
    await request.arrayBuffer().catch((error) => {
      throw unreadable(error);
    }),
  );
  if (body.length > maxBodyBytes) throw tooLarge();
  return body;
}

async function readInParts(request: Request): Promise<Buffer> {
  if (!request.body) return Buffer.alloc(0);
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
    throw unreadable(error);
  }
  if (size > maxBodyBytes) throw tooLarge();
  return Buffer.concat(chunks);
}
