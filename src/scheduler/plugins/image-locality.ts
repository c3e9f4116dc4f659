import { initContainersOf } from '../../api/core/v1/container/init-containers.ts';
import type { PodSpec } from '../../api/core/v1/types.gen.ts';
import { type Cluster, maxScore, type Plugin } from '../framework.ts';

const mebi = 1024 * 1024;
/** Thresholds of upstream: smaller images get no preference, and a larger sum per container is not better. */
const [least, maxOfOne] = [23 * mebi, 1000 * mebi];

interface Images {
  readonly names: readonly string[];
  readonly cluster: Cluster;
}

/**
 * Prefers nodes that have the images, by the size that need not be pulled; images on few nodes count less.
 */
export const imageLocality: Plugin<unknown, Images> = {
  name: 'ImageLocality',
  preScore({ pod: { spec } }, _nodes, cluster) {
    const names = imagesOf(spec);
    return names.some((name) => cluster.nodesWithImage(name) > 0) ? { state: { names, cluster } } : 'skip';
  },
  score(_pod, { images }, { names, cluster }) {
    let sum = 0;
    for (const name of names)
      sum += ((images.get(name) ?? 0) * cluster.nodesWithImage(name)) / cluster.nodes.length;
    const most = maxOfOne * names.length;
    return ((Math.min(Math.max(sum, least), most) - least) / (most - least)) * maxScore;
  },
};

const imagesOf = (spec: PodSpec): readonly string[] =>
  [...initContainersOf(spec), ...spec.containers].map(({ image }) => withTag(image));

/** Returns the image name with a tag, in the form that nodes report. */
const withTag = (image: string) =>
  image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
