/** Decides which nodes are asked for an image. Pure. */
import type { Random } from '../../../../base/random.ts';
import type { Image } from '../../api/image.ts';
import { nodesWith } from '../../api/image-content.ts';

/** Maximum number of nodes that are asked for one image before a master is. */
const maxNodes = 3;

/** Returns some of the other nodes that have the image, in random order, so that none serves all of them. */
export function nodesToAsk(image: Image, self: string, random: Pick<Random, 'next'>): readonly string[] {
  return nodesWith(image)
    .filter((node) => node !== self)
    .map((node) => [random.next(), node] as const)
    .toSorted(([a], [b]) => a - b)
    .slice(0, maxNodes)
    .map(([, node]) => node);
}
