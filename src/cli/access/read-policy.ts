/** Reads rules, subjects and roles from objects, with the defaults that the server would set. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { PolicyRule } from '../../apimachinery/policy-rules.ts';
import { recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

export interface Subject {
  readonly kind: string;
  readonly apiGroup: string;
  readonly name: string;
  readonly namespace: string;
}

function words(object: JsonObject, field: string): string[] {
  const list = valueAt(object, field);
  return Array.isArray(list) ? list.map(String) : [];
}

/** Returns the rule of an object without its empty lists. */
export function readRule(object: JsonObject): PolicyRule {
  const lists = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const;
  const given = lists.map((field) => [field, words(object, field)] as const);
  return {
    verbs: words(object, 'verbs'),
    ...Object.fromEntries(given.filter(([, list]) => list.length > 0)),
  };
}

export const rulesOf = (role: JsonObject): PolicyRule[] => recordsAt(role, 'rules').map(readRule);

export const subjectsOf = (binding: JsonObject): Subject[] =>
  recordsAt(binding, 'subjects').map((subject) => {
    const kind = textAt(subject, 'kind');
    const usual = kind === 'User' || kind === 'Group' ? rbacGroup : '';
    return {
      kind,
      apiGroup: textAt(subject, 'apiGroup') || usual,
      name: textAt(subject, 'name'),
      namespace: textAt(subject, 'namespace'),
    };
  });

export function roleRefOf(binding: JsonObject) {
  const ref = recordAt(binding, 'roleRef');
  return {
    apiGroup: textAt(ref, 'apiGroup') || rbacGroup,
    kind: textAt(ref, 'kind'),
    name: textAt(ref, 'name'),
  };
}
