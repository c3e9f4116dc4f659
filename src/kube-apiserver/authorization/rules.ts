/** What a user may do, as a list of rules, as far as it can be listed. */
import type {
  NonResourceRule,
  ResourceRule,
  SubjectRulesReviewStatus,
} from '../../api/authorization/v1/self-subject-rules-review.ts';
import { isBootstrapper, mastersGroup, nodeNameOf, type UserInfo } from '../../apiserver/user.ts';
import type { KubeContext } from '../context.ts';
import { inWords } from '../rbac/rbac-authorizer.ts';

/** Nodes and machines that join are allowed single objects, by what these are: that is no rule of a role. */
const byObject = 'some rules depend on the object and are not listed';

/** More are not listed, for the list would be made and written in one go. */
const mostListed = 10_000;

/** In `namespace` and in the whole cluster. */
export function rulesOf(
  { policy, hasOtherRules }: Pick<KubeContext, 'policy' | 'hasOtherRules'>,
  user: UserInfo,
  namespace: string,
): SubjectRulesReviewStatus {
  const resourceRules: ResourceRule[] = [];
  const nonResourceRules: NonResourceRule[] = [];
  const problems = new Set<string>();
  let left = mostListed;
  for (const { rules, problem } of policy.grantsOf(user, namespace)) {
    if (problem !== undefined) problems.add(problem);
    for (const { rule } of rules.slice(0, left)) {
      const { verbs, apiGroups, resources = [], resourceNames, nonResourceURLs = [] } = rule;
      if (resources.length > 0)
        resourceRules.push({ verbs, apiGroups, resources, ...(resourceNames?.length && { resourceNames }) });
      if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
    }
    left -= rules.length;
    if (left < 0) break;
  }
  const isMaster = user.groups.includes(mastersGroup);
  const dependsOnObject =
    !isMaster && (hasOtherRules || nodeNameOf(user) !== undefined || isBootstrapper(user));
  if (dependsOnObject) problems.add(byObject);
  const isCut = left < 0;
  if (isCut) problems.add(`only the first ${mostListed} rules are listed`);
  return {
    resourceRules,
    nonResourceRules,
    incomplete: dependsOnObject || isCut,
    ...(problems.size > 0 && { evaluationError: inWords([...problems]) }),
  };
}
