/** Request bodies as values and as objects of a kind. */
import { kubernetesFields } from '../../api/field-table.ts';
import { kubernetesMessages } from '../../api/message-table.ts';
import {
  convertObject,
  type Decoded,
  decodeObject,
  type FieldValidation,
  parseBody,
  parseFieldValidation,
} from '../../apimachinery/decode.ts';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { decodeProtobuf, type Expected, protobufType } from '../../apimachinery/protobuf/envelope.ts';
import type { MessageType } from '../../apimachinery/protobuf/message-types.ts';
import { ProtobufError } from '../../apimachinery/protobuf/reader.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { newBadRequest, newStatusError } from '../../apimachinery/status-error.ts';
import { readBody } from '../body.ts';
import type { RequestScope } from '../request-scope.ts';

/** The media type without parameters; `kubectl scale` sends none and means JSON, fetch calls plain text so. */
export function mediaType(request: Request): string {
  const header = request.headers.get('content-type') ?? '';
  const type = (header.split(';')[0] ?? '').trim().toLowerCase();
  return type === '' || type.startsWith('text/plain') ? 'application/json' : type;
}

const textTypes = ['application/json', 'application/yaml'];

/** Throws 415 for what can not be read here, before the body is; minik8s' own kinds have no form in protobuf. */
function bodyType(request: Request, hasProtobuf: boolean): string {
  const type = mediaType(request);
  const readable = hasProtobuf ? [...textTypes, protobufType] : textTypes;
  if (readable.includes(type)) return type;
  throw newStatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${readable.join(', ')}`,
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
  const message = kubernetesMessages.typeOf(scope.definition.fieldsOf);
  const type = bodyType(scope.request, message !== undefined);
  const body = await readBody(scope);
  const decoded = decodeBody(scope.definition, body, type, message, validation);
  scope.warnings.push(...decoded.warnings);
  return decoded.object;
}

function decodeBody(
  definition: ResourceDefinition,
  body: Buffer,
  type: string,
  message: MessageType | undefined,
  validation: FieldValidation,
): Decoded<KubeObject> {
  if (type !== protobufType || !message)
    return decodeObject(kubernetesFields, definition, body.toString(), type, validation);
  const expected = { apiVersion: apiVersionOf(definition), kind: definition.kind, type: message };
  return convertObject(kubernetesFields, definition, parseProtobuf(body, expected), validation);
}

/** The body of a small kind that exists only as a request (Binding, Eviction, Scale, DeleteOptions). */
export async function readKind(scope: RequestScope, kind: string): Promise<JsonObject> {
  const message = kubernetesMessages.typeOf(`V1${kind}`);
  const type = bodyType(scope.request, message !== undefined);
  const body = await readBody(scope);
  if (body.length === 0) return {};
  if (type === protobufType && message) return asKind(parseProtobuf(body, { kind, type: message }), kind);
  return asKind(parseBody(body.toString(), type, false).value, kind);
}

function parseProtobuf(body: Buffer, expected: Expected): JsonObject {
  try {
    return decodeProtobuf(body, expected);
  } catch (error) {
    if (error instanceof ProtobufError)
      throw newBadRequest(`the body of the request cannot be read: invalid protobuf: ${error.message}`);
    throw error;
  }
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
