/** Wires the features of minik8s on this node. */
import { type NodePart, observerOf } from '../node/node-feature.ts';
import type { ImagesRoom } from './images.ts';
import type { Shared } from './shared.ts';

export type FeaturesRoom = ReturnType<typeof wireFeatures>;

export function wireFeatures(before: Shared & ImagesRoom) {
  const parts: readonly NodePart[] = (before.features ?? []).map((feature) => feature.start(before));
  before.images.clusterImages = parts.find(({ clusterImages }) => clusterImages)?.clusterImages;
  return {
    featureParts: parts,
    imageProviders: parts.flatMap(({ imageProviders = [] }) => imageProviders),
    podObserver: observerOf(parts),
    servedFiles: parts.flatMap(({ files }) => files ?? []),
  };
}
