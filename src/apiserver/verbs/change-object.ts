/** The end of every write to an object that exists: one part of it changed, stored, answered. */
import type { Part } from '../registry/preparation.ts';
import { type UpdateRequest, updateObject } from '../registry/update.ts';
import type { RequestScope } from '../request-scope.ts';
import { respondObject } from './get.ts';

export interface Change extends Pick<UpdateRequest, 'change' | 'options'> {
  readonly part: Part;
}

export async function changeObject(scope: RequestScope, wanted: Change): Promise<Response> {
  const { server, definition, info } = scope;
  const { namespace, name, subresource } = info;
  const object = await updateObject(server, { definition, namespace, name, subresource, ...wanted });
  return respondObject(scope, 200, { object });
}
