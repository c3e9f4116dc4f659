/** Request bodies, bounded: what is larger is refused before it is kept. */
import { newBadRequest, newStatusError } from '../apimachinery/status-error.ts';

/** k8s.io/apiserver's MaxRequestBodyBytes. */
export const maxBodyBytes = 3 * 1024 * 1024;

const tooLarge = () =>
  newStatusError('RequestEntityTooLarge', `Request entity too large: limit is ${maxBodyBytes}`);

export async function readBody(request: Request): Promise<Buffer> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) throw tooLarge();
  if (!request.body) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size > maxBodyBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw newBadRequest(
      `the request body could not be read: ${error instanceof Error ? error.message : error}`,
    );
  }
  if (size > maxBodyBytes) throw tooLarge();
  return Buffer.concat(chunks);
}
