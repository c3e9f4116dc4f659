import { unscheduledOf } from '../rejections.ts';
import type { Rule } from '../rule.ts';

export const podUnschedulable: Rule = {
  kinds: ['pods'],
  symptom:
    'A pod stays Pending for another reason of the scheduler, such as pod affinity or spread constraints.',
  cause: 'The message of the scheduler names it.',
  advice: 'Change the field that the message names.',
  find(pod) {
    const unscheduled = unscheduledOf(pod);
    if (!unscheduled) return undefined;
    return {
      severity: 'broken',
      says: `it is not scheduled: ${unscheduled.message}`,
      evidence: unscheduled.evidence,
      mend: [{ advice: 'change the field of the pod that the reason names, or the nodes' }],
    };
  },
};
