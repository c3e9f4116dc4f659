/** Paths of kinds and objects in the API, such as `/api/v1/namespaces/default/pods/web/status`. */
import { apiVersionOf, type ResourceRef } from '../apimachinery/resource-definition.ts';
import type { ClientListOptions } from './client.ts';

/** Returns the path of the collection, in one namespace or in all (`namespace` absent or ''). */
export function collectionPath(ref: ResourceRef, namespace = ''): string {
  const root = ref.group ? `/apis/${apiVersionOf(ref)}` : `/api/${ref.version}`;
  const inNamespace = ref.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${inNamespace}/${ref.plural}`;
}

/** Returns true for a segment that would resolve to the collection or to a path above it. */
const isStep = (segment: string) => segment === '.' || segment === '..';

/**
 * Returns the path of an object or of its subresource. Throws when the name, or the namespace of a namespaced
 * kind, is missing.
 */
export function objectPath(ref: ResourceRef, name: string, namespace = '', subresource = ''): string {
  if (!name) throw new Error(`${ref.plural}: the name is empty`);
  if (isStep(name) || isStep(namespace)) {
    throw new Error(`${ref.plural} ${JSON.stringify(name)}: no object or namespace is called . or ..`);
  }
  if (ref.namespaced && !namespace) throw new Error(`${ref.plural} "${name}": the namespace is missing`);
  const path = `${collectionPath(ref, namespace)}/${encodeURIComponent(name)}`;
  return subresource ? `${path}/${subresource}` : path;
}

export function listQuery(options: Omit<ClientListOptions, 'namespace'>): string {
  return query({
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit,
    continue: options.continue,
    resourceVersion: options.resourceVersion,
  });
}

/** Returns `?a=1&b=2`, or '' when nothing is set; undefined and '' are left out. */
export function query(values: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size ? `?${search}` : '';
}
