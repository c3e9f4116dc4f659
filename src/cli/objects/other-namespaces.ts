/** Notes for objects that were not found: where they exist, or which names resemble theirs. */
import { isNotFound, type StatusError } from '../../apimachinery/status-error.ts';
import { collectionPath, query } from '../../client/resource-path.ts';
import { nearest } from '../../terminal/nearest.ts';
import type { Cluster } from '../connection/cluster.ts';
import { namesIn, noNamespaceNote } from './nothing-found.ts';
import { metadataOf, recordsAt, textAt } from './objects.ts';

/** Maximum number of objects that are searched for, each with one request. */
const maxSearched = 5;
/** Maximum number of namespaces that a note names. */
const maxNamed = 3;

/**
 * Returns a note for each object of the errors that exists in other namespaces, such as `pods "web" exists in
 * namespace shop; use -n shop`. Returns none for errors other than NotFound, for cluster-scoped kinds and for
 * objects that the user may not list in all namespaces.
 */
export async function otherNamespaceNotes(
  cluster: Pick<Cluster, 'get' | 'resources'>,
  errors: readonly StatusError[],
): Promise<readonly string[]> {
  const notes = await Promise.all(
    missingIn(errors).map(async (one) => noteOf(one, await namespacesOf(cluster, one))),
  );
  return notes.filter((note) => note !== undefined);
}

/**
 * Returns a note for each object of the errors whose name resembles others of its kind in the namespace, or a
 * single note if the namespace does not exist. Each note costs a list of names, so call it only if a person
 * reads the errors.
 */
export async function similarNameNotes(
  cluster: Pick<Cluster, 'get' | 'resources' | 'namespace'>,
  errors: readonly StatusError[],
): Promise<readonly string[]> {
  const resources = await cluster.resources();
  const notes: string[] = [];
  for (const { group, plural, name } of missingIn(errors)) {
    const resource = resources.find((one) => one.group === group && one.plural === plural);
    if (!resource) continue;
    const { namespaced } = resource;
    if (namespaced && !(await isThere(cluster))) return [await noNamespaceNote(cluster)];
    const names = await namesIn(
      cluster,
      collectionPath(resource, namespaced ? cluster.namespace : undefined),
    );
    const meant = nearest(name, names);
    if (meant.length > 0)
      notes.push(`did you mean ${meant.map((one) => `${plural} ${JSON.stringify(one)}`).join(' or ')}?`);
  }
  return notes;
}

/** Resolves to false if the namespace does not exist; a user who may not read it gets true. */
async function isThere({ get, namespace }: Pick<Cluster, 'get' | 'namespace'>): Promise<boolean> {
  try {
    await get(`/api/v1/namespaces/${encodeURIComponent(namespace)}`);
    return true;
  } catch (error) {
    return !isNotFound(error);
  }
}

function missingIn(errors: readonly StatusError[]): readonly Missing[] {
  const missing = new Map<string, Missing>();
  for (const error of errors.filter(isNotFound)) {
    const { details } = error.status;
    const [group, kind, name] = ['group', 'kind', 'name'].map((field) => textAt(details, field));
    if (kind && name) missing.set(`${group}/${kind}/${name}`, { group: group ?? '', plural: kind, name });
  }
  return [...missing.values()].slice(0, maxSearched);
}

interface Missing {
  readonly group: string;
  readonly plural: string;
  readonly name: string;
}

async function namespacesOf(
  cluster: Pick<Cluster, 'get' | 'resources'>,
  { group, plural, name }: Missing,
): Promise<readonly string[]> {
  const resource = (await cluster.resources()).find((one) => one.group === group && one.plural === plural);
  if (!resource?.namespaced) return [];
  const fieldSelector = `metadata.name=${name}`;
  const list = await cluster.get(collectionPath(resource) + query({ fieldSelector, limit: maxNamed + 1 }));
  return recordsAt(list, 'items').map((item) => metadataOf(item).namespace);
}

function noteOf({ group, plural, name }: Missing, namespaces: readonly string[]): string | undefined {
  const [only, ...more] = namespaces;
  if (only === undefined) return undefined;
  const what = `${plural}${group && `.${group}`} ${JSON.stringify(name)}`;
  if (more.length === 0) return `${what} exists in namespace ${only}; use -n ${only}`;
  const named = namespaces.slice(0, maxNamed).join(', ');
  const rest = namespaces.length > maxNamed ? ' and others' : '';
  return `${what} exists in namespaces ${named}${rest}; choose one with -n`;
}
