import type { Plugin } from '../framework.ts';

const name = 'NodeName';
const rejected = [
  { plugin: name, text: "node(s) didn't match the requested node name", unresolvable: true },
] as const;

/** Restricts a pod that names a node to that node. */
export const nodeName: Plugin<undefined> = {
  name,
  preFilter: ({ pod: { spec } }) => (spec.nodeName ? { state: undefined, nodes: [spec.nodeName] } : 'skip'),
  filter: ({ pod }, node) => (pod.spec.nodeName === node.name ? [] : rejected),
  helps: (event, { pod }) => event.kind === 'nodeAdded' && event.node.name === pod.spec.nodeName,
};
