import { textAt } from '../../apimachinery/fields.ts';
import { conditionOf, isOver, isReady } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

export const podOnLostNode: Rule = {
  kinds: ['pods'],
  symptom: 'A pod is not ready, and its node is NotReady.',
  cause: 'The node does not report; whether the pod runs is unknown.',
  advice: 'Mend the node.',
  find(pod, seen) {
    const name = textAt(pod, 'spec', 'nodeName');
    if (isOver(pod) || isReady(pod) || name === '') return undefined;
    const ref = { key: 'nodes', namespace: '', name } as const;
    const node = seen.get(ref);
    if (!node || conditionOf(node, 'Ready')?.status === 'True') return undefined;
    return { severity: 'broken', says: `its node ${name} is not ready`, because: [ref] };
  },
};
