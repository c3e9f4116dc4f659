/** `ctl uncordon`: marks a node schedulable again. */
import { nodeFlags, nodesOf, setUnschedulable } from '../nodes/nodes.ts';
import type { Verb } from '../verb.ts';

export const uncordon: Verb = {
  about: 'mark nodes schedulable again',
  group: 'Cluster Management Commands',
  words: ['NODE...', '-l SELECTOR'],
  flags: nodeFlags,
  examples: ['ctl uncordon n1 # place pods on a node again'],
  run: async (context) => setUnschedulable(context, await nodesOf(context, 'uncordon'), false),
};
