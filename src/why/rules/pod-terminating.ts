import { metadataOf, numberAt, textAt, valueAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { conditionOf } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

/** Time after the end of the grace period, in milliseconds, within which a pod is usually removed. */
const patienceMs = 20_000;

export const podTerminating: Rule = {
  kinds: ['pods'],
  symptom: 'A pod stays Terminating.',
  cause:
    'A finalizer keeps it, or its node does not answer and cannot report that the containers have ended.',
  advice: 'Start the controller of the finalizer, or the node; force the deletion if neither returns.',
  find(pod, seen) {
    const { deletionTimestamp, name, namespace } = metadataOf(pod);
    if (deletionTimestamp === undefined) return undefined;
    const finalizers = valueAt(pod, 'metadata', 'finalizers');
    const node = textAt(pod, 'spec', 'nodeName');
    const place = seen.get({ key: 'nodes', namespace: '', name: node });
    const isLost = place && conditionOf(place, 'Ready')?.status !== 'True';
    const kept = Array.isArray(finalizers) && finalizers.length > 0;
    if (seen.nowMs - Date.parse(deletionTimestamp) < patienceMs || (!kept && !isLost)) return undefined;
    const forced = command`delete pod ${name}${inNamespace({ namespace })} --force --grace-period=0`;
    return kept
      ? {
          severity: 'broken',
          says: `its finalizers keep it: ${finalizers.join(', ')}`,
          evidence: [
            `deleted at ${deletionTimestamp}, grace period ${numberAt(pod, 'metadata', 'deletionGracePeriodSeconds')} s`,
          ],
          mend: [
            { advice: 'start the controller that removes the finalizer' },
            {
              command: command`patch pod ${name}${inNamespace({ namespace })} --type=merge -p '{"metadata":{"finalizers":null}}'`,
              about: 'if that controller is gone for good',
            },
          ],
        }
      : {
          severity: 'broken',
          says: `its node ${node} does not report that the containers have ended`,
          mend: [{ command: forced, about: 'if the machine is gone for good: the containers may still run' }],
          because: [{ key: 'nodes', namespace: '', name: node }],
        };
  },
};
