/** The kinds of the aggregated discovery (apidiscovery.k8s.io/v2). Pure. */
import type { ResourceRef } from '../../../../apimachinery/resource-definition.ts';

interface DiscoveryResource {
  readonly resource: string;
  readonly responseKind?: { readonly group?: string; readonly version?: string; readonly kind?: string };
  readonly scope: 'Namespaced' | 'Cluster';
  readonly singularResource?: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string; readonly verbs?: readonly string[] }[];
}

interface DiscoveryGroup {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly resources?: readonly DiscoveryResource[];
  }[];
}

export interface DiscoveryDocument {
  readonly items?: readonly DiscoveryGroup[];
}

export interface ApiKind extends ResourceRef {
  /** `PLURAL.GROUP`; the plural alone for the core group. */
  readonly key: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly subresources: readonly string[];
  readonly singular: string;
}

export const keyOf = (plural: string, group: string): string =>
  group === '' ? plural : `${plural}.${group}`;

/** Returns the kinds of a document: each in the version that the server prefers, which is its first one. */
export function kindsOf(document: DiscoveryDocument): ApiKind[] {
  const found = new Map<string, ApiKind>();
  for (const kind of (document.items ?? []).flatMap(everyVersion))
    if (!found.has(kind.key)) found.set(kind.key, kind);
  return [...found.values()];
}

const everyVersion = ({ metadata, versions = [] }: DiscoveryGroup): ApiKind[] =>
  versions.flatMap(({ version, resources = [] }) =>
    resources.map((resource) => kindOf(metadata?.name ?? '', version, resource)),
  );

function kindOf(group: string, version: string, resource: DiscoveryResource): ApiKind {
  const plural = resource.resource;
  return {
    key: keyOf(plural, group),
    group,
    version,
    kind: resource.responseKind?.kind ?? plural,
    plural,
    singular: resource.singularResource ?? '',
    namespaced: resource.scope === 'Namespaced',
    verbs: resource.verbs ?? [],
    shortNames: resource.shortNames ?? [],
    subresources: (resource.subresources ?? []).map(({ subresource }) => subresource),
  };
}
