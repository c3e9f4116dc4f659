/** `ctl cordon`: marks a node unschedulable; the pods on it stay. */
import { nodeFlags, nodesOf, setUnschedulable } from '../nodes/nodes.ts';
import type { Verb } from '../verb.ts';

export const cordon: Verb = {
  about: 'mark nodes unschedulable, so that no new pods are placed on them',
  group: 'Cluster Management Commands',
  words: ['NODE...', '-l SELECTOR'],
  flags: nodeFlags,
  examples: ['ctl cordon n1 # place no new pods on a node'],
  run: async (context) => setUnschedulable(context, await nodesOf(context, 'cordon'), true),
};
