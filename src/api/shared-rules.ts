/** The rules of types that stand in many kinds. */
import type { RulesByType } from '../apimachinery/type-rules.ts';

export const conditionStatuses = ['True', 'False', 'Unknown'] as const;

export const sharedRules: RulesByType = {
  'meta.v1.ObjectMeta': {},
  'meta.v1.OwnerReference': {},
  'meta.v1.LabelSelector': {},
  'meta.v1.LabelSelectorRequirement': { choices: { operator: ['In', 'NotIn', 'Exists', 'DoesNotExist'] } },
  'meta.v1.Condition': {
    mayLack: 'reason message lastTransitionTime',
    choices: { status: conditionStatuses },
  },
  'core.v1.ObjectReference': {},
  'core.v1.TypedLocalObjectReference': { defaults: { kind: '', name: '' } },
};
