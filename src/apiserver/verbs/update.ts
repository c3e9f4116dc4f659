/** PUT of an object or of its status. */
import { deepCopy } from '../../apimachinery/equality.ts';
import type { Part } from '../registry/preparation.ts';
import { updateObject } from '../registry/update.ts';
import { isDryRun, type RequestScope } from '../request-scope.ts';
import { respondObject } from './get.ts';
import { readObjectBody } from './read-object.ts';

export async function update(scope: RequestScope): Promise<Response> {
  return updatePart(scope, 'main');
}

export async function updatePart(scope: RequestScope, part: Part): Promise<Response> {
  const dryRun = isDryRun(scope, 'UpdateOptions');
  const wanted = await readObjectBody(scope, 'UpdateOptions');
  const { server, definition, info, user } = scope;
  const object = await updateObject(server, {
    definition,
    namespace: info.namespace,
    name: info.name,
    part,
    subresource: info.subresource,
    user,
    dryRun,
    change: () => deepCopy(wanted),
  });
  return respondObject(scope, 200, { object });
}
