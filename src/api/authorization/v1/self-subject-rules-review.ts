/** Returns the calling user's rules in a namespace. */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { authorizationGroup, reviewTraits } from './access-review.ts';
import type { SelfSubjectRulesReview } from './types.gen.ts';

export type {
  NonResourceRule,
  ResourceRule,
  SelfSubjectRulesReview,
  SubjectRulesReviewStatus,
} from './types.gen.ts';

export const selfSubjectRulesReviewResource: ResourceDefinition<SelfSubjectRulesReview> = {
  ...reviewTraits,
  group: authorizationGroup,
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  singular: 'selfsubjectrulesreview',
  namespaced: false,
  typeName: 'authorization.v1.SelfSubjectRulesReview',
  rules: {
    'authorization.v1.SelfSubjectRulesReview': { defaults: { spec: {} } },
    'authorization.v1.SelfSubjectRulesReviewSpec': {},
    'authorization.v1.SubjectRulesReviewStatus': {
      defaults: { resourceRules: [], nonResourceRules: [], incomplete: false },
    },
    'authorization.v1.ResourceRule': { defaults: { verbs: [] } },
    'authorization.v1.NonResourceRule': { defaults: { verbs: [] } },
  },
  strategy: { countsGenerations: false },
};
