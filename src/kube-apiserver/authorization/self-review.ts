/** Every authenticated user may ask for its own name and its own permissions. */
import { selfSubjectReviewResource } from '../../api/authentication/v1/self-subject-review.ts';
import { selfSubjectAccessReviewResource } from '../../api/authorization/v1/self-subject-access-review.ts';
import { selfSubjectRulesReviewResource } from '../../api/authorization/v1/self-subject-rules-review.ts';
import { type Authorizer, isAuthenticated } from '../../apiserver/authorization/authorizer.ts';

/** The reviews that tell a user its own name, groups and permissions. */
export const ownReviews = [
  selfSubjectAccessReviewResource,
  selfSubjectRulesReviewResource,
  selfSubjectReviewResource,
] as const;

/** They are for every authenticated user (upstream: the role system:basic-user). */
export const selfReviewAuthorizer: Authorizer = (request) =>
  request.type === 'resource' &&
  request.verb === 'create' &&
  isAuthenticated(request.user) &&
  ownReviews.some(({ group, plural }) => request.group === group && request.resource === plural);
