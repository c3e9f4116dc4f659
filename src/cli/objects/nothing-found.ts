/** Message for a command that found no objects, with a hint if the namespace does not exist. */
import { isNotFound, StatusError } from '../../apimachinery/status-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import type { Io } from '../io.ts';

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
    if (isNotFound(error))
      io.err(`Note: namespace "${namespace}" does not exist; ctl get namespaces lists those that do\n`);
    else if (!(error instanceof StatusError)) throw error;
  }
}
