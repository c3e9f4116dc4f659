import { recordsAt } from '../../apimachinery/fields.ts';
import { containersOf } from '../pod-facts.ts';
import { isRejectedFor, unscheduledOf } from '../rejections.ts';
import type { Rule } from '../rule.ts';

export const podHostPort: Rule = {
  kinds: ['pods'],
  symptom: "A pod stays Pending: node(s) didn't have free ports for the requested pod ports.",
  cause: 'Another pod has the hostPort on every node that fits otherwise.',
  advice: 'Give the pod another hostPort, or none: a Service of type NodePort needs none.',
  find(pod) {
    const unscheduled = unscheduledOf(pod);
    if (!unscheduled || !isRejectedFor(unscheduled, /free ports/)) return undefined;
    const ports = containersOf(pod).flatMap(({ spec }) =>
      recordsAt(spec, 'ports').flatMap(({ hostPort }) => (typeof hostPort === 'number' ? [hostPort] : [])),
    );
    return {
      severity: 'broken',
      says: `its host ports are taken by other pods: ${ports.join(', ')}`,
      evidence: unscheduled.evidence,
      mend: [
        { advice: `give the pod another hostPort than ${ports.join(', ')}, or a Service of type NodePort` },
      ],
    };
  },
};
