import { recordAt } from '../../apimachinery/fields.ts';
import { containersOf, isReadyForGood, lastEvent } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import { refOf } from '../snapshot.ts';

export const podHook: Rule = {
  kinds: ['pods'],
  symptom: 'A container is restarted again and again, with events of the reason FailedPostStartHook.',
  cause: 'Its postStart hook fails, so the node ends the container.',
  advice: 'Correct lifecycle.postStart of the container, or run its work in the program.',
  find(pod, seen) {
    if (isReadyForGood(pod, seen.nowMs)) return undefined;
    const failed = lastEvent(seen.eventsOf(pod), 'FailedPostStartHook');
    const container = containersOf(pod).find(
      ({ spec, status }) =>
        Object.keys(recordAt(spec, 'lifecycle', 'postStart')).length > 0 &&
        Number(status.restartCount ?? 0) > 0,
    );
    if (failed === undefined || !container) return undefined;
    return {
      severity: 'broken',
      says: `the postStart hook of container ${container.name} fails, so that it is restarted`,
      evidence: [failed, `postStart: ${JSON.stringify(recordAt(container.spec, 'lifecycle', 'postStart'))}`],
      mend: [{ advice: `correct lifecycle.postStart of container ${container.name}` }],
      log: { pod: refOf('pods', pod), container: container.name, previous: true },
    };
  },
};
