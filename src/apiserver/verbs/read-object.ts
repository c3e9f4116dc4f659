/** Request bodies as values and as objects of a kind. */
import { kubernetesFields } from '../../api/field-table.ts';
import {
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

const readable = ['application/json', 'application/yaml'];

/** Throws 415 for what can not be read here, before the body is. */
function bodyType(request: Request): string {
  const type = mediaType(request);
  if (readable.includes(type)) return type;
  const protobuf = type === 'application/vnd.kubernetes.protobuf';
  throw newStatusError(
    'UnsupportedMediaType',
    `${protobuf ? 'protobuf bodies are not read by this server' : 'the body of the request was in an unknown format'}` +
      ` - accepted media types include: ${readable.join(', ')}`,
  );
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
