import { conditionOf } from '../pod-facts.ts';
import { isRejectedFor, unscheduledOf } from '../rejections.ts';
import type { Rule } from '../rule.ts';
import { refOf } from '../snapshot.ts';

export const podNoNode: Rule = {
  kinds: ['pods'],
  symptom: 'A pod stays Pending, and no node of the cluster is ready.',
  cause: 'No machine has joined, or all nodes have lost their connection.',
  advice: 'Join a node (minik8s token create --print-install-command), or start the existing ones.',
  find(pod, seen) {
    const unscheduled = unscheduledOf(pod);
    if (!unscheduled || !seen.isRead('nodes')) return undefined;
    const nodes = seen.list('nodes');
    if (nodes.length === 0)
      return {
        severity: 'broken',
        says: 'the cluster has no nodes',
        mend: [
          {
            advice:
              'minik8s token create --print-install-command on a master prints the command that joins a machine',
          },
        ],
      };
    const down = nodes.filter((node) => conditionOf(node, 'Ready')?.status !== 'True');
    const isDown = down.length === nodes.length || isRejectedFor(unscheduled, /not-ready|unreachable/);
    if (down.length === 0 || !isDown) return undefined;
    return {
      severity: 'broken',
      says: `${down.length} of ${nodes.length} nodes are not ready`,
      evidence: unscheduled.evidence,
      because: down.map((node) => refOf('nodes', node)),
    };
  },
};
