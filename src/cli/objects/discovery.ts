/**
 * The resources that a server serves, from its discovery documents: aggregated if the server has them,
 * otherwise one for each group and version. Also finds the resource for a word such as `deploy`,
 * `deployments.apps` or `Deployment`.
 */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { apiVersionOf, type ResourceRef } from '../../apimachinery/resource-definition.ts';
import type { Requester } from '../../client/requester.ts';
import { didYouMean } from '../../terminal/nearest.ts';
import { notServedResource } from './kubernetes-kinds.ts';

export interface ApiResource extends ResourceRef {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
}

/**
 * Resources in the server's order: the core group first, the preferred version of a group before its other
 * versions.
 */
export type ApiResources = readonly ApiResource[];

const aggregated = 'apidiscovery.k8s.io';
const accept = ['v2', 'v2beta1']
  .map((v) => `application/json;g=${aggregated};v=${v};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',');

export async function discover(requester: Requester): Promise<ApiResources> {
  const get = async (path: string): Promise<JsonObject> => {
    const document = await requester.json({ method: 'GET', path, headers: { accept } });
    return isRecord(document) ? document : {};
  };
  const [core, named] = await Promise.all([get('/api'), get('/apis')]);
  if (core.kind === 'APIGroupDiscoveryList' && named.kind === 'APIGroupDiscoveryList')
    return [...fromAggregated(core), ...fromAggregated(named)];
  const groupVersions = [...strings(core.versions), ...namedGroupVersions(named)];
  const documents = await Promise.all(
    groupVersions.map((gv) => get(gv.includes('/') ? `/apis/${gv}` : `/api/${gv}`)),
  );
  return documents.flatMap(fromLegacy);
}

export function fromAggregated(document: JsonObject): ApiResource[] {
  return records(document.items).flatMap((group) => {
    const name = text(asRecord(group.metadata).name);
    return records(group.versions).flatMap((version) =>
      records(version.resources).map(
        (resource): ApiResource => ({
          group: name,
          version: text(version.version),
          kind: text(asRecord(resource.responseKind).kind),
          plural: text(resource.resource),
          namespaced: resource.scope === 'Namespaced',
          singular: text(resource.singularResource),
          shortNames: strings(resource.shortNames),
          categories: strings(resource.categories),
          verbs: strings(resource.verbs),
          subresources: records(resource.subresources).map((sub) => text(sub.subresource)),
        }),
      ),
    );
  });
}

/** Returns every `group/version` of an APIGroupList, the preferred version of each group first. */
function namedGroupVersions(list: JsonObject): string[] {
  return records(list.groups).flatMap((group) => {
    const preferred = text(asRecord(group.preferredVersion).groupVersion);
    const all = records(group.versions).map((version) => text(version.groupVersion));
    return [...new Set([preferred, ...all])].filter((gv) => gv !== '');
  });
}

export function fromLegacy(document: JsonObject): ApiResource[] {
  const groupVersion = text(document.groupVersion);
  const slash = groupVersion.indexOf('/');
  const group = slash < 0 ? '' : groupVersion.slice(0, slash);
  const version = groupVersion.slice(slash + 1);
  const entries = records(document.resources);
  return entries
    .filter(({ name }) => !text(name).includes('/'))
    .map((entry) => ({
      group,
      version,
      kind: text(entry.kind),
      plural: text(entry.name),
      namespaced: entry.namespaced === true,
      singular: text(entry.singularName) || text(entry.kind).toLowerCase(),
      shortNames: strings(entry.shortNames),
      categories: strings(entry.categories),
      verbs: strings(entry.verbs),
      subresources: entries
        .map(({ name }) => text(name))
        .filter((name) => name.startsWith(`${text(entry.name)}/`))
        .map((name) => name.slice(text(entry.name).length + 1)),
    }));
}

/** The server does not serve the resource, or did not serve it when the list of its resources was cached. */
export class UnknownResourceError extends Error {
  override readonly name = 'UnknownResourceError';
}

/**
 * Returns the resource for `word`: a plural, singular, short name or kind, in any case, alone, as
 * `name.group` or as `name.version.group`. Throws UnknownResourceError if the server does not serve it.
 */
export function findResource(all: ApiResources, word: string): ApiResource {
  const [name = '', ...rest] = word.toLowerCase().split('.');
  const qualifier = rest.join('.');
  const candidates = all.filter(
    ({ group, version }) => !qualifier || group === qualifier || `${version}.${group}` === qualifier,
  );
  const found = namings.flatMap((naming) => candidates.filter((resource) => naming(resource, name)));
  // kubectl ignores a version and group that follow a short name.
  if (!found[0] && rest.length > 1) found.push(...all.filter(({ shortNames }) => shortNames.includes(name)));
  if (!found[0]) {
    const elsewhere = notServedResource(name, qualifier);
    if (elsewhere !== undefined) throw new UnknownResourceError(elsewhere);
    const hint = didYouMean(
      name,
      all.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames]),
    );
    const message = `the server doesn't have a resource type ${JSON.stringify(word)}`;
    throw new UnknownResourceError(hint ? `${message}.${hint}` : `${message}; see minik8s ctl api-resources`);
  }
  return found[0];
}

/** Ways to match a name, in order of precedence. */
const namings: readonly ((resource: ApiResource, name: string) => boolean)[] = [
  ({ plural }, name) => plural === name,
  ({ singular }, name) => singular === name,
  ({ shortNames }, name) => shortNames.includes(name),
  ({ kind }, name) => kind.toLowerCase() === name,
];

/** Returns each resource once, in the version that its group prefers. */
export function preferred(all: ApiResources): ApiResources {
  const seen = new Set<string>();
  return all.filter(({ group, plural }) => {
    const id = `${plural}.${group}`;
    return !seen.has(id) && seen.add(id);
  });
}

/** Returns all resources of a category such as `all`; empty if there are none. */
export const inCategory = (all: ApiResources, category: string): ApiResources =>
  preferred(all).filter(({ categories, verbs }) => categories.includes(category) && verbs.includes('list'));

/** Returns the resource whose objects have this kind; undefined if the server does not serve it. */
export const resourceOfKind = (all: ApiResources, apiVersion: string, kind: string) =>
  all.find((resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion);

/** Returns a kind's name as in kubectl's messages, such as `deployment.apps`. */
export const kindName = ({ kind, group }: Pick<ApiResource, 'kind' | 'group'>) =>
  `${kind.toLowerCase()}${group && `.${group}`}`;

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const asRecord = (value: unknown): JsonObject => (isRecord(value) ? value : {});
const records = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
