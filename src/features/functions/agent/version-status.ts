/** Writes the result of a build into the status of a FunctionVersion. */

import { deepEqual } from '../../../apimachinery/equality.ts';
import { isConflict } from '../../../apimachinery/status-error.ts';
import type { Client } from '../../../client/client.ts';
import { type FunctionVersion, functionVersionResource } from '../api/function-version.ts';
import type { VersionStatus } from './plan/build-status.ts';

const attempts = 8;

/**
 * Sets the status that `change` returns for the newest status, with retries after a conflict; returns the
 * resulting version. Rejects when the version has been replaced by another of its name or no longer exists.
 */
export async function changeStatus(
  client: Client,
  { metadata }: FunctionVersion,
  change: (status: VersionStatus | undefined) => VersionStatus | undefined,
): Promise<FunctionVersion> {
  const { name, namespace = '', uid } = metadata;
  const resource = client.resource(functionVersionResource);
  const changeOnce = async () => {
    const found = await resource.get(name, namespace);
    if (found.metadata.uid !== uid) throw new Error(`FunctionVersion ${name} was replaced`);
    const status = change(found.status);
    return deepEqual(status, found.status) ? found : resource.updateStatus({ ...found, status });
  };
  for (let attempt = 1; ; attempt++) {
    try {
      return await changeOnce();
    } catch (error) {
      if (!isConflict(error) || attempt >= attempts) throw error;
    }
  }
}
