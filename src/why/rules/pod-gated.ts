import { metadataOf, recordsAt, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import type { Rule } from '../rule.ts';

export const podGated: Rule = {
  kinds: ['pods'],
  symptom: 'A pod is SchedulingGated.',
  cause: 'Another program has not removed its schedulingGates yet.',
  advice: 'Start the program that removes the gate; the name of the gate usually tells which one.',
  find(pod) {
    const gates = recordsAt(pod, 'spec', 'schedulingGates').map((gate) => textAt(gate, 'name'));
    if (gates.length === 0) return undefined;
    return {
      severity: 'waiting',
      says: `the pod is not scheduled before these gates are removed: ${gates.join(', ')}`,
      mend: [
        { advice: 'start the program that removes the gate' },
        {
          command: command`patch pod ${metadataOf(pod).name} -n ${metadataOf(pod).namespace} -p '{"spec":{"schedulingGates":null}}' --type=merge`,
          about: 'removes the gates',
        },
      ],
    };
  },
};
