import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { oneLine } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import { controllerOf } from '../snapshot.ts';

const reasons = [
  'Evicted',
  'NodeLost',
  'UnexpectedAdmissionError',
  'NodeAffinity',
  'OutOfcpu',
  'OutOfmemory',
  'OutOfpods',
  'Preempting',
];

export const podEvicted: Rule = {
  kinds: ['pods'],
  symptom: 'A pod has Failed with the reason Evicted or another reason that its node gives.',
  cause: 'The node could not keep the pod: the node lacked memory, disk or a device, or was lost.',
  advice: 'Delete the pod, and mend the problem of the node that the message names.',
  find(pod) {
    const reason = textAt(pod, 'status', 'reason');
    if (textAt(pod, 'status', 'phase') !== 'Failed' || !reasons.includes(reason)) return undefined;
    const { namespace, name } = metadataOf(pod);
    const node = textAt(pod, 'spec', 'nodeName');
    return {
      severity: 'degraded',
      says: `the node ${node} ended it: ${reason}`,
      evidence: [oneLine(textAt(pod, 'status', 'message'))].filter(Boolean),
      mend: [
        {
          command: command`delete pod ${name}${inNamespace({ namespace })}`,
          about: controllerOf(pod)
            ? 'a controller creates a new one'
            : 'and create it again without what the message names: no controller does',
        },
      ],
      because: [{ key: 'nodes', namespace: '', name: node }],
    };
  },
};
