/**
 * Routes of the server from its own description: resources from discovery, schemas of objects from OpenAPI.
 */

import type { Schemas } from './schema.ts';
import { seeds } from './seeds.ts';

export interface Resource {
  /** Prefix of the paths, such as `/api/v1` or `/apis/apps/v1`. */
  readonly prefix: string;
  readonly plural: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  /** Name of the schema of its object; undefined if OpenAPI has none. */
  readonly schema: string | undefined;
}

export interface Routes {
  readonly resources: readonly Resource[];
  readonly schemas: Schemas;
  /** All other paths with an answer. */
  readonly others: readonly string[];
}

export type GetJson = (path: string) => Promise<unknown>;

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

interface OpenApiDocument {
  readonly components: { readonly schemas: Schemas };
}

const fixed = [
  ...['/', '/api', '/apis', '/version', '/healthz', '/livez', '/readyz', '/livez?verbose', '/metrics'],
  ...['/openapi/v2', '/openapi/v3', '/nothing', '/api/v1/nothing', '/apis/nothing.example.com/v1/things'],
];

export async function routesOf(get: GetJson): Promise<Routes> {
  const groups = (await get('/apis')) as {
    readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
  };
  const versions = groups.groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion));
  const prefixes = ['/api/v1', ...versions.map((version) => `/apis/${version}`)];
  const index = (await get('/openapi/v3')) as {
    readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
  };
  const documents = Object.values(index.paths).map(({ serverRelativeURL }) => serverRelativeURL);
  const schemas: Record<string, Schemas[string]> = {};
  for (const path of documents) {
    const { components } = (await get(path)) as OpenApiDocument;
    Object.assign(schemas, components.schemas);
  }
  const resources: Resource[] = [];
  for (const prefix of prefixes) {
    const list = (await get(prefix)) as { readonly resources: readonly ApiResource[] };
    resources.push(...resourcesOf(prefix, list.resources, schemas));
  }
  const unseeded = resources.filter((one) => one.verbs.includes('create') && seedOf(one) === undefined);
  if (unseeded.length > 0)
    throw new Error(`seeds.ts has no object of ${unseeded.map(({ kind }) => kind).join(', ')}`);
  return { resources, schemas, others: [...fixed, ...prefixes, ...documents] };
}

function resourcesOf(prefix: string, listed: readonly ApiResource[], schemas: Schemas): Resource[] {
  const [, , group = '', version = 'v1'] = prefix.startsWith('/apis/')
    ? prefix.split('/')
    : ['', '', '', 'v1'];
  return listed
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced, verbs }) => ({
      ...{ prefix, plural: name, kind, group, version, namespaced, verbs },
      subresources: listed
        .filter((one) => one.name.startsWith(`${name}/`))
        .map((one) => one.name.split('/')[1] ?? ''),
      schema: Object.keys(schemas).find((schema) =>
        schemas[schema]?.['x-kubernetes-group-version-kind']?.some(
          (gvk) => gvk.group === group && gvk.version === version && gvk.kind === kind,
        ),
      ),
    }));
}

export const collectionOf = ({ prefix, namespaced, plural }: Resource, namespace: string) =>
  `${prefix}${namespaced && namespace !== '' ? `/namespaces/${namespace}` : ''}/${plural}`;

/** Name of the objects that exist from the beginning. */
export const seedName = 'web';

/** Returns a whole object that the server accepts; undefined for a kind without a seed. */
export function seedOf({ group, version, kind }: Resource): Record<string, unknown> | undefined {
  const seed = seeds[`${group}/${kind}`];
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return seed && structuredClone({ apiVersion, kind, metadata: { name: seedName }, ...seed });
}
