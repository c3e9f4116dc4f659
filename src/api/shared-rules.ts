/** The rules of types that many kinds use. */
import type { RulesByType, TypeRules } from '../apimachinery/type-rules.ts';

export const conditionStatuses = ['True', 'False', 'Unknown'] as const;

/** Rules of a condition, for kinds that have their own type for it. */
export const conditionRules: TypeRules = { requires: 'type status', choices: { status: conditionStatuses } };

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
