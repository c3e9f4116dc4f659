/** Returns the user of a token. */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { reviewTraits } from '../../authorization/v1/access-review.ts';
import type { TokenReview } from './types.gen.ts';

export const authenticationGroup = 'authentication.k8s.io';

export const tokenReviewResource: ResourceDefinition<TokenReview> = {
  ...reviewTraits,
  group: authenticationGroup,
  kind: 'TokenReview',
  plural: 'tokenreviews',
  singular: 'tokenreview',
  namespaced: false,
  typeName: 'authentication.v1.TokenReview',
  rules: {
    'authentication.v1.TokenReview': { defaults: { spec: {} } },
    'authentication.v1.TokenReviewSpec': { defaults: { token: '' } },
    'authentication.v1.TokenReviewStatus': {},
    'authentication.v1.UserInfo': {},
  },
  strategy: { countsGenerations: false },
};
