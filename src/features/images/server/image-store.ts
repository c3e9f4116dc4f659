/** Contract of the blobs of images on one master. A blob is addressed by its digest and never changes. */
import type { Readable } from 'node:stream';
import type { ImageBlob, ImageContent } from '../api/image.ts';

export interface ImageArchiveStream {
  /** Size in bytes. */
  readonly size: number;
  readonly body: Readable;
}

export interface ImageStore {
  /** Name under which the status of an Image lists this master. */
  readonly master: string;
  /** Returns how many bytes of the blob have arrived; its size once it was verified. */
  received(blob: ImageBlob): Promise<number>;
  /** Returns why there is no room for that many more bytes on the disk; undefined if there is. */
  roomProblem(bytes: number): Promise<string | undefined>;
  /**
   * Appends a piece, and verifies a complete blob. Resolves to the number of bytes that have arrived. Throws
   * UploadError when the piece does not begin where the last one ended, or the complete blob has another
   * digest or is not a layer; the upload of such a blob then starts from the beginning.
   */
  append(blob: ImageBlob, offset: number, piece: Uint8Array, kind: BlobKind): Promise<number>;
  /** Reads a small blob. */
  read(blob: ImageBlob): Promise<Buffer>;
  /** Returns an archive of the image for `docker load`; undefined unless all its blobs are here. */
  archive(content: ImageContent, tag: string): Promise<ImageArchiveStream | undefined>;
  /** Returns the time of the last piece of these blobs, in milliseconds since the epoch; 0 without pieces. */
  lastPieceAt(blobs: readonly ImageBlob[]): Promise<number>;
  /** Removes all blobs, complete or not, except those with these digests. */
  keepOnly(digests: ReadonlySet<string>): Promise<void>;
}

export type BlobKind = 'config' | 'layer';

export class UploadError extends Error {
  override readonly name = 'UploadError';
  readonly reason: 'Offset' | 'Damaged' | 'NoRoom';

  constructor(reason: UploadError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}
