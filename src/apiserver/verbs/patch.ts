/** PATCH of an object or of its status. */
import type { Part } from '../registry/preparation.ts';
import { updateObject } from '../registry/update.ts';
import { isDryRun, type RequestScope } from '../request-scope.ts';
import { respondObject } from './get.ts';
import { patchObject, readPatchBody } from './patch-body.ts';
import { fieldValidation } from './read-object.ts';

export async function patch(scope: RequestScope): Promise<Response> {
  return patchPart(scope, 'main');
}

/** A resourceVersion in the patch must be the current one; without it a lost race is run again. */
export async function patchPart(scope: RequestScope, part: Part): Promise<Response> {
  const dryRun = isDryRun(scope, 'PatchOptions');
  const validation = fieldValidation(scope, 'PatchOptions');
  const body = await readPatchBody(scope);
  const { server, definition, info, user } = scope;
  const object = await updateObject(server, {
    definition,
    namespace: info.namespace,
    name: info.name,
    part,
    subresource: info.subresource,
    user,
    dryRun,
    change: (current) => patchObject(scope, body, current, validation),
  });
  return respondObject(scope, 200, { object });
}
