/** Message for a command that found no objects, with a hint if the namespace does not exist. */
import { isNotFound, StatusError } from '../../apimachinery/status-error.ts';
import { query } from '../../client/resource-path.ts';
import { nearest } from '../../terminal/nearest.ts';
import type { Cluster } from '../connection/cluster.ts';
import type { Io } from '../io.ts';
import { metadataOf, recordsAt } from './objects.ts';

/** Resolves to the note that the namespace does not exist, with the names that resemble it. */
export async function noNamespaceNote({
  namespace,
  get,
}: Pick<Cluster, 'namespace' | 'get'>): Promise<string> {
  const names = await namesIn({ get }, '/api/v1/namespaces').catch(() => []);
  const meant = nearest(namespace, names);
  const advice =
    meant.length > 0
      ? `did you mean ${meant.join(' or ')}?`
      : 'minik8s ctl get namespaces lists those that do';
  return `namespace "${namespace}" does not exist; ${advice}`;
}

/** Maximum number of names that a search for a similar one compares. */
const maxCompared = 500;

/** Resolves to the names of the objects of a collection, at most 500. */
export async function namesIn(cluster: Pick<Cluster, 'get'>, collection: string): Promise<readonly string[]> {
  const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
  const list = await cluster.get(collection + query({ limit: maxCompared }), accept);
  return recordsAt(list, 'items').map((item) => metadataOf(item).name);
}

/**
 * Prints kubectl's line for an empty result in the cluster's namespace, and a note if there is no such
 * namespace. A user who may not read the namespace gets the line alone.
 */
export async function reportNothingIn(
  cluster: Pick<Cluster, 'namespace' | 'get'>,
  io: Pick<Io, 'err'>,
): Promise<void> {
  const { namespace } = cluster;
  io.err(`No resources found in ${namespace} namespace.\n`);
  try {
    await cluster.get(`/api/v1/namespaces/${encodeURIComponent(namespace)}`);
  } catch (error) {
    if (isNotFound(error)) io.err(`Note: ${await noNamespaceNote(cluster)}\n`);
    else if (!(error instanceof StatusError)) throw error;
  }
}
