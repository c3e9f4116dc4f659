/**
 * Looks up the rules of a user in indexes of the watch cache: bindings by their subjects, and roles compiled
 * once for each version. So a request only reads the bindings of its own user and groups. Results are at the
 * cache's revision.
 */
import { clusterRoleResource } from '../../api/rbac/v1/cluster-role.ts';
import { clusterRoleBindingResource } from '../../api/rbac/v1/cluster-role-binding.ts';
import { roleResource } from '../../api/rbac/v1/role.ts';
import { roleBindingResource } from '../../api/rbac/v1/role-binding.ts';
import { rbacGroup } from '../../api/rbac/v1/roles.ts';
import type {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
  RoleRef,
  Subject,
} from '../../api/rbac/v1/types.gen.ts';
import { serviceAccountUserName } from '../../apimachinery/account-user.ts';
import { type ResourceRef, storageKey, storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { UserInfo } from '../../apiserver/request/user.ts';
import type { Cache, CachedObject, CacheIndex, IndexDeclaration } from '../../storage/cache.ts';
import { CompiledRule } from './rule-match.ts';

/** One binding of a user, with the rules of its role. */
export interface Grant {
  readonly rules: readonly CompiledRule[];
  /** Reason for missing rules: `role.rbac.authorization.k8s.io "x" not found`. */
  readonly problem: string | undefined;
  /** Returns the binding in upstream's words, for a decision's reason. */
  source(): string;
}

interface CompiledBinding {
  readonly roleRef: RoleRef;
  readonly roleKey: string;
  readonly source: (subjectKey: string) => string;
}

type Binding = RoleBinding | ClusterRoleBinding;

const userKey = (name: string) => `user ${name}`;
const groupKey = (name: string) => `group ${name}`;

/**
 * Returns the index key of a subject; undefined for an invalid subject. `namespace` is the binding's, '' for
 * a ClusterRoleBinding.
 */
function subjectKey({ kind, name, namespace: own }: Subject, namespace: string): string | undefined {
  switch (kind) {
    case 'User':
      return userKey(name);
    case 'Group':
      return groupKey(name);
    case 'ServiceAccount': {
      const where = own || namespace;
      return where ? userKey(serviceAccountUserName(where, name)) : undefined;
    }
    default:
      return undefined;
  }
}

/**
 * Returns the index key for the bindings of one subject in a namespace, or in the cluster if `namespace` is
 * ''.
 */
const within = (namespace: string, key: string) => `${namespace}/${key}`;

const bySubject = (ref: ResourceRef): IndexDeclaration => ({
  name: `${ref.plural} by subject`,
  prefix: storagePrefix(ref),
  *keysOf(object) {
    const { metadata, subjects = [] } = object as Binding;
    const { namespace = '' } = metadata;
    for (const subject of subjects) {
      const key = subjectKey(subject, namespace);
      if (key !== undefined) yield within(namespace, key);
    }
  },
});

export class Policy {
  readonly #cache: Cache;
  readonly #roleBindings: CacheIndex;
  readonly #clusterRoleBindings: CacheIndex;
  /** Compiled rules by their object: a changed role is another object. */
  readonly #rules = new WeakMap<CachedObject, readonly CompiledRule[]>();
  readonly #bindings = new WeakMap<CachedObject, CompiledBinding>();

  constructor(cache: Cache) {
    this.#cache = cache;
    this.#roleBindings = cache.index(bySubject(roleBindingResource));
    this.#clusterRoleBindings = cache.index(bySubject(clusterRoleBindingResource));
  }

  /**
   * Yields the bindings of `user` in the whole cluster and, unless `namespace` is '', in that namespace. A
   * binding may be yielded twice.
   */
  *grantsOf(user: UserInfo, namespace: string): Generator<Grant> {
    const keys = [userKey(user.name), ...user.groups.map(groupKey)];
    yield* this.#bound(this.#clusterRoleBindings, keys, '');
    if (namespace) yield* this.#bound(this.#roleBindings, keys, namespace);
  }

  /**
   * Returns the rules of the role that a binding in `namespace` names; undefined if the role does not exist.
   */
  rulesOf(roleRef: RoleRef, namespace: string): readonly CompiledRule[] | undefined {
    return this.#rulesAt(keyOf(roleRef, namespace));
  }

  *#bound(index: CacheIndex, keys: readonly string[], namespace: string): Generator<Grant> {
    for (const key of keys) {
      for (const object of index.get(within(namespace, key))) {
        const { roleRef, roleKey, source } = this.#bindingOf(object);
        const rules = this.#rulesAt(roleKey);
        const problem = rules
          ? undefined
          : `${roleRef.kind.toLowerCase()}.${rbacGroup} "${roleRef.name}" not found`;
        yield { rules: rules ?? [], problem, source: () => source(key) };
      }
    }
  }

  #rulesAt(key: string): readonly CompiledRule[] | undefined {
    const role = this.#cache.get(key);
    if (!role) return undefined;
    let rules = this.#rules.get(role);
    if (!rules) {
      rules = ((role.object as Role | ClusterRole).rules ?? []).map((rule) => new CompiledRule(rule));
      this.#rules.set(role, rules);
    }
    return rules;
  }

  #bindingOf(cached: CachedObject): CompiledBinding {
    let binding = this.#bindings.get(cached);
    if (!binding) {
      const { kind, metadata, roleRef } = cached.object as Binding;
      const { name, namespace = '' } = metadata;
      const described = JSON.stringify(namespace ? `${name}/${namespace}` : name);
      binding = {
        roleRef,
        roleKey: keyOf(roleRef, namespace),
        source: (key) =>
          `${kind} ${described} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subjectIn(cached, key)}`,
      };
      this.#bindings.set(cached, binding);
    }
    return binding;
  }
}

const keyOf = ({ kind, name }: RoleRef, namespace: string) =>
  kind === 'Role' ? storageKey(roleResource, namespace, name) : storageKey(clusterRoleResource, '', name);

/**
 * Returns the subject of a binding by its index key, in upstream's words: a ServiceAccount as NAME/NAMESPACE.
 */
function subjectIn(cached: CachedObject, key: string): string {
  const { metadata, subjects = [] } = cached.object as Binding;
  const { namespace = '' } = metadata;
  const found = subjects.find((subject) => subjectKey(subject, namespace) === key);
  if (!found) return key;
  const { kind, name, namespace: own } = found;
  return `${kind} ${JSON.stringify(kind === 'ServiceAccount' ? `${name}/${own || namespace}` : name)}`;
}
