/** Lists the rules that apply to a user, as far as they can be listed. */
import type {
  NonResourceRule,
  ResourceRule,
  SubjectRulesReviewStatus,
} from '../../api/authorization/v1/self-subject-rules-review.ts';
import type { PolicyRule } from '../../apimachinery/policy-rules.ts';
import { isBootstrapper, mastersGroup, nodeNameOf, type UserInfo } from '../../apiserver/request/user.ts';
import type { KubeContext } from '../context.ts';
import { inWords } from '../rbac/rbac-authorizer.ts';

/**
 * Nodes and joining machines are authorized for single objects, by the objects' content, which no rule of a
 * role expresses.
 */
const byObject = 'some rules depend on the object and are not listed';

/** Maximum number of listed rules, because the list is made and written at once. */
const maxListed = 10_000;

/** Returns true if rules beside those of roles may allow something to the user. */
const isAuthorizedByObject = (user: UserInfo, hasOtherRules: boolean | undefined): boolean =>
  !user.groups.includes(mastersGroup) &&
  Boolean(hasOtherRules || nodeNameOf(user) !== undefined || isBootstrapper(user));

/** Returns the rules in `namespace` and in the whole cluster. */
export function rulesOf(
  { policy, hasOtherRules }: Pick<KubeContext, 'policy' | 'hasOtherRules'>,
  user: UserInfo,
  namespace: string,
): SubjectRulesReviewStatus {
  const { rules, problems, isCut } = listRules(policy.grantsOf(user, namespace));
  const dependsOnObject = isAuthorizedByObject(user, hasOtherRules);
  if (dependsOnObject) problems.add(byObject);
  if (isCut) problems.add(`only the first ${maxListed} rules are listed`);
  return {
    resourceRules: rules.flatMap(resourceRulesOf),
    nonResourceRules: rules.flatMap(nonResourceRulesOf),
    incomplete: dependsOnObject || isCut,
    ...(problems.size > 0 && { evaluationError: inWords([...problems]) }),
  };
}

/** Returns the first rules of the grants, and whether there are more. */
function listRules(grants: ReturnType<KubeContext['policy']['grantsOf']>) {
  const listed: PolicyRule[] = [];
  const problems = new Set<string>();
  let left = maxListed;
  for (const { rules, problem } of grants) {
    if (problem !== undefined) problems.add(problem);
    for (const { rule } of rules.slice(0, left)) listed.push(rule);
    left -= rules.length;
    if (left < 0) break;
  }
  return { rules: listed, problems, isCut: left < 0 };
}

function resourceRulesOf({ verbs, apiGroups, resources = [], resourceNames }: PolicyRule): ResourceRule[] {
  if (resources.length === 0) return [];
  return [{ verbs, apiGroups, resources, ...(resourceNames?.length && { resourceNames }) }];
}

const nonResourceRulesOf = ({ verbs, nonResourceURLs = [] }: PolicyRule): NonResourceRule[] =>
  nonResourceURLs.length > 0 ? [{ verbs, nonResourceURLs }] : [];
