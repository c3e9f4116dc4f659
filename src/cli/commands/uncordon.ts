/** `ctl uncordon`: marks a node schedulable again. */
import { nodeFlags, nodesOf, setUnschedulable } from '../nodes/nodes.ts';
import type { Verb } from '../verb.ts';

export const uncordon: Verb = {
  about: 'mark a node schedulable again',
  words: 'NODE',
  flags: nodeFlags,
  run: async (context) => setUnschedulable(context, await nodesOf(context, 'uncordon'), false),
};
