/** Reads the discovery of an extension server, and decides what the API server shows of it. Pure. */
import type { APIService } from '../../api/apiregistration/v1/api-service.ts';
import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import { type ExtensionKind, supports } from '../../apimachinery/extension-kinds.ts';
import type { DelegatedVersion } from '../../apiserver/delegation.ts';

/** Maximum number of resources of a version, with their subresources. */
const maxResources = 1000;

/**
 * Converts an APIResourceList to the resources of aggregated discovery. Throws an Error for any other
 * document.
 */
export function resourcesOf(document: unknown): readonly JsonObject[] {
  const { resources, groupVersion } = document as { resources?: unknown; groupVersion?: unknown };
  if (!Array.isArray(resources) || typeof groupVersion !== 'string' || resources.length > maxResources)
    throw new Error('its discovery is no APIResourceList');
  const [group = '', version = ''] = groupVersion.split('/');
  const entries = resources.map((resource) => entryOf(resource as JsonObject, group, version));
  const main = entries.filter(({ name }) => !name.includes('/'));
  return main.map(({ name, responseKind, verbs, own }) => {
    const subresources = entries
      .filter((one) => one.name.startsWith(`${name}/`))
      .map((one) => ({
        subresource: one.name.slice(name.length + 1),
        responseKind: one.responseKind,
        verbs: one.verbs,
      }));
    const parts = subresources.length > 0 ? { subresources } : {};
    return { resource: name, responseKind, verbs, ...own, ...parts };
  });
}

function entryOf(resource: JsonObject, group: string, version: string) {
  const { name, kind, verbs, namespaced, singularName, shortNames, categories } = resource;
  if (typeof name !== 'string' || !Array.isArray(verbs))
    throw new Error('its discovery has a resource without a name or verbs');
  return {
    name,
    verbs,
    responseKind: {
      group: textOf(resource.group, group),
      version: textOf(resource.version, version),
      kind: textOf(kind, ''),
    },
    own: {
      scope: namespaced === true ? 'Namespaced' : 'Cluster',
      singularResource: textOf(singularName, ''),
      ...(Array.isArray(shortNames) && { shortNames }),
      ...(Array.isArray(categories) && { categories }),
    },
  };
}

const textOf = (value: unknown, otherwise: string): string =>
  typeof value === 'string' && value !== '' ? value : otherwise;

/**
 * Returns the entry of a version. If `resources` is undefined, because the server did not answer, the former
 * ones stay, marked as stale.
 */
export function entryAfter(
  { spec }: APIService,
  resources: readonly JsonObject[] | undefined,
  former: DelegatedVersion | undefined,
): DelegatedVersion {
  return {
    group: spec.group ?? '',
    version: spec.version ?? '',
    groupPriority: spec.groupPriorityMinimum,
    versionPriority: spec.versionPriority,
    resources: resources ?? former?.resources ?? [],
    freshness: resources ? 'Current' : 'Stale',
  };
}

/** Returns the versions in the order of discovery: those of the highest priority first. */
export const inOrder = (versions: readonly DelegatedVersion[]): readonly DelegatedVersion[] =>
  versions.toSorted(
    (a, b) =>
      b.groupPriority - a.groupPriority ||
      (a.group < b.group ? -1 : a.group > b.group ? 1 : b.versionPriority - a.versionPriority),
  );

/**
 * Returns the kinds whose objects can be listed and deleted, each in the first version that has it. A kind
 * that has not changed is the same object as in `former`.
 */
export function extensionKindsOf(
  versions: readonly DelegatedVersion[],
  former: readonly ExtensionKind[],
): readonly ExtensionKind[] {
  const found = new Map<string, ExtensionKind>();
  for (const { group, version, resources } of versions) {
    for (const resource of resources) {
      const kind = extensionKindOf(resource, group, version);
      const key = `${group}/${kind.plural}`;
      if (found.has(key) || !supports(kind, 'list', 'delete')) continue;
      found.set(key, former.find((one) => deepEqual(one, kind)) ?? kind);
    }
  }
  return [...found.values()];
}

function extensionKindOf(resource: JsonObject, group: string, version: string): ExtensionKind {
  const { responseKind, resource: plural, scope, verbs } = resource;
  const { kind } = responseKind as { readonly kind: string };
  return {
    ...{ group, version, kind, plural: plural as string },
    namespaced: scope === 'Namespaced',
    verbs: (verbs as readonly unknown[]).filter((verb) => typeof verb === 'string'),
  };
}
