import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { conditionOf, isOver } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

/** Time in milliseconds within which a running scheduler reports a new pod. */
const patienceMs = 10_000;

export const podNoScheduler: Rule = {
  kinds: ['pods'],
  symptom: 'A pod stays Pending without any event.',
  cause: 'Its schedulerName names a scheduler that does not run.',
  advice: 'Remove schedulerName, or start that scheduler.',
  find(pod, seen) {
    const scheduler = textAt(pod, 'spec', 'schedulerName');
    if (isOver(pod) || textAt(pod, 'spec', 'nodeName') !== '' || conditionOf(pod, 'PodScheduled'))
      return undefined;
    const created = Date.parse(metadataOf(pod).creationTimestamp ?? '');
    if (scheduler === '' || scheduler === 'default-scheduler' || seen.nowMs - created < patienceMs)
      return undefined;
    return {
      severity: 'broken',
      says: `no scheduler has handled it; spec.schedulerName is ${scheduler}`,
      mend: [{ advice: `start the scheduler ${scheduler}, or create the pod without spec.schedulerName` }],
    };
  },
};
