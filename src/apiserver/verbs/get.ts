/** GET of one object. */

import { parseListQuery, parseResourceVersion } from '../../apimachinery/list-options.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import { asServed } from '../../apimachinery/served-version.ts';
import { newNotFound } from '../../apimachinery/status-error.ts';
import { readNow, waitForRevision } from '../freshness.ts';
import type { RequestScope } from '../request-scope.ts';
import { respondJson } from '../respond.ts';
import type { StoredObject } from '../stored-object.ts';
import { metadataOf, parseIncludeObject, table } from '../table.ts';
import { watchCollection } from './watch.ts';

export async function get(scope: RequestScope): Promise<Response> {
  if (scope.query.has('watch')) {
    const query = parseListQuery(scope.query);
    const byName = { field: 'metadata.name', operator: '=', value: scope.info.name } as const;
    if (query.watch)
      return watchCollection(scope, { ...query, fieldSelector: [...query.fieldSelector, byName] });
  }
  const found = await readObject(scope);
  scope.server.behavior.checkRead(scope, found.object);
  return respondObject(scope, 200, found);
}

/** With a resourceVersion from the cache as it is then, without one as the store has it now (linearizable). Throws 404. */
export async function readObject(scope: RequestScope): Promise<StoredObject> {
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

/** One object in the form the client asked for. */
export function respondObject(
  scope: RequestScope,
  status: number,
  found: { readonly object: KubeObject; readonly bytes?: Buffer },
): Response {
  const { form, served } = scope;
  switch (form.type) {
    case 'object':
      return respondJson(
        status,
        (!served.conversion && found.bytes) || asServed(served, found.object),
        scope.headers,
      );
    case 'metadata':
      return respondJson(status, metadataOf(asServed(served, found.object), form.version), scope.headers);
    case 'table': {
      const { server } = scope;
      const include = parseIncludeObject(scope.query.get('includeObject'));
      const tableForm = { definition: served, version: form.version, include, now: server.clock.now() };
      const { resourceVersion } = found.object.metadata;
      return respondJson(status, table(tableForm, { resourceVersion }, [found.object]), scope.headers);
    }
  }
}
