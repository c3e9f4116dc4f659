/** `ctl cordon`: marks a node unschedulable; the pods on it stay. */
import { nodeFlags, nodesOf, setUnschedulable } from '../nodes/nodes.ts';
import type { Verb } from '../verb.ts';

export const cordon: Verb = {
  about: 'mark a node unschedulable: no new pods are bound to it',
  words: 'NODE',
  flags: nodeFlags,
  run: async (context) => setUnschedulable(context, await nodesOf(context, 'cordon'), true),
};
