import { matches, selectorFromMap } from '../../apimachinery/labels.ts';
import type { Plugin } from '../framework.ts';

export const nodeSelector: Plugin = {
  name: 'NodeAffinity',
  filter: ({ pod }, { node }) =>
    matches(selectorFromMap(pod.spec.nodeSelector ?? {}), node.metadata.labels)
      ? []
      : [{ plugin: 'NodeAffinity', text: "node(s) didn't match Pod's node affinity/selector" }],
};
