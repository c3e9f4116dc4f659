/** Reads the objects of a namespace, or of the cluster, as tables with their metadata. */
import { isForbidden, isNotFound } from '../../apimachinery/status-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import type { ApiResource } from '../objects/discovery.ts';
import { pages } from '../objects/pages.ts';
import { readTable, tableAccept } from '../printers/server-table.ts';
import { cellText } from '../printers/table-writer.ts';
import type { TreeObject } from './tree-plan.ts';

/** Kinds that a tree leaves out: their objects neither own nor are owned by objects that it shows. */
const leftOut = ['events', 'events.events.k8s.io', 'componentstatuses'];
/** Maximum number of kinds that are read at the same time. */
const atOnce = 10;

export interface ReadTree {
  readonly objects: readonly TreeObject[];
  /** Plural names of the kinds that the user may not list. */
  readonly unread: readonly string[];
}

/** Resolves to the objects; an empty namespace means those of the cluster and of all namespaces. */
export async function readTree(cluster: Cluster, namespace: string, nowMs: number): Promise<ReadTree> {
  const resources = listable(await cluster.resources()).filter((one) => namespace === '' || one.namespaced);
  const objects: TreeObject[] = [];
  const unread: string[] = [];
  const waiting = [...resources];
  const worker = async () => {
    for (let resource = waiting.shift(); resource; resource = waiting.shift()) {
      const read = await readKind(cluster, resource, namespace, nowMs);
      if (read === 'forbidden') unread.push(resource.plural);
      else objects.push(...read);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { objects, unread: unread.toSorted() };
}

/** Returns every kind that can be listed: one entry each, in the preferred version of its group. */
function listable(resources: readonly ApiResource[]): readonly ApiResource[] {
  const byName = new Map<string, ApiResource>();
  for (const resource of resources) {
    const name = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
    const isListed = resource.verbs.includes('list') && !leftOut.includes(name);
    if (isListed && !byName.has(name)) byName.set(name, resource);
  }
  return [...byName.values()];
}

async function readKind(
  cluster: Cluster,
  resource: ApiResource,
  namespace: string,
  nowMs: number,
): Promise<readonly TreeObject[] | 'forbidden'> {
  const place = resource.namespaced ? namespace : '';
  const target = { resource, namespace: place, labelSelector: undefined, fieldSelector: undefined };
  const found: TreeObject[] = [];
  try {
    for await (const page of pages(cluster, target, { limit: 500, accept: tableAccept })) {
      const { columns, rows } = readTable(page, nowMs);
      for (const { cells, object } of rows) {
        const named = columns.map(({ name }, i) => [name.toLowerCase(), cellText(cells[i])] as const);
        found.push({ kind: resource.kind, object, cells: new Map(named) });
      }
    }
  } catch (error) {
    if (isForbidden(error)) return 'forbidden';
    // The kinds of an extension server that was removed meanwhile are no longer served.
    if (isNotFound(error)) return [];
    throw error;
  }
  return found;
}
