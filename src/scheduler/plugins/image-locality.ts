import { initContainersOf } from '../../api/core/v1/init-containers.ts';
import type { PodSpec } from '../../api/core/v1/types.gen.ts';
import { type Cluster, maxScore, type Plugin } from '../framework.ts';

const mebi = 1024 * 1024;
/** Less is not worth a preference, more of one container is no better (upstream's thresholds). */
const [least, mostOfOne] = [23 * mebi, 1000 * mebi];

interface Images {
  readonly names: readonly string[];
  readonly cluster: Cluster;
}

/** Nodes that have the images already are better, by how much would have to be pulled; those that only few have count less. */
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
    const most = mostOfOne * names.length;
    return ((Math.min(Math.max(sum, least), most) - least) / (most - least)) * maxScore;
  },
};

const imagesOf = (spec: PodSpec): readonly string[] =>
  [...initContainersOf(spec), ...spec.containers].map(({ image }) => withTag(image));

/** As nodes tell the names of their images. */
const withTag = (image: string) =>
  image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
