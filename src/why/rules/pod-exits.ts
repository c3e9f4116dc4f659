import { containersOf, isDeleted, isLooping, lastEnd } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import { refOf } from '../snapshot.ts';

export const podExits: Rule = {
  kinds: ['pods'],
  symptom: 'CrashLoopBackOff with exit code 0.',
  cause: 'The program ends without an error, and restartPolicy Always starts it again.',
  advice: 'Run it as a Job, or change the program so that it does not end.',
  find(pod, { nowMs }) {
    if (isDeleted(pod)) return undefined;
    const container = containersOf(pod).find((one) => isLooping(one, nowMs) && lastEnd(one)?.exitCode === 0);
    if (!container) return undefined;
    return {
      severity: 'broken',
      says: `container ${container.name} ends without an error, and is started again because of restartPolicy Always`,
      evidence: [`container ${container.name}: restarts: ${String(container.status.restartCount ?? 0)}`],
      mend: [{ advice: 'run it as a Job (ctl create job), or change the program so that it does not end' }],
      log: { pod: refOf('pods', pod), container: container.name, previous: true },
    };
  },
};
