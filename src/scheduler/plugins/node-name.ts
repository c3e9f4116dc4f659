import type { Plugin } from '../framework.ts';

/** A pod that names a node goes there or nowhere. */
export const nodeName: Plugin = {
  name: 'NodeName',
  filter: ({ pod }, { node }) =>
    pod.spec.nodeName && pod.spec.nodeName !== node.metadata.name
      ? [{ plugin: 'NodeName', text: "node(s) didn't match the requested node name" }]
      : [],
};
