import type { HostPort, Plugin } from '../framework.ts';

/** Two pods cannot have one port of one address of a node. */
export const nodePorts: Plugin = {
  name: 'NodePorts',
  filter: ({ hostPorts }, node) =>
    hostPorts.some((wanted) => node.hostPorts.some((taken) => conflict(wanted, taken)))
      ? [{ plugin: 'NodePorts', text: "node(s) didn't have free ports for the requested pod ports" }]
      : [],
};

function conflict(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === undefined || b.ip === undefined;
}
