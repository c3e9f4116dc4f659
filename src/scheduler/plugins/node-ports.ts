import { portsConflict } from '../../api/core/v1/pod/host-ports.ts';
import type { Plugin } from '../framework.ts';
import type { NodeInfo, PodInfo } from '../node-info.ts';

const name = 'NodePorts';
const rejected = [
  { plugin: name, text: "node(s) didn't have free ports for the requested pod ports" },
] as const;

const taken = ({ hostPorts }: PodInfo, node: Pick<NodeInfo, 'hostPorts'>) =>
  hostPorts.some((wanted) => node.hostPorts.some((other) => portsConflict(wanted, other)));

/** Prevents that two pods use the same port of the same address of a node. */
export const nodePorts: Plugin<undefined> = {
  name,
  preFilter: ({ hostPorts }) => (hostPorts.length > 0 ? { state: undefined } : 'skip'),
  filter: (pod, node) => (taken(pod, node) ? rejected : []),
  helps: (event, pod) => {
    if (event.kind === 'podRemoved') return taken(pod, event.pod);
    return event.kind === 'nodeAdded' || event.kind === 'nominationEnded';
  },
};
