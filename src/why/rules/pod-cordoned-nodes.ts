import { valueAt } from '../../apimachinery/fields.ts';
import { isRejectedFor, unscheduledOf } from '../rejections.ts';
import type { Rule } from '../rule.ts';
import { refOf } from '../snapshot.ts';

export const podCordonedNodes: Rule = {
  kinds: ['pods'],
  symptom: 'A pod stays Pending: node(s) were unschedulable.',
  cause: 'The node on which it fits best is cordoned.',
  advice: 'Uncordon a node.',
  find(pod, seen) {
    const unscheduled = unscheduledOf(pod);
    if (!unscheduled || !isRejectedFor(unscheduled, /unschedulable/)) return undefined;
    const cordoned = seen
      .list('nodes')
      .filter((node) => valueAt(node, 'spec', 'unschedulable') === true)
      .map((node) => refOf('nodes', node));
    const nearest = cordoned.find(({ name }) => name === unscheduled.nearestNode);
    return {
      severity: 'broken',
      says: 'no node accepts it: those on which it could run are cordoned',
      evidence: unscheduled.evidence,
      because: nearest ? [nearest] : cordoned,
    };
  },
};
