/** Returns the identity of the calling user (`kubectl auth whoami`). */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { reviewTraits } from '../../authorization/v1/access-review.ts';
import { authenticationGroup } from './token-review.ts';
import type { SelfSubjectReview } from './types.gen.ts';

export const selfSubjectReviewResource: ResourceDefinition<SelfSubjectReview> = {
  ...reviewTraits,
  group: authenticationGroup,
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  singular: 'selfsubjectreview',
  namespaced: false,
  typeName: 'authentication.v1.SelfSubjectReview',
  rules: { 'authentication.v1.SelfSubjectReview': {}, 'authentication.v1.SelfSubjectReviewStatus': {} },
  strategy: { countsGenerations: false },
};
