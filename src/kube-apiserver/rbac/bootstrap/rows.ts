/** Notation of the roles of every cluster: a rule is a row of words. Pure. */
import type { PolicyRule } from '../../../api/rbac/v1/types.gen.ts';

/**
 * Verbs and paths; or verbs, groups, resources and optionally names of objects. Words are separated by
 * spaces.
 */
export type RuleRow =
  | readonly [verbs: string, paths: string]
  | readonly [verbs: string, groups: string, resources: string, names?: string];

export type RoleRows = Readonly<Record<string, readonly RuleRow[]>>;

export const read = 'get list watch';
export const write = 'create update patch delete deletecollection';
export const readWrite = `${read} ${write}`;
export const writeEvents: RuleRow = ['create update patch', 'core events.k8s.io', 'events'];

/** Converts rows to rules. The core group is written `core`. Lists are sorted, as upstream's are. */
export function rulesFrom(rows: readonly RuleRow[]): PolicyRule[] {
  return rows.map(([verbs, groupsOrPaths, resources, names]) => ({
    verbs: sorted(verbs),
    ...(resources === undefined
      ? { nonResourceURLs: sorted(groupsOrPaths) }
      : {
          apiGroups: groupsOrPaths
            .split(' ')
            .map((group) => (group === 'core' ? '' : group))
            .sort(),
          resources: sorted(resources),
          ...(names !== undefined && { resourceNames: sorted(names) }),
        }),
  }));
}

const sorted = (words: string) => words.split(' ').sort();
