import { unscheduledOf } from '../rejections.ts';
import type { Rule } from '../rule.ts';

export const podUnschedulable: Rule = {
  kinds: ['pods'],
  symptom:
    'A pod stays Pending for another reason of the scheduler, such as pod affinity or spread constraints.',
  cause: 'The message of the scheduler names it.',
  advice: 'Change the field that the message names.',
  find(pod) {
    const unscheduled = unscheduledOf(pod);
    if (!unscheduled) return undefined;
    return {
      severity: 'broken',
      says: `it is not scheduled: ${unscheduled.message}`,
      evidence: unscheduled.evidence,
      mend: [{ advice: adviceOn(unscheduled.message) }],
    };
  },
};

/** Advice for the reasons of the scheduler, the first that occurs. */
const advices: readonly (readonly [RegExp, string])[] = [
  [
    /didn't match pod affinity rules/,
    'start the pods that spec.affinity.podAffinity requires beside it, or correct its labelSelector or topologyKey',
  ],
  [
    /anti-affinity rules/,
    'add a node, run fewer replicas, or only prefer other nodes in spec.affinity.podAntiAffinity',
  ],
  [
    /spread constraints \(missing required label\)/,
    'give the nodes the label that spec.topologySpreadConstraints names as topologyKey, or correct it',
  ],
  [
    /spread constraints/,
    'add a node, or set whenUnsatisfiable to ScheduleAnyway in spec.topologySpreadConstraints',
  ],
];

const adviceOn = (message: string): string =>
  advices.find(([reason]) => reason.test(message))?.[1] ??
  'change the field of the pod that the reason names, or the nodes';
