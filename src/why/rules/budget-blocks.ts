import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, numberAt, recordAt, stringMap } from '../../apimachinery/fields.ts';
import { matches, selectorFromLabelSelector } from '../../apimachinery/labels.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { isOver, isReady } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import { refOf, type Snapshot } from '../snapshot.ts';

export const budgetBlocks: Rule = {
  kinds: ['poddisruptionbudgets.policy'],
  symptom: 'ctl drain does not end: it would violate the disruption budget of a pod.',
  cause: 'The budget requires as many pods as the workload has, or some of its pods are not ready.',
  advice: 'Give the workload one more replica, use maxUnavailable 1, or mend the pods.',
  find(budget, seen) {
    const [expected, healthy, allowed] = ['expectedPods', 'currentHealthy', 'disruptionsAllowed'].map(
      (field) => numberAt(budget, 'status', field),
    ) as [number, number, number];
    if (expected === 0 || allowed > 0) return undefined;
    const { namespace, name } = metadataOf(budget);
    const unready = podsOf(budget, seen).filter((pod) => !isOver(pod) && !isReady(pod));
    return {
      severity: 'degraded',
      says: `no pod may be evicted: ${healthy} of ${expected} pods are healthy, and ${numberAt(budget, 'status', 'desiredHealthy')} must be; a node with one of them cannot be drained`,
      mend: [
        {
          command: command`patch pdb ${name}${inNamespace({ namespace })} --type=merge -p '{"spec":{"minAvailable":null,"maxUnavailable":1}}'`,
          about: 'allows one pod to be missing',
        },
        { advice: 'or give the workload one more replica' },
      ],
      because: unready.map((pod) => refOf('pods', pod)),
    };
  },
};

type Selectors = Parameters<typeof selectorFromLabelSelector>[0];

function podsOf(budget: JsonObject, seen: Snapshot): readonly JsonObject[] {
  const { selector } = recordAt(budget, 'spec') as { selector?: Selectors };
  const selected = selectorFromLabelSelector(selector);
  return seen
    .list('pods', metadataOf(budget).namespace)
    .filter((pod) => matches(selected, stringMap(recordAt(pod, 'metadata', 'labels'))));
}
