import { metadataOf, textAt, valueAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import type { Rule } from '../rule.ts';

export const jobSuspended: Rule = {
  kinds: ['jobs.batch', 'cronjobs.batch'],
  symptom: 'A Job has no pods, or a CronJob creates no Jobs: it is suspended.',
  cause: 'spec.suspend is true.',
  advice: 'Resume it.',
  find(job) {
    if (valueAt(job, 'spec', 'suspend') !== true) return undefined;
    const { name, namespace } = metadataOf(job);
    const word = textAt(job, 'kind').toLowerCase();
    return {
      severity: 'waiting',
      says: 'it is suspended',
      mend: [
        {
          command: command`patch ${word} ${name}${inNamespace({ namespace })} -p '{"spec":{"suspend":false}}'`,
        },
      ],
    };
  },
};
