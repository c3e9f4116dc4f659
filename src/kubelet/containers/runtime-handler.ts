/** Selects the engine's OCI runtime for a pod's containers. */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { runtimeClassResource } from '../../api/node/v1/runtime-class.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import type { Client } from '../../client/client.ts';
import { ContainerConfigError } from '../environment/plan/container-config-error.ts';

/**
 * Returns the runtime's name; undefined for the engine's default, used by a pod without a RuntimeClass.
 * Throws ContainerConfigError when its RuntimeClass does not exist.
 */
export async function runtimeHandler(client: Client, { spec }: Pod): Promise<string | undefined> {
  const name = spec.runtimeClassName;
  if (name === undefined) return undefined;
  try {
    return (await client.resource(runtimeClassResource).get(name)).handler;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ContainerConfigError(`RuntimeClass ${JSON.stringify(name)} not found`, { cause: error });
  }
}
