import { conditionOf } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

export const cronLastJob: Rule = {
  kinds: ['cronjobs.batch'],
  symptom: 'The Jobs of a CronJob fail.',
  cause: 'The last Job has failed.',
  advice: 'Mend what its pods say; the next start is a new Job.',
  find(cron, seen) {
    const [last] = seen.ownedBy(cron).slice(-1);
    const job = last && seen.get(last);
    if (!job || conditionOf(job, 'Failed')?.status !== 'True') return undefined;
    return { severity: 'degraded', says: `its last Job ${last.name} has failed`, because: [last] };
  },
};
