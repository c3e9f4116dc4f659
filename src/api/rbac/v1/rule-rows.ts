/** Notation of the roles of every cluster and of controllers' rights: a rule is a row of words. Pure. */
import type { PolicyRule } from './types.gen.ts';

/**
 * Verbs and paths; or verbs, groups, resources and optionally names of objects. Words are separated by
 * spaces.
 */
export type RuleRow =
  | readonly [verbs: string, paths: string]
  | readonly [verbs: string, groups: string, resources: string, names?: string];

export type RoleRows = Readonly<Record<string, readonly RuleRow[]>>;

/**
 * Rights of a controller, granted to its account in kube-system. Example, for a controller `x`:
 * `{ kubernetes: [['get list watch', 'core', 'pods']] }` becomes the ClusterRole `system:controller:x`.
 */
export interface AccountRights {
  /** Rules of upstream's ClusterRole `system:controller:ACCOUNT` (facts of Kubernetes 1.32). */
  readonly kubernetes?: readonly RuleRow[];
  /** Rules beyond upstream's, as the ClusterRole `minik8s:ACCOUNT`. */
  readonly own?: readonly RuleRow[];
  /** Rules of upstream's Role `system:controller:ACCOUNT` in the namespace kube-system. */
  readonly kubeSystem?: readonly RuleRow[];
}

/** An account in kube-system, and what its controller may do. */
export interface ControllerAccount {
  readonly account: string;
  readonly rights: AccountRights;
}

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

/** Leaves out rows whose verbs and resources another row contains, with the same names of objects. */
export function distinctRows(rows: readonly RuleRow[]): readonly RuleRow[] {
  const covers = (row: RuleRow, other: RuleRow) =>
    row[3] === other[3] && [0, 1, 2].every((part) => wordsOf(other[part]).isSubsetOf(wordsOf(row[part])));
  return rows.filter(
    (row, place) =>
      !rows.some((other, at) => at !== place && covers(other, row) && (at < place || !covers(row, other))),
  );
}

const wordsOf = (words = '') => new Set(words.split(' '));
