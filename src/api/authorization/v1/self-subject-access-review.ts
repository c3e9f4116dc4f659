/** Returns the calling user's access to an action. */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { authorizationGroup, reviewTraits, validateQuestion } from './access-review.ts';
import type { SelfSubjectAccessReview } from './types.gen.ts';

export type { SelfSubjectAccessReview } from './types.gen.ts';

export const selfSubjectAccessReviewResource: ResourceDefinition<SelfSubjectAccessReview> = {
  ...reviewTraits,
  group: authorizationGroup,
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  singular: 'selfsubjectaccessreview',
  namespaced: false,
  typeName: 'authorization.v1.SelfSubjectAccessReview',
  rules: {
    'authorization.v1.FieldSelectorAttributes': {},
    'authorization.v1.NonResourceAttributes': {},
    'authorization.v1.LabelSelectorAttributes': {},
    'authorization.v1.ResourceAttributes': {},
    'authorization.v1.SelfSubjectAccessReview': { defaults: { spec: {} } },
    'authorization.v1.SelfSubjectAccessReviewSpec': {},
    'authorization.v1.SubjectAccessReviewStatus': { defaults: { allowed: false } },
    'meta.v1.FieldSelectorRequirement': { mayLack: 'key operator' },
  },
  strategy: { validate: ({ spec }) => validateQuestion(spec), countsGenerations: false },
};
