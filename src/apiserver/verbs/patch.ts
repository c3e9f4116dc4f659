/** PATCH of an object or of its status. */
import type { Part } from '../registry/preparation.ts';
import type { RequestScope } from '../request-scope.ts';
import { writeOptions } from '../write-options.ts';
import { changeObject } from './change-object.ts';
import { patchObject, readPatchBody } from './patch-body.ts';

export async function patch(scope: RequestScope): Promise<Response> {
  return patchPart(scope, 'main');
}

/** A resourceVersion in the patch must be the current one; without it a lost race is run again. */
export async function patchPart(scope: RequestScope, part: Part): Promise<Response> {
  const options = writeOptions(scope, 'PatchOptions');
  const body = await readPatchBody(scope);
  return changeObject(scope, {
    part,
    options,
    change: (current) => patchObject(scope, body, current, options.validation),
  });
}
