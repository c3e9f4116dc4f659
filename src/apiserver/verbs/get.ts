/** GET of one object. */

import { parseListQuery, parseResourceVersion } from '../../apimachinery/list-options.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import { newNotFound } from '../../apimachinery/status-error.ts';
import { respondObject } from '../encoding/answer.ts';
import { readNow, waitForRevision } from '../reads/freshness.ts';
import type { RequestScope } from '../request/request-scope.ts';
import type { StoredObject } from '../stored-object.ts';
import { watchCollection } from './watch.ts';

export async function get(scope: RequestScope): Promise<Response> {
  if (scope.query.has('watch')) {
    const query = parseListQuery(scope.query);
    const byName = { field: 'metadata.name', operator: '=', value: scope.info.name } as const;
    if (query.watch)
      return watchCollection(scope, { ...query, fieldSelector: [...query.fieldSelector, byName] });
  }
  const found = await readObject(scope);
  scope.server.behavior.checkRead(scope, found);
  return respondObject(scope, 200, found);
}

/**
 * Returns the object from the cache if the request has a resourceVersion, otherwise as it is stored now
 * (linearizable), in the version that the client addressed. Throws 404.
 */
export async function readObject(scope: RequestScope): Promise<StoredObject> {
  const found = await readStored(scope);
  const [shown = found] = await scope.server.versionReader.read(scope.definition, [found], scope.aside);
  return shown;
}

async function readStored(scope: RequestScope): Promise<StoredObject> {
  const { server, definition, info } = scope;
  const key = storageKey(definition, info.namespace, info.name);
  const revision = parseResourceVersion(scope.query.get('resourceVersion') ?? '');
  if (revision !== undefined) {
    await waitForRevision(server, revision, scope);
    const cached = server.cache.get(key);
    if (cached) return cached;
    throw newNotFound(definition, info.name);
  }
  const found = await readNow(server, key, scope);
  if (!found) throw newNotFound(definition, info.name);
  return found;
}
