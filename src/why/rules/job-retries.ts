import { numberAt, textAt } from '../../apimachinery/fields.ts';
import type { Rule } from '../rule.ts';

export const jobRetries: Rule = {
  kinds: ['jobs.batch'],
  symptom: 'A Job is not complete.',
  cause: 'Its pods fail and are replaced, or none of them is ready.',
  advice: 'Mend the pod that the explanation names.',
  find(job, seen) {
    const failures = numberAt(job, 'status', 'failed');
    const isComplete = textAt(job, 'status', 'completionTime') !== '';
    if (isComplete || (failures === 0 && numberAt(job, 'status', 'ready') > 0)) return undefined;
    return {
      severity: failures > 0 ? 'degraded' : 'waiting',
      says:
        failures > 0
          ? `it is tried again: ${failures} of its pods have failed`
          : 'it is not complete, and none of its pods is ready',
      because: seen.ownedBy(job).toReversed(),
    };
  },
};
