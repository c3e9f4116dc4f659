/** Resources and verbs of each kind, as both forms of discovery need them. Pure. */
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { compareVersions } from '../../apimachinery/version-order.ts';
import type { DelegatedVersion } from '../delegation.ts';
import { type KindSubresources, type Subresource, subresourcesOf } from '../subresources/subresources.ts';

export interface GroupVersionResources {
  readonly group: string;
  readonly version: string;
  readonly definitions: readonly ResourceDefinition[];
}

const storedVerbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const;

export const resourceVerbs = ({ isReview, isMeasured }: ResourceDefinition): readonly string[] => {
  if (isMeasured) return ['get', 'list'];
  return isReview ? ['create'] : storedVerbs;
};

/** OPTIONS has no verb. */
const verbOfMethod = {
  GET: ['get'],
  POST: ['create'],
  PUT: ['update'],
  PATCH: ['patch'],
  DELETE: ['delete'],
  OPTIONS: [],
} as const;

export function subresourceVerbs(subresource: Subresource): string[] {
  const methods = Object.keys(subresource.methods) as (keyof typeof verbOfMethod)[];
  return methods.flatMap((method) => verbOfMethod[method]).sort();
}

export const sortedSubresources = (definition: ResourceDefinition, added: KindSubresources) =>
  Object.entries(subresourcesOf(definition, added)).sort(([a], [b]) => (a < b ? -1 : 1));

/**
 * Returns the core group first and the other groups in the order of the registry, the preferred version of
 * each first; the kinds of a version are sorted by name.
 */
export function groupVersions(definitions: readonly ResourceDefinition[]): GroupVersionResources[] {
  const byGroupVersion = Map.groupBy(definitions, (d) => `${d.group}/${d.version}`);
  const all = [...byGroupVersion.values()].map((members) => {
    const [{ group, version }] = members as [ResourceDefinition, ...ResourceDefinition[]];
    const byName = [...members].sort((a, b) => (a.plural < b.plural ? -1 : 1));
    return { group, version, definitions: byName };
  });
  const byGroup = [...Map.groupBy(all, ({ group }) => group).values()];
  const sorted = byGroup.flatMap((members) =>
    members.toSorted((a, b) => compareVersions(a.version, b.version)),
  );
  return [...sorted.filter(({ group }) => group === ''), ...sorted.filter(({ group }) => group !== '')];
}

/** Returns the versions by the priority of their groups, the highest first; equal ones by name. */
export function inGroupOrder(
  all: readonly (GroupVersionResources | DelegatedVersion)[],
  groupPriority: (group: string) => number,
): readonly (GroupVersionResources | DelegatedVersion)[] {
  const priorities = new Map<string, number>();
  for (const one of all) {
    const priority = 'groupPriority' in one ? one.groupPriority : groupPriority(one.group);
    priorities.set(one.group, Math.max(priority, priorities.get(one.group) ?? 0));
  }
  const priorityOf = (group: string) => priorities.get(group) ?? 0;
  return all.toSorted(
    (a, b) =>
      priorityOf(b.group) - priorityOf(a.group) || (a.group === b.group ? 0 : a.group < b.group ? -1 : 1),
  );
}
