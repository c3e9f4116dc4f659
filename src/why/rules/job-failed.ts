import { metadataOf, numberAt, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { conditionOf, oneLine } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

export const jobFailed: Rule = {
  kinds: ['jobs.batch'],
  symptom: 'A Job is Failed.',
  cause: 'Its pods failed more often than backoffLimit allows, or it took longer than activeDeadlineSeconds.',
  advice: 'Mend what the pods say, and create the Job again.',
  find(job, seen) {
    const failed = conditionOf(job, 'Failed');
    if (failed?.status !== 'True') return undefined;
    const { name, namespace } = metadataOf(job);
    return {
      severity: 'broken',
      says: `it has failed: ${oneLine(textAt(failed, 'message'))}`,
      evidence: [`${textAt(failed, 'reason')}, failed pods: ${numberAt(job, 'status', 'failed')}`],
      mend: [
        {
          command: command`delete job ${name}${inNamespace({ namespace })}`,
          about: 'and create it again, when the cause is mended',
        },
      ],
      because: seen.ownedBy(job),
    };
  },
};
