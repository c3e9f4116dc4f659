/** PATCH of an object or of its status. */
import { patchTypes } from '../../apimachinery/patch.ts';
import type { Part } from '../registry/preparation.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { applyPart } from './apply.ts';
import { changeObject } from './change-object.ts';
import { patchObject, readPatchBody } from './patch-body.ts';
import { patchOptions } from './patch-options.ts';
import { mediaType } from './read-body.ts';

export async function patch(scope: RequestScope): Promise<Response> {
  return patchPart(scope, 'main');
}

/**
 * Patches one part of the object. A resourceVersion in the patch must be the current one; without it, the
 * patch is retried after a lost race.
 */
export async function patchPart(scope: RequestScope, part: Part): Promise<Response> {
  if (mediaType(scope.request) === patchTypes.apply) return applyPart(scope, part);
  const options = patchOptions(scope);
  const body = await readPatchBody(scope);
  return changeObject(scope, {
    part,
    options,
    change: (current) => patchObject(scope, body, current, options.validation, part),
  });
}
