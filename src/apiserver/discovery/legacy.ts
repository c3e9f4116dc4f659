/**
 * Discovery as one document for each group and version, for clients that do not request the aggregated form.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import type { KindSubresources } from '../subresources/subresources.ts';
import {
  type GroupVersionResources,
  resourceVerbs,
  sortedSubresources,
  subresourceVerbs,
} from './resources.ts';

type Version = Pick<GroupVersionResources, 'group' | 'version'>;

/** Document of `/api`. */
export function coreVersions(all: readonly Version[], serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: all.filter(({ group }) => group === '').map(({ version }) => version),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** Document of `/apis`. */
export function groupList(all: readonly Version[]): JsonObject {
  const names = [...new Set(all.map(({ group }) => group))].filter((group) => group !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: names.map((name) => groupEntry(all, name)) };
}

/** Document of `/apis/GROUP`. */
export const groupDocument = (all: readonly Version[], name: string): JsonObject => ({
  kind: 'APIGroup',
  apiVersion: 'v1',
  ...groupEntry(all, name),
});

function groupEntry(all: readonly Version[], name: string): JsonObject {
  const versions = all
    .filter(({ group }) => group === name)
    .map(({ group, version }) => ({ groupVersion: apiVersionOf({ group, version }), version }));
  return { name, versions, preferredVersion: versions[0] };
}

/** Document of `/api/v1` and `/apis/GROUP/VERSION`. */
export function resourceList(
  { group, version, definitions }: GroupVersionResources,
  added: KindSubresources,
): JsonObject {
  const resources = definitions.flatMap((definition) => {
    const { plural, singular, namespaced, kind, shortNames, categories } = definition;
    const main = {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs: resourceVerbs(definition),
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
    };
    const parts = sortedSubresources(definition, added).map(([name, subresource]) => ({
      name: `${plural}/${name}`,
      singularName: '',
      namespaced,
      ...(subresource.kind ?? { kind }),
      verbs: subresourceVerbs(subresource),
    }));
    return [main, ...parts];
  });
  const groupVersion = apiVersionOf({ group, version });
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}
