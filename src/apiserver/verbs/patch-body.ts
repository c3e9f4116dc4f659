/** The three kinds of patch and how each changes an object. */
import { kubernetesFields } from '../../api/field-table.ts';
import { parseBody } from '../../apimachinery/decode.ts';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { applyJsonPatch, type JsonPatchOperation, readJsonPatch } from '../../apimachinery/patch-json.ts';
import { applyMergePatch } from '../../apimachinery/patch-merge.ts';
import { applyStrategicPatch } from '../../apimachinery/patch-strategic.ts';
import { newBadRequest, newStatusError } from '../../apimachinery/status-error.ts';
import { readBody } from '../body.ts';
import type { RequestScope } from '../request-scope.ts';
import { mediaType } from './read-object.ts';

export type Patch =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'merge' | 'strategic'; readonly patch: JsonObject };

const types: Readonly<Record<string, Patch['type']>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};

/** Throws 415 for another kind of patch, 400 for one that can not be read. */
export async function readPatch(scope: RequestScope): Promise<Patch> {
  const type = types[mediaType(scope.request)];
  const known = Object.keys(types).filter((name) => name !== strategic || hasMergeRules(scope));
  if (!type || (type === 'strategic' && !hasMergeRules(scope))) {
    throw newStatusError(
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${known.join(', ')}`,
    );
  }
  const { value } = parseBody((await readBody(scope.request)).toString(), 'application/json', false);
  if (type === 'json') return { type, operations: readJsonPatch(value) };
  if (!isRecord(value)) throw newBadRequest('error decoding patch: a merge patch is an object');
  return { type, patch: value };
}

const strategic = 'application/strategic-merge-patch+json';

/** Only Kubernetes' own kinds say how their lists merge; upstream refuses it for custom resources too. */
const hasMergeRules = (scope: RequestScope) =>
  kubernetesFields.typeOf(scope.definition.fieldsOf) !== undefined;

/** A patched copy; throws 422 for an operation that can not be applied. */
export function applyPatch(scope: RequestScope, patch: Patch, current: JsonObject): unknown {
  switch (patch.type) {
    case 'json':
      return applyJsonPatch(current, patch.operations);
    case 'merge':
      return applyMergePatch(current, patch.patch);
    case 'strategic': {
      const type = kubernetesFields.typeOf(scope.definition.fieldsOf);
      if (!type) throw newBadRequest(`${scope.definition.plural} take no strategic merge patch`);
      return applyStrategicPatch(current, patch.patch, type);
    }
  }
}
