import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace, keyOfKind } from '../kinds.ts';
import type { Rule } from '../rule.ts';

export const autoscalerTarget: Rule = {
  kinds: ['horizontalpodautoscalers.autoscaling'],
  symptom: 'A HorizontalPodAutoscaler does nothing: FailedGetScale.',
  cause: 'The workload that scaleTargetRef names does not exist in the namespace.',
  advice: 'Correct scaleTargetRef, or create the workload.',
  find(scaler, seen) {
    const { namespace, name } = metadataOf(scaler);
    const kind = textAt(scaler, 'spec', 'scaleTargetRef', 'kind');
    const target = textAt(scaler, 'spec', 'scaleTargetRef', 'name');
    const key = keyOfKind(kind);
    if (!key || !seen.isAbsent({ key, namespace, name: target })) return undefined;
    return {
      severity: 'broken',
      says: `its target ${kind} ${target} does not exist`,
      mend: [
        {
          command: command`edit hpa ${name}${inNamespace({ namespace })}`,
          about: 'correct spec.scaleTargetRef',
        },
      ],
    };
  },
};
