import { metadataOf, recordAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { containersOf, isReadyForGood, lastEvent } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import { refOf } from '../snapshot.ts';

export const podLiveness: Rule = {
  kinds: ['pods'],
  symptom: 'A container is restarted again and again although its program does not end by itself.',
  cause: 'Its liveness or startup probe fails.',
  advice:
    'Correct the probe, or give the program more time (initialDelaySeconds, failureThreshold, a startupProbe).',
  find(pod, seen) {
    if (isReadyForGood(pod, seen.nowMs)) return undefined;
    const events = seen.eventsOf(pod);
    for (const kind of ['Startup', 'Liveness'] as const) {
      const failed = lastEvent(events, 'Unhealthy', `${kind} probe`);
      const field = `${kind.toLowerCase()}Probe`;
      const container = containersOf(pod).find(
        ({ spec, status }) =>
          Object.keys(recordAt(spec, field)).length > 0 && Number(status.restartCount ?? 0) > 0,
      );
      if (!failed || !container) continue;
      const { namespace, name } = metadataOf(pod);
      return {
        severity: 'broken',
        says: `the ${kind.toLowerCase()} probe of container ${container.name} fails, so it is restarted`,
        evidence: [failed, `restarts: ${String(container.status.restartCount)}`],
        mend: [
          {
            command: command`logs ${name}${inNamespace({ namespace })} -c ${container.name} --previous`,
            about: 'shows what the program did before the restart',
          },
          {
            advice: `correct ${field} of container ${container.name}, or raise its failureThreshold or initialDelaySeconds`,
          },
        ],
        log: { pod: refOf('pods', pod), container: container.name, previous: true },
      };
    }
    return undefined;
  },
};
