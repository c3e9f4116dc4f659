/** Discovery in one document (apidiscovery.k8s.io), which kubectl reads since 1.27. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { DelegatedVersion } from '../delegation.ts';
import type { KindSubresources } from '../subresources/subresources.ts';
import {
  type GroupVersionResources,
  resourceVerbs,
  sortedSubresources,
  subresourceVerbs,
} from './resources.ts';

export type DiscoveryVersion = 'v2' | 'v2beta1';

export function aggregatedDiscovery(
  all: readonly (GroupVersionResources | DelegatedVersion)[],
  version: DiscoveryVersion,
  added: KindSubresources,
): JsonObject {
  const entries = all.map((one) =>
    'definitions' in one
      ? {
          group: one.group,
          version: one.version,
          freshness: 'Current',
          resources: one.definitions.map((definition) => resourceEntry(definition, added)),
        }
      : one,
  );
  const groups = Map.groupBy(entries, ({ group }) => group);
  const items = [...groups].map(([name, versions]) => ({
    metadata: { name, creationTimestamp: null },
    versions: versions.map((entry) => ({
      version: entry.version,
      freshness: entry.freshness,
      resources: entry.resources,
    })),
  }));
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items,
  };
}

function resourceEntry(definition: ResourceDefinition, added: KindSubresources): JsonObject {
  const { group, version, kind, plural, singular, namespaced, shortNames, categories } = definition;
  const subresources = sortedSubresources(definition, added).map(([name, subresource]) => ({
    subresource: name,
    responseKind: subresource.kind ?? { group, version, kind },
    verbs: subresourceVerbs(subresource),
  }));
  return {
    resource: plural,
    responseKind: { group, version, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: resourceVerbs(definition),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}
