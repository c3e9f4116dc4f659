import type { HostPort, Plugin } from '../framework.ts';

/** Two pods cannot have one port of one node; the address 0.0.0.0 stands for every address. */
export const nodePorts: Plugin = {
  name: 'NodePorts',
  filter: ({ hostPorts }, node) =>
    hostPorts.some((wanted) => node.hostPorts.some((taken) => conflict(wanted, taken)))
      ? [{ plugin: 'NodePorts', text: "node(s) didn't have free ports for the requested pod ports" }]
      : [],
};

const anyAddress = '0.0.0.0';

function conflict(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === anyAddress || b.ip === anyAddress;
}
