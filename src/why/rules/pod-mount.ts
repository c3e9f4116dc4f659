import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { isOver, lastEvent } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

export const podMount: Rule = {
  kinds: ['pods'],
  symptom: 'A pod stays in ContainerCreating with events FailedMount.',
  cause: 'One of its volumes cannot be prepared on the node.',
  advice: 'Correct the volume that the message names.',
  find(pod, seen) {
    if (isOver(pod) || textAt(pod, 'status', 'phase') !== 'Pending' || textAt(pod, 'spec', 'nodeName') === '')
      return undefined;
    const failed =
      lastEvent(seen.eventsOf(pod), 'FailedMount') ?? lastEvent(seen.eventsOf(pod), 'FailedAttachVolume');
    if (!failed) return undefined;
    return {
      severity: 'broken',
      says: `a volume cannot be mounted: ${failed}`,
      mend: [
        {
          advice: `correct the volume in spec.volumes of pod ${metadataOf(pod).name} that the message names`,
        },
      ],
    };
  },
};
