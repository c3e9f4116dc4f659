import { metadataOf, valueAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import type { Rule } from '../rule.ts';

export const nodeCordoned: Rule = {
  kinds: ['nodes'],
  symptom: 'A node takes no new pods (SchedulingDisabled).',
  cause: 'An administrator or a program has cordoned or drained it.',
  advice: 'Uncordon it when its maintenance is over.',
  find(node) {
    if (valueAt(node, 'spec', 'unschedulable') !== true) return undefined;
    return {
      severity: 'waiting',
      says: 'the node is cordoned: it takes no new pods',
      mend: [{ command: command`uncordon ${metadataOf(node).name}` }],
    };
  },
};
