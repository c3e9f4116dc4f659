/** The metadata of all objects of a namespace or of the cluster, listed once. */
import type { KubeList, KubeObject } from '../../../apimachinery/meta.ts';
import { may } from './access.ts';
import { kinds } from './kinds.ts';
import type { ApiKind } from './plan/discovery.ts';
import { type Owned, ownedOf } from './plan/owner-tree.ts';
import { objectsOf } from './resources.ts';

/** Lists that run at once: browsers open six connections to a server without HTTP/2. */
const atOnce = 3;
/** Objects of these kinds come and go by themselves, or are computed for each request, and own nothing. */
const passing = new Set([
  ...['events', 'events.events.k8s.io', 'leases.coordination.k8s.io'],
  'servicetraffics.minik8s.io',
]);

export interface Survey {
  readonly objects: readonly Owned[];
  /** Kinds whose objects could not be listed. */
  readonly unread: readonly string[];
}

/** Returns the kinds that a survey reads: the namespaced kinds for a namespace, all kinds for the cluster. */
export const surveyed = (namespace: string): readonly ApiKind[] =>
  kinds.value.filter(
    (kind) =>
      kind.verbs.includes('list') &&
      !passing.has(kind.key) &&
      !kind.group.endsWith('metrics.k8s.io') &&
      (namespace === '' || kind.namespaced),
  );

/** Lists the metadata of the objects of a namespace, '' for those of the whole cluster. */
export async function survey(namespace: string, wanted = surveyed(namespace)): Promise<Survey> {
  const objects: Owned[] = [];
  const unread: string[] = [];
  const queue = [...wanted];
  const work = async () => {
    for (let kind = queue.shift(); kind; kind = queue.shift()) {
      const found = await metadataOf(kind, namespace);
      if (found) objects.push(...found.map((object) => ownedOf(kind.key, object)));
      else unread.push(kind.kind);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { objects, unread };
}

async function metadataOf(kind: ApiKind, namespace: string): Promise<readonly KubeObject[] | undefined> {
  if (!may('list', kind, namespace)) return undefined;
  const resource = objectsOf<KubeObject>(kind, true);
  const items: KubeObject[] = [];
  try {
    for (let token: string | undefined = ''; token !== undefined; ) {
      const page: KubeList = await resource.list({
        ...(kind.namespaced && namespace && { namespace }),
        limit: 2_000,
        ...(token && { continue: token }),
      });
      items.push(...page.items);
      token = page.metadata.continue || undefined;
    }
  } catch {
    // The kind counts as one that was not read, which the caller shows.
    return undefined;
  }
  return items;
}
