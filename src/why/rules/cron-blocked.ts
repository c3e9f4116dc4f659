import { metadataOf, recordsAt, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace, type ObjectRef } from '../kinds.ts';
import { lastEvent } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

/** Age of an active Job after which it counts as hanging, without an event of a start that was skipped. */
const patienceMs = 24 * 3600_000;

export const cronBlocked: Rule = {
  kinds: ['cronjobs.batch'],
  symptom: 'A CronJob starts no Jobs any more, and one of its Jobs has been active for long.',
  cause: 'concurrencyPolicy is Forbid, and the Job before has not ended.',
  advice: 'End that Job, and give its template an activeDeadlineSeconds.',
  find(cron, seen) {
    if (textAt(cron, 'spec', 'concurrencyPolicy') !== 'Forbid') return undefined;
    const { namespace } = metadataOf(cron);
    const said = lastEvent(seen.eventsOf(cron), 'JobAlreadyActive');
    const hanging = recordsAt(cron, 'status', 'active')
      .map((one): ObjectRef => ({ key: 'jobs.batch', namespace, name: textAt(one, 'name') }))
      .find((ref) => {
        const started = Date.parse(textAt(seen.get(ref), 'status', 'startTime'));
        return said !== undefined || seen.nowMs - started > patienceMs;
      });
    if (!hanging) return undefined;
    const since = textAt(seen.get(hanging), 'status', 'startTime');
    return {
      severity: 'degraded',
      says: `it starts no Job: ${hanging.name} is active${since && ` since ${since}`}, and concurrencyPolicy is Forbid`,
      ...(said !== undefined && { evidence: [said] }),
      mend: [
        {
          command: command`delete job ${hanging.name}${inNamespace({ namespace })}`,
          about: 'if it hangs; activeDeadlineSeconds of the template ends the next ones in time',
        },
      ],
      because: [hanging],
    };
  },
};
