import { metadataOf, recordsAt, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { isOver } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

export const podNodeMissing: Rule = {
  kinds: ['pods'],
  symptom: 'A pod stays Pending with a NODE, and no event says why.',
  cause: 'No node has the name in spec.nodeName; the scheduler ignores such a pod, and no agent starts it.',
  advice: 'Leave nodeName out and use nodeSelector, or correct it.',
  find(pod, seen) {
    const node = textAt(pod, 'spec', 'nodeName');
    if (isOver(pod) || node === '' || !seen.isAbsent({ key: 'nodes', namespace: '', name: node }))
      return undefined;
    // The pods of a node that was removed have run, and are deleted soon.
    if (recordsAt(pod, 'status', 'containerStatuses').length > 0) return undefined;
    const { namespace, name } = metadataOf(pod);
    const nodes = seen.list('nodes').map((one) => metadataOf(one).name);
    return {
      severity: 'broken',
      says: `its node ${node} does not exist`,
      evidence: [`nodes: ${nodes.slice(0, 5).join(', ') || 'none'}`],
      mend: [
        {
          command: command`delete pod ${name}${inNamespace({ namespace })}`,
          about: 'and create it without spec.nodeName, or with the name of a node',
        },
      ],
    };
  },
};
