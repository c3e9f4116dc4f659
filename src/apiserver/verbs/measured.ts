/**
 * GET of kinds whose objects are computed for each request: one object, or the selected ones. They have no
 * revision.
 */
import { parseListQuery } from '../../apimachinery/list-options.ts';
import { newNotFound, newStatusError } from '../../apimachinery/status-error.ts';
import { respondObject } from '../encoding/answer.ts';
import type { Kept } from '../encoding/encoder.ts';
import type { RequestScope } from '../request/request-scope.ts';

export async function getMeasured(scope: RequestScope): Promise<Response> {
  const { definition, info, server } = scope;
  const query = { labelSelector: { requirements: [] }, fieldSelector: [] };
  const { namespace, name } = info;
  const [found] = await server.behavior.measure(definition, { ...query, namespace, name });
  if (!found) throw newNotFound(definition, name);
  return respondObject(scope, 200, keptOf(found));
}

export async function listMeasured(scope: RequestScope): Promise<Response> {
  const { definition, info, server } = scope;
  const { watch, labelSelector, fieldSelector } = parseListQuery(scope.query);
  if (watch)
    throw newStatusError('MethodNotAllowed', `${definition.plural} of ${definition.group} cannot be watched`);
  const { namespace } = info;
  const found = await server.behavior.measure(definition, {
    ...{ namespace, name: undefined, labelSelector, fieldSelector },
  });
  return scope.encoder.list(scope, { resourceVersion: '' }, found.map(keptOf));
}

const keptOf = (object: Kept['object']): Kept => ({ object, bytes: Buffer.from(JSON.stringify(object)) });
