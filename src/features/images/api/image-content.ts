/** The content of an image: its blobs, its sizes, and whether a content is complete. Pure. */
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { Image, ImageBlob, ImageContent } from './types.gen.ts';

/** Maximum bytes of an image, of its configuration, and of one piece of an upload. */
export const maxImageBytes = 32 * 1024 ** 3;
export const maxConfigBytes = 4 * 1024 ** 2;
export const maxPieceBytes = 8 * 1024 ** 2;
/** Maximum number of layers: the limit of the engine's storage driver. */
export const maxLayers = 127;

export const digestPattern = /^sha256:[0-9a-f]{64}$/;

type Content = Pick<ImageContent, 'config'> & { readonly layers: readonly ImageBlob[] };

/** Returns the blobs of a content, each digest once. */
export function blobsOf({ config, layers }: Content): readonly ImageBlob[] {
  const all = [config, ...layers].map((blob) => [blob.digest, blob] as const);
  return [...new Map(all).values()];
}

export const imageSizeOf = (content: Content): number =>
  blobsOf(content).reduce((sum, { size }) => sum + size, 0);

export const sameContent = (a: ImageContent, b: ImageContent): boolean =>
  deepEqual(contentOf(a), contentOf(b));

/** Returns only the fields of the content. */
export const contentOf = ({ config, layers }: ImageContent): ImageContent => ({ config, layers });

/** Returns true when the content of the spec is the one that pods get. */
export const isReady = ({ spec, status }: Image): boolean =>
  status?.content !== undefined && sameContent(spec, status.content);

/** Returns the nodes whose engine has the content that pods get. */
export const nodesWith = ({ status }: Image): readonly string[] =>
  holders(status?.nodes, status?.content?.config.digest);

/** Returns the masters that keep the content that pods get. */
export const mastersWith = ({ status }: Image): readonly string[] =>
  holders(status?.masters, status?.content?.config.digest);

const holders = (all: Readonly<Record<string, string>> = {}, digest: string | undefined) =>
  Object.entries(all).flatMap(([name, has]) => (has === digest ? [name] : []));
