/** Serves `images/NAME/archive`: from this master's disk, or from a node that has the image. */
import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { newStatusError } from '../../../apimachinery/status-error.ts';
import type { Handler } from '../../../apiserver/request/request-scope.ts';
import { StreamedAnswer } from '../../../apiserver/transport/streamed-answer.ts';
import type { NodeConnection } from '../../../kube-apiserver/node-connection.ts';
import type { Image } from '../api/image.ts';
import { nodesWith } from '../api/image-content.ts';
import { heldTag } from '../api/image-name.ts';
import { nodePath } from '../api/image-node.ts';
import type { ImageObjects } from './image-objects.ts';
import type { ImageStore } from './image-store.ts';

/** Maximum number of archives that are sent at once. */
const maxArchives = 8;
const retryAfterSeconds = 2;

export interface ArchiveParts {
  readonly store: ImageStore | undefined;
  readonly objects: () => ImageObjects;
  readonly nodeConnection: NodeConnection | undefined;
}

export function sendArchive(parts: ArchiveParts): Handler {
  let sending = 0;
  return async ({ info, headers, signal, shutdown }) => {
    const image = await parts.objects().get(info.name);
    if (sending >= maxArchives)
      throw newStatusError('TooManyRequests', `${maxArchives} images are being sent`, { retryAfterSeconds });
    sending++;
    try {
      const until = shutdown ? AbortSignal.any([signal, shutdown]) : signal;
      const { size, body } = await opened(parts, image, until);
      // A client that left while the archive was opened causes no further event.
      if (until.aborted) {
        body.destroy();
        throw newStatusError('ServiceUnavailable', 'the request ended while the archive was opened');
      }
      body.once('close', () => void sending--);
      until.addEventListener('abort', () => body.destroy(), { once: true });
      const fields = Object.entries({ ...headers, 'content-type': 'application/x-tar' }).flat();
      if (size !== undefined) fields.push('content-length', String(size));
      return new StreamedAnswer(200, body, fields);
    } catch (error) {
      sending--;
      throw error;
    }
  };
}

/** Opens the archive here, or at a node, which does not report its size. Throws 503 if there is none. */
async function opened(
  { store, nodeConnection }: ArchiveParts,
  image: Image,
  until: AbortSignal,
): Promise<{ readonly size?: number; readonly body: Readable }> {
  const content = image.status?.content;
  if (!content) throw newStatusError('ServiceUnavailable', `image ${image.spec.image} is being uploaded`);
  const own = await store?.archive(content, heldTag(content.config.digest));
  if (own) return own;
  const body = await fromNodes(nodesWith(image), image.metadata.name, nodeConnection, until);
  if (!body) throw nowhere(image.spec.image, image.status?.masters);
  return { body };
}

const nowhere = (image: string, masters: Readonly<Record<string, string>> = {}) =>
  newStatusError(
    'ServiceUnavailable',
    `this master does not keep image ${image}, and no node with it answers; ` +
      `kept by: ${Object.keys(masters).join(', ') || 'no master'}`,
  );

/** Returns the archive of the first node that answers with one. */
async function fromNodes(
  nodes: readonly string[],
  name: string,
  connection: NodeConnection | undefined,
  signal: AbortSignal,
): Promise<Readable | undefined> {
  if (!connection) return undefined;
  for (const node of nodes) {
    const answer = await connection(node, nodePath(name), signal).catch(() => undefined);
    if (answer?.ok && answer.body) return Readable.fromWeb(answer.body as WebStream<Uint8Array>);
    await answer?.body?.cancel();
  }
  return undefined;
}
