import { metadataOf, recordAt, recordsAt, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { conditionOf, containersOf, isOver, isReady, lastEvent } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import { refOf } from '../snapshot.ts';

export const podReadiness: Rule = {
  kinds: ['pods'],
  symptom: 'A pod runs and is not ready (0/1).',
  cause: 'Its readiness or startup probe fails, or a readiness gate is not met.',
  advice:
    'Correct the probe or the program that it checks; for a gate, start the program that sets its condition.',
  find(pod, seen) {
    if (isOver(pod) || isReady(pod) || textAt(pod, 'status', 'phase') !== 'Running') return undefined;
    const { namespace, name } = metadataOf(pod);
    const gate = recordsAt(pod, 'spec', 'readinessGates')
      .map((one) => textAt(one, 'conditionType'))
      .find((type) => conditionOf(pod, type)?.status !== 'True');
    if (gate !== undefined && conditionOf(pod, 'ContainersReady')?.status === 'True')
      return {
        severity: 'degraded',
        says: `its readiness gate ${gate} is not met: nothing has set the condition to True`,
        mend: [{ advice: `start the program that sets the condition ${gate}, or remove the gate` }],
      };
    const container = containersOf(pod).find(({ status, isInit }) => !isInit && status.ready !== true);
    const failed =
      lastEvent(seen.eventsOf(pod), 'Unhealthy', 'Readiness probe') ??
      lastEvent(seen.eventsOf(pod), 'Unhealthy', 'Startup probe');
    if (!container || !failed) return undefined;
    const field = failed.startsWith('Startup') ? 'startupProbe' : 'readinessProbe';
    return {
      severity: 'degraded',
      says: `the ${field === 'startupProbe' ? 'startup' : 'readiness'} probe of container ${container.name} fails`,
      evidence: [failed, `${field}: ${JSON.stringify(recordAt(container.spec, field))}`],
      mend: [
        {
          command: command`logs ${name}${inNamespace({ namespace })} -c ${container.name}`,
          about: 'shows what the program does',
        },
        { advice: `correct ${field} of container ${container.name}: its path, port and time limits` },
      ],
      log: { pod: refOf('pods', pod), container: container.name, previous: false },
    };
  },
};
