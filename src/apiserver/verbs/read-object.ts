/** Request bodies as values and as objects of a kind. */
import { kubernetesFields } from '../../api/field-table.ts';
import {
  convertObject,
  decodeObject,
  type FieldValidation,
  parseBody,
  parseFieldValidation,
} from '../../apimachinery/decode.ts';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { newBadRequest, newStatusError } from '../../apimachinery/status-error.ts';
import { readBody } from '../body.ts';
import type { RequestScope } from '../request-scope.ts';

/** The media type without parameters; `kubectl scale` sends none and means JSON, fetch calls plain text so. */
export function mediaType(request: Request): string {
  const header = request.headers.get('content-type') ?? '';
  const type = (header.split(';')[0] ?? '').trim().toLowerCase();
  return type === '' || type.startsWith('text/plain') ? 'application/json' : type;
}

export const unsupportedMediaType = (accepted: readonly string[]) =>
  newStatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

const readable = ['application/json', 'application/yaml'];

/** Throws 415 for what can not be read here, before the body is. */
function bodyType(request: Request): string {
  const type = mediaType(request);
  if (!readable.includes(type)) throw unsupportedMediaType(readable);
  return type;
}

export const fieldValidation = (scope: RequestScope, options: string): FieldValidation =>
  parseFieldValidation(scope.query.get('fieldValidation') ?? '', options);

/** Reads, checks the fields and fills in defaults; what Kubernetes does not know ends as warnings or as a 400. */
export async function readObjectBody(
  scope: RequestScope,
  options: 'CreateOptions' | 'UpdateOptions',
): Promise<KubeObject> {
  const validation = fieldValidation(scope, options);
  const type = bodyType(scope.request);
  const text = (await readBody(scope.request)).toString();
  const decoded = decodeObject(kubernetesFields, scope.definition, text, type, validation);
  scope.warnings.push(...decoded.warnings);
  return decoded.object;
}

/** A patched object, checked as if it had been sent. It is warned of what is new, not of what was there before. */
export function checkObject(
  scope: RequestScope,
  value: unknown,
  validation: FieldValidation,
  before: KubeObject,
): KubeObject {
  const { definition, warnings } = scope;
  const decoded = convertObject(kubernetesFields, definition, value, validation);
  if (decoded.warnings.length > 0) {
    const known = new Set(convertObject(kubernetesFields, definition, before, 'Warn').warnings);
    for (const warning of decoded.warnings) {
      if (!known.has(warning) && !warnings.includes(warning)) warnings.push(warning);
    }
  }
  return decoded.object;
}

/** The body of a small kind that exists only as a request (Binding, Eviction, Scale, DeleteOptions). */
export async function readKind(scope: RequestScope, kind: string): Promise<JsonObject> {
  const type = bodyType(scope.request);
  const text = (await readBody(scope.request)).toString();
  return text === '' ? {} : asKind(parseBody(text, type, false).value, kind);
}

/** An absent kind is filled in, another one refused. */
export function asKind(value: unknown, kind: string): JsonObject {
  if (!isRecord(value)) throw newBadRequest(`the body must be a ${kind}: an object was expected`);
  if (value.kind !== undefined && value.kind !== kind) {
    throw newBadRequest(`the body must be a ${kind}, not ${JSON.stringify(value.kind)}`);
  }
  return value;
}

/** An object inside another one; absent and null count as empty, anything else is a 400. */
export function objectField(value: JsonObject, field: string): JsonObject {
  const inner = value[field] ?? {};
  if (!isRecord(inner)) throw newBadRequest(`${field} must be an object`);
  return inner;
}

export function stringField(value: JsonObject, field: string): string {
  const inner = value[field] ?? '';
  if (typeof inner !== 'string') throw newBadRequest(`${field} must be a string`);
  return inner;
}
