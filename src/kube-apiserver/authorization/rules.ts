/** What a user may do, as a list of rules, as far as it can be listed. */
import type {
  NonResourceRule,
  ResourceRule,
  SubjectRulesReviewStatus,
} from '../../api/authorization/v1/self-subject-rules-review.ts';
import { openPaths } from '../../apiserver/authorization/authorizer.ts';
import {
  authenticatedGroup,
  isBootstrapper,
  mastersGroup,
  nodeNameOf,
  type UserInfo,
} from '../../apiserver/user.ts';
import { ownReviews } from './self-review.ts';

const everything: ResourceRule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const everyPath: NonResourceRule = { verbs: ['*'], nonResourceURLs: ['*'] };

const reviewRules: readonly ResourceRule[] = [...new Set(ownReviews.map(({ group }) => group))].map(
  (group) => ({
    verbs: ['create'],
    apiGroups: [group],
    resources: ownReviews.filter((one) => one.group === group).map(({ plural }) => plural),
  }),
);

const pathRule: NonResourceRule = {
  verbs: ['get'],
  nonResourceURLs: ['/', ...openPaths.flatMap((path) => [path, `${path}/*`])],
};

/**
 * The same in every namespace. Nodes and machines that join are allowed single objects, by what these are; `hasOthers`:
 * there are rules that are not known here.
 */
export function rulesOf(user: UserInfo, hasOthers: boolean): SubjectRulesReviewStatus {
  const isMaster = user.groups.includes(mastersGroup);
  const isKnown = user.groups.includes(authenticatedGroup);
  const byObject = nodeNameOf(user) !== undefined || isBootstrapper(user);
  const incomplete = !isMaster && (byObject || hasOthers);
  return {
    resourceRules: [...(isMaster ? [everything] : []), ...(isKnown ? reviewRules : [])],
    nonResourceRules: [...(isMaster ? [everyPath] : []), ...(isKnown ? [pathRule] : [])],
    incomplete,
    ...(incomplete && { evaluationError: 'some rules depend on the object and are not listed' }),
  };
}
