/** Reads the objects for explanations with the rights of the user. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isForbidden } from '../../apimachinery/status-error.ts';
import { type KindKey, kindKeys, whyKinds } from '../../why/kinds.ts';
import { Snapshot } from '../../why/snapshot.ts';
import type { Cluster } from '../connection/cluster.ts';
import type { CollectionTarget } from '../objects/object-target.ts';
import { recordsAt, textAt } from '../objects/objects.ts';
import { pages } from '../objects/pages.ts';

/** Kinds of which only names are needed: their contents stay on the server. */
const namesOnly: readonly KindKey[] = ['secrets', 'configmaps', 'serviceaccounts'];
const metadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
const pageSize = 500;

export interface ReadSnapshot {
  readonly snapshot: Snapshot;
  /** Plural names of the kinds that the user may not read. */
  readonly unread: readonly string[];
}

/**
 * Resolves to the objects of one namespace, or of all if it is undefined, and to the cluster-scoped objects.
 * Rejects if a kind cannot be read for a reason other than missing rights.
 */
export async function readSnapshot(
  cluster: Cluster,
  namespace: string | undefined,
  nowMs: number,
): Promise<ReadSnapshot> {
  const lists = await Promise.all(
    kindKeys.map(async (key) => ({
      key,
      list: await readKind(cluster, { key, namespace }),
    })),
  );
  const objects = Object.fromEntries(
    lists.flatMap(({ key, list }) => (Array.isArray(list) ? [[key, list]] : [])),
  );
  const unread = lists.flatMap(({ key, list }) => (list === 'forbidden' ? [key.split('.')[0] ?? key] : []));
  return { snapshot: new Snapshot({ nowMs, objects }), unread };
}

export interface KindQuery {
  readonly key: KindKey;
  readonly namespace: string | undefined;
  readonly labelSelector?: string | undefined;
  /** Maximum number of objects: a kind that has more counts as not read. Default: all are read. */
  readonly maxObjects?: number;
}

/**
 * Resolves to the objects of a kind, to 'forbidden' if the user may not list them, or to undefined if the
 * kind is not served or has too many objects.
 */
export async function readKind(
  cluster: Cluster,
  query: KindQuery,
): Promise<readonly JsonObject[] | 'forbidden' | undefined> {
  const [plural, ...group] = query.key.split('.');
  const resources = await cluster.resources();
  const resource = resources.find((one) => one.plural === plural && one.group === group.join('.'));
  if (!resource) return undefined;
  const namespace = resource.namespaced ? (query.namespace ?? '') : '';
  try {
    return await objectsIn(cluster, query, {
      ...{ resource, namespace, labelSelector: query.labelSelector, fieldSelector: undefined },
    });
  } catch (error) {
    if (isForbidden(error)) return 'forbidden';
    throw error;
  }
}

async function objectsIn(
  cluster: Cluster,
  { key, maxObjects }: KindQuery,
  target: CollectionTarget,
): Promise<readonly JsonObject[] | undefined> {
  const accept = namesOnly.includes(key) ? { accept: metadataList } : {};
  const { kind } = whyKinds[key];
  const found: JsonObject[] = [];
  for await (const page of pages(cluster, target, { limit: maxObjects ?? pageSize, ...accept })) {
    for (const item of recordsAt(page, 'items')) found.push({ ...item, kind });
    if (maxObjects !== undefined && textAt(page, 'metadata', 'continue') !== '') return undefined;
  }
  return found;
}
