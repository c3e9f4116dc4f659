import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { conditionOf, oneLine } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

export const nodeNotReady: Rule = {
  kinds: ['nodes'],
  symptom: 'A node is NotReady, and its pods are moved or stay Terminating.',
  cause:
    'Its agent does not report any more (the machine or the process is down, or there is no network connection), or it reports that its engine does not work.',
  advice: 'Start minik8s and Docker on that machine again, or delete the node if it never returns.',
  find(node) {
    const ready = conditionOf(node, 'Ready');
    if (!ready || ready.status === 'True') return undefined;
    const { name } = metadataOf(node);
    const isSilent = ready.status === 'Unknown';
    return {
      severity: 'broken',
      says: isSilent
        ? `the node has not reported since ${textAt(ready, 'lastHeartbeatTime')}`
        : `the node is not ready: ${oneLine(textAt(ready, 'message'))}`,
      evidence: [`${textAt(ready, 'reason')}: ${oneLine(textAt(ready, 'message'))}`],
      mend: [
        {
          advice: isSilent
            ? `on the machine ${name}: minik8s status shows whether minik8s runs there, and minik8s doctor shows what prevents it`
            : `on the machine ${name}: minik8s doctor names what is wrong`,
        },
        { command: command`delete node ${name}`, about: 'if the machine never returns' },
      ],
    };
  },
};
