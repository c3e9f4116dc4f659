/** Uploads of images in pieces: what has arrived, the next piece, and the end. */
import { createHash } from 'node:crypto';
import { newBadRequest, newStatusError, StatusError } from '../../../apimachinery/status-error.ts';
import type { Handler, RequestScope } from '../../../apiserver/request/request-scope.ts';
import { respondJson } from '../../../apiserver/respond.ts';
import type { Image, ImageBlob } from '../api/image.ts';
import { blobsOf, contentOf, isReady, maxPieceBytes } from '../api/image-content.ts';
import { type ImageObjects, replaced } from './image-objects.ts';
import { type BlobKind, type ImageStore, UploadError } from './image-store.ts';

/** Maximum number of pieces that are received at once, of uploads that are not finished, and retry time. */
const maxPieces = 4;
const maxUploads = 16;
const retryAfterSeconds = 1;

export interface UploadParts {
  readonly store: ImageStore;
  readonly objects: () => ImageObjects;
}

/** Serves `images/NAME/upload`. */
export function uploads(parts: UploadParts) {
  let receiving = 0;
  const get: Handler = async ({ info, headers }) => respondJson(200, await begin(parts, info.name), headers);
  const put: Handler = async (scope) => {
    if (receiving >= maxPieces)
      throw newStatusError('TooManyRequests', `${maxPieces} pieces of images are being received`, {
        retryAfterSeconds,
      });
    receiving++;
    try {
      return respondJson(200, { received: await take(parts, scope) }, scope.headers);
    } finally {
      receiving--;
    }
  };
  const post: Handler = async ({ info, headers }) =>
    respondJson(200, await finish(parts, info.name), headers);
  return { GET: get, PUT: put, POST: post };
}

/** Returns how many bytes of each blob have arrived. Throws if this master has no room for the rest. */
async function begin({ store, objects }: UploadParts, name: string): Promise<object> {
  const image = await objects().get(name);
  const received: Record<string, number> = {};
  let missing = 0;
  for (const blob of blobsOf(image.spec)) {
    const arrived = await store.received(blob);
    received[blob.digest] = arrived;
    missing += blob.size - arrived;
  }
  await requireRoom(store, missing);
  if (!isReady(image)) await announce({ store, objects }, image);
  return { received };
}

/** Notes in the status that this master receives the upload. */
async function announce({ store, objects }: UploadParts, image: Image): Promise<void> {
  if (image.status?.uploadingTo === store.master) return;
  const all = await objects().list();
  const others = all.filter((one) => one.status?.uploadingTo === store.master && !isReady(one));
  if (others.length >= maxUploads)
    throw newStatusError(
      'TooManyRequests',
      `master ${store.master} receives ${maxUploads} images already: ${namesOf(others)}`,
      { retryAfterSeconds: 30 },
    );
  await objects().patchStatus(image, { uploadingTo: store.master });
}

const namesOf = (images: readonly Image[]) => images.map(({ spec }) => spec.image).join(', ');

/**
 * Throws 507, HTTP's status for a full disk, if there is no room. Kubernetes has no reason for this status.
 */
async function requireRoom(store: ImageStore, bytes: number): Promise<void> {
  const problem = bytes > 0 ? await store.roomProblem(bytes) : undefined;
  if (problem !== undefined) throw noRoom(problem);
}

function noRoom(message: string): StatusError {
  const { status } = newStatusError('InternalError', message);
  return new StatusError({ ...status, code: 507 });
}

async function take({ store, objects }: UploadParts, scope: RequestScope): Promise<number> {
  const { info, query, request } = scope;
  const hex = /^\/([0-9a-f]{64})$/.exec(info.rest)?.[1];
  if (hex === undefined) throw newBadRequest('the path must end with the 64 hexadecimal digits of a blob');
  const offset = Number(query.get('offset') ?? Number.NaN);
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw newBadRequest('offset must be the position of the piece in its blob, in bytes');
  const piece = await pieceOf(request);
  const { spec } = await objects().get(info.name);
  const digest = `sha256:${hex}`;
  const blob = blobsOf(spec).find((one) => one.digest === digest);
  if (!blob) throw replaced(info.name);
  await requireRoom(store, blob.size - offset);
  const kind: BlobKind = digest === spec.config.digest ? 'config' : 'layer';
  return appended(store, blob, offset, piece, kind);
}

async function appended(
  store: ImageStore,
  blob: ImageBlob,
  offset: number,
  piece: Uint8Array,
  kind: BlobKind,
): Promise<number> {
  try {
    return await store.append(blob, offset, piece, kind);
  } catch (error) {
    if (!(error instanceof UploadError)) throw error;
    if (error.reason === 'NoRoom') throw noRoom(error.message);
    if (error.reason === 'Offset') throw newStatusError('Conflict', error.message);
    throw newBadRequest(error.message);
  }
}

/**
 * Reads a piece, and compares it with its Content-Digest (RFC 9530). Throws before memory holds more than the
 * maximum of a piece.
 */
async function pieceOf({ body, headers }: Request): Promise<Uint8Array> {
  const expected = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/.exec(headers.get('content-digest') ?? '')?.[1];
  if (expected === undefined)
    throw newBadRequest('a piece needs the header Content-Digest with its sha-256 (RFC 9530)');
  const hash = createHash('sha256');
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > maxPieceBytes)
      throw newStatusError('RequestEntityTooLarge', `a piece may have at most ${maxPieceBytes} bytes`);
    hash.update(part);
    parts.push(part);
  }
  if (size === 0) throw newBadRequest('the piece is empty');
  if (hash.digest('base64') !== expected)
    throw newBadRequest('the piece was damaged on its way: it does not match its Content-Digest');
  return Buffer.concat(parts);
}

/** Ends an upload: from here on pods get the content. Verifies that the layers are those of the image. */
async function finish({ store, objects }: UploadParts, name: string): Promise<Image> {
  const image = await objects().get(name);
  for (const blob of blobsOf(image.spec)) {
    const arrived = await store.received(blob);
    if (arrived < blob.size)
      throw newStatusError('Conflict', `${arrived} of ${blob.size} bytes of ${blob.digest} have arrived`);
  }
  const { architecture } = checkedConfig(image, await store.read(image.spec.config));
  const digest = image.spec.config.digest;
  try {
    return await objects().patchStatus(image, {
      content: contentOf(image.spec),
      architecture,
      uploadingTo: null,
      masters: { ...withoutOthers(image.status?.masters, digest), [store.master]: digest },
      nodes: withoutOthers(image.status?.nodes, digest),
    });
  } catch (error) {
    if (!(error instanceof StatusError && error.status.reason === 'Conflict')) throw error;
    const now = await objects().get(name);
    // Another upload of the same content has ended, or a node has reported it.
    if (now.metadata.generation === image.metadata.generation) return finish({ store, objects }, name);
    throw replaced(name);
  }
}

/** Returns a merge patch that removes the holders of another content. */
function withoutOthers(holders: Readonly<Record<string, string>> = {}, digest: string): object {
  return Object.fromEntries(
    Object.entries(holders).flatMap(([name, has]) => (has === digest ? [] : [[name, null]])),
  );
}

/** Throws unless the configuration is for linux and names exactly the layers of the spec. */
function checkedConfig({ spec }: Image, bytes: Buffer): { readonly architecture: string } {
  let config: { architecture?: unknown; os?: unknown; rootfs?: { diff_ids?: unknown } };
  try {
    config = JSON.parse(bytes.toString('utf8')) as typeof config;
  } catch {
    throw newBadRequest('the configuration of the image is not JSON');
  }
  const diffIds: unknown = config?.rootfs?.diff_ids;
  const expected = spec.layers.map(({ digest }) => digest);
  if (!Array.isArray(diffIds) || diffIds.join() !== expected.join())
    throw newBadRequest('the configuration of the image names other layers (rootfs.diff_ids) than the spec');
  if (config.os !== undefined && config.os !== 'linux')
    throw newBadRequest(`the image is for ${String(config.os)}, not for linux`);
  return { architecture: typeof config.architecture === 'string' ? config.architecture : '' };
}
