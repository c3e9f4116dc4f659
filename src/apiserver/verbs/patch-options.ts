/** Options of a patch besides its body. */
import { forbiddenCause, requiredCause } from '../../apimachinery/field-error.ts';
import { booleanParameter } from '../../apimachinery/list-options.ts';
import { newInvalid } from '../../apimachinery/status-error.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { type WriteOptions, writeOptions } from '../write-options.ts';

const kind = { group: 'meta.k8s.io', kind: 'PatchOptions' };

/** Throws Invalid (422) for an option that is only valid for an apply. */
export function patchOptions(scope: RequestScope): WriteOptions {
  const options = writeOptions(scope, 'PatchOptions');
  if (scope.query.has('force'))
    throw newInvalid(kind, '', [forbiddenCause('force', 'may not be specified for non-apply patch')]);
  return options;
}

export interface ApplyOptions extends WriteOptions {
  /** Takes over fields that other managers own with other values. */
  readonly force: boolean;
}

/** Throws Invalid (422) if the request has no field manager. */
export function applyOptions(scope: RequestScope): ApplyOptions {
  const options = writeOptions(scope, 'PatchOptions');
  if (!scope.query.get('fieldManager'))
    throw newInvalid(kind, '', [requiredCause('fieldManager', 'is required for apply patch')]);
  return { ...options, force: booleanParameter(scope.query, 'force') ?? false };
}
