import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { lastEvent } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

const reasons = ['UnparseableSchedule', 'InvalidSchedule', 'UnknownTimeZone', 'TooManyMissedTimes'];

export const cronSchedule: Rule = {
  kinds: ['cronjobs.batch'],
  symptom: 'A CronJob creates no Jobs.',
  cause: 'Its schedule or time zone is unknown, or it has missed too many starts.',
  advice: 'Correct spec.schedule, spec.timeZone or spec.startingDeadlineSeconds.',
  find(cron, seen) {
    const events = seen.eventsOf(cron);
    const said = reasons.map((reason) => lastEvent(events, reason)).find((one) => one !== undefined);
    if (said === undefined) return undefined;
    const { name, namespace } = metadataOf(cron);
    const last = textAt(cron, 'status', 'lastScheduleTime') || 'none';
    return {
      severity: 'broken',
      says: said,
      evidence: [`schedule: ${textAt(cron, 'spec', 'schedule')}, last start: ${last}`],
      mend: [
        {
          command: command`edit cronjob ${name}${inNamespace({ namespace })}`,
          about: 'correct the field that the message names',
        },
      ],
    };
  },
};
