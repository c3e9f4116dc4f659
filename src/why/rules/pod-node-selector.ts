import { metadataOf, recordAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { isRejectedFor, unscheduledOf } from '../rejections.ts';
import type { Rule } from '../rule.ts';

export const podNodeSelector: Rule = {
  kinds: ['pods'],
  symptom: "A pod stays Pending: node(s) didn't match Pod's node affinity/selector.",
  cause: 'No node has the labels that its nodeSelector or its node affinity requires.',
  advice: 'Label a node, or correct the selector.',
  find(pod, seen) {
    const unscheduled = unscheduledOf(pod);
    if (!unscheduled || !isRejectedFor(unscheduled, /node affinity\/selector/)) return undefined;
    const wanted = Object.entries(recordAt(pod, 'spec', 'nodeSelector')).map(
      ([key, value]) => `${key}=${String(value)}`,
    );
    const isSelector = wanted.length > 0;
    const node = unscheduled.nearestNode || metadataOf(seen.list('nodes')[0] ?? {}).name;
    return {
      severity: 'broken',
      says: isSelector
        ? `no suitable node has the labels of its nodeSelector: ${wanted.join(', ')}`
        : 'no suitable node matches its node affinity (spec.affinity.nodeAffinity)',
      evidence: unscheduled.evidence,
      mend: [
        isSelector && node !== ''
          ? { command: command`label node ${node} ${wanted}`, about: 'if that node may run it' }
          : { advice: 'give a node the labels that spec.affinity.nodeAffinity requires, or correct it' },
      ],
    };
  },
};
