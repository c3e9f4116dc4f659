/**
 * Prevents privilege escalation: a user may only grant, by a role or a binding, permissions that the user has
 * (upstream: pkg/registry/rbac, the policy-based storages), unless the user may `escalate` the role or `bind`
 * it. Implemented as admission, so that every kind of write is checked with the object as it will be stored;
 * and decided on the current roles in the store, not on an outdated cache.
 */
import { clusterRoleResource } from '../../api/rbac/v1/cluster-role.ts';
import { clusterRoleBindingResource } from '../../api/rbac/v1/cluster-role-binding.ts';
import { roleResource } from '../../api/rbac/v1/role.ts';
import { roleBindingResource } from '../../api/rbac/v1/role-binding.ts';
import { rbacGroup } from '../../api/rbac/v1/roles.ts';
import type { ClusterRole, PolicyRule, Role, RoleBinding } from '../../api/rbac/v1/types.gen.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import {
  compactRules,
  coverageOf,
  listInWords,
  maxComparisons,
  ruleInWords,
} from '../../apimachinery/policy-rules.ts';
import { newForbidden, newNotFound } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import { waitForNow } from '../../apiserver/reads/freshness.ts';
import { mastersGroup, type UserInfo } from '../../apiserver/request/user.ts';
import { RequestWork } from '../../apiserver/transport/request-work.ts';
import { changesOwnersAlone } from '../admission/owner-changes.ts';
import type { KubeContext } from '../context.ts';
import { inWords } from './rbac-authorizer.ts';

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

type Parts = Pick<KubeContext, 'policy' | 'authorize' | 'cache' | 'clock' | 'latest' | 'turns'>;
type Check = (server: Parts, admission: Admission, object: KubeObject) => Promise<void>;

const checks: Readonly<Record<string, Check>> = {
  [roleResource.plural]: checkRole,
  [clusterRoleResource.plural]: checkRole,
  [roleBindingResource.plural]: checkBinding,
  [clusterRoleBindingResource.plural]: checkBinding,
};

export const escalation = (server: Parts): AdmissionPlugin => ({
  name: 'RBACEscalation',
  async validate(admission) {
    const { definition, object, old, user } = admission;
    const check = definition.group === rbacGroup ? checks[definition.plural] : undefined;
    if (!check || !object || user.groups.includes(mastersGroup)) return;
    if (old && changesOwnersAlone(object, old)) return;
    await waitForNow(server, new AbortController());
    await check(server, admission, object);
  },
});

async function checkRole(server: Parts, admission: Admission, object: KubeObject): Promise<void> {
  const { definition, namespace, name, user, old } = admission;
  const { group, plural } = definition;
  const escalate = {
    ...({ type: 'resource', verb: 'escalate', user, group, resource: plural, namespace } as const),
    // A creation is authorized without the name, as every other creation.
    name: old ? name : '',
  };
  if ((await server.authorize(escalate)).allowed) return;
  const { rules = [] } = object as Role | ClusterRole;
  const why = await whyNotHis(server, user, namespace, rules);
  if (why !== undefined) throw newForbidden(definition, name, why);
  // An aggregated role can contain any rule.
  const aggregates = sums(object) || (old !== undefined && sums(old));
  if (aggregates && (await whyNotHis(server, user, namespace, everything)) !== undefined)
    throw newForbidden(definition, name, 'must have cluster-admin privileges to use the aggregationRule');
}

const sums = (object: KubeObject) =>
  ((object as ClusterRole).aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;

async function checkBinding(server: Parts, admission: Admission, object: KubeObject): Promise<void> {
  const { definition, namespace, name, user } = admission;
  const { roleRef } = object as RoleBinding;
  const resource = (roleRef.kind === 'Role' ? roleResource : clusterRoleResource).plural;
  const bind = {
    type: 'resource',
    verb: 'bind',
    user,
    group: roleRef.apiGroup,
    resource,
    namespace,
  } as const;
  if ((await server.authorize({ ...bind, name: roleRef.name })).allowed) return;
  const rules = server.policy.rulesOf(roleRef, namespace);
  // The permissions of a role that does not exist yet are unknown.
  if (!rules) throw newNotFound({ group: rbacGroup, plural: resource }, roleRef.name);
  const why = await whyNotHis(
    server,
    user,
    namespace,
    rules.map(({ rule }) => rule),
  );
  if (why !== undefined) throw newForbidden(definition, name, why);
}

/**
 * Returns why the user may not grant these rules in that namespace, in upstream's words; undefined if the
 * user has all of the permissions.
 */
async function whyNotHis(
  server: Parts,
  user: UserInfo,
  namespace: string,
  rules: readonly PolicyRule[],
): Promise<string | undefined> {
  const held: PolicyRule[] = [];
  const problems = new Set<string>();
  for (const grant of server.policy.grantsOf(user, namespace)) {
    if (grant.problem !== undefined) problems.add(grant.problem);
    held.push(...grant.rules.map(({ rule }) => rule));
  }
  const { missing, tooMany } = await new RequestWork(server).through(coverageOf(held, rules));
  const who = `user ${JSON.stringify(user.name)} (groups=${listInWords(user.groups)})`;
  if (tooMany)
    return `${who} cannot be shown to hold these permissions, which would take more than ${maxComparisons} comparisons of rules: split them into several roles, or grant the user the verb escalate`;
  if (missing.length === 0) return undefined;
  const missingRules = compactRules(missing).map(ruleInWords).sort().join('\n');
  const broken = problems.size > 0 ? `; resolution errors: ${inWords([...problems])}` : '';
  return `${who} is attempting to grant RBAC permissions not currently held:\n${missingRules}${broken}`;
}
