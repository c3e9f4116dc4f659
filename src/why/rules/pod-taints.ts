import { command } from '../command.ts';
import { isRejectedFor, unscheduledOf } from '../rejections.ts';
import type { Rule } from '../rule.ts';

const taint = /untolerated taint \{([^:}]+): ?([^}]*)\}/;

export const podTaints: Rule = {
  kinds: ['pods'],
  symptom: 'A pod stays Pending: node(s) had untolerated taint.',
  cause: 'The nodes are tainted, and the pod does not tolerate the taint.',
  advice: 'Add a toleration to the pod, or remove the taint from a node.',
  find(pod) {
    const unscheduled = unscheduledOf(pod);
    if (!unscheduled || !isRejectedFor(unscheduled, taint)) return undefined;
    const text = [...unscheduled.nearest.map((reason) => String(reason.reason)), unscheduled.message].join(
      ' ',
    );
    const [, key = '', value = ''] = taint.exec(text) ?? [];
    const node = unscheduled.nearestNode;
    const operator = value === '' ? 'Exists' : `Equal, value: ${value}`;
    return {
      severity: 'broken',
      says: `it does not tolerate the taint ${key}${value && `=${value}`} of the nodes`,
      evidence: unscheduled.evidence,
      mend: [
        { advice: `add to spec.tolerations of the pod: {key: ${key}, operator: ${operator}}` },
        ...(node === ''
          ? []
          : [{ command: command`taint node ${node} ${key}-`, about: 'if every pod may run there' }]),
      ],
    };
  },
};
