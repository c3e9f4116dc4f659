/** Request bodies as values and as objects of a kind. */

import { conversion } from '../../apimachinery/decode.ts';
import type { Judges } from '../../apimachinery/decode-fields.ts';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { type ParsedText, parseJson } from '../../apimachinery/json-decode.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { decodeProtobuf, type Expected, protobufType } from '../../apimachinery/protobuf/envelope.ts';
import { ProtobufError } from '../../apimachinery/protobuf/reader.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { newBadRequest, newStatusError } from '../../apimachinery/status-error.ts';
import {
  countOwnValues,
  maxOwnerValues,
  TextError,
  tooManyValues,
  valueLimits,
} from '../../apimachinery/value-limit.ts';
import { readBody } from '../body/body.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { countedName, isBootstrapper, nodeNameOf, type UserInfo } from '../request/user.ts';
import type { WriteOptions } from '../write-options.ts';

/**
 * Returns the media type without parameters. `kubectl scale` sends no type with JSON, and fetch sends JSON as
 * plain text.
 */
export function mediaType(request: Request): string {
  const header = request.headers.get('content-type') ?? '';
  const type = (header.split(';', 1)[0] ?? '').trim().toLowerCase();
  return type === '' || type.startsWith('text/plain') ? 'application/json' : type;
}

const [jsonType, yamlType] = ['application/json', 'application/yaml'];

/** Returns whether the user may send YAML. Kubelets have no need of YAML, which is slow to parse. */
export const takesYaml = (user: UserInfo) => !isBootstrapper(user) && nodeNameOf(user) === undefined;

/**
 * Returns the media type of the body. Throws 415 for an unsupported type, before the body is read; minik8s'
 * own kinds have no protobuf form.
 */
function bodyType({ request, user }: RequestScope, hasProtobuf: boolean): string {
  const type = mediaType(request);
  const readable = [jsonType, ...(takesYaml(user) ? [yamlType] : []), ...(hasProtobuf ? [protobufType] : [])];
  if (readable.includes(type)) return type;
  throw newStatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${readable.join(', ')}`,
  );
}

/**
 * Reads an object, checks its fields and sets defaults; unknown fields become warnings or a 400. The object
 * is in the stored version. `served` is the kind of the body, if it is not the addressed one. `judges`
 * selects the fields whose values are checked, if the other fields do not matter.
 */
export async function readObjectBody(
  scope: RequestScope,
  { validation }: Pick<WriteOptions, 'validation'>,
  { served = scope.served, judges }: { served?: ResourceDefinition; judges?: Judges | undefined } = {},
): Promise<KubeObject> {
  const message = scope.server.messages.typeOf(served.typeName);
  const type = bodyType(scope, message !== undefined);
  const body = await readBody(scope);
  const expected = { apiVersion: apiVersionOf(served), kind: served.kind };
  const { value, duplicates } = await parse(scope, body, type, message && { ...expected, type: message });
  await scope.work.pause();
  const steps = conversion(scope.server.fields, served, value, validation, duplicates, judges);
  const decoded = await scope.work.through(steps);
  scope.warnings.push(...decoded.warnings);
  await scope.work.pause();
  return decoded.object;
}

/** `expected` is present if the kind has a protobuf form. */
async function parse(
  scope: RequestScope,
  body: Buffer,
  type: string,
  expected: Expected | undefined,
): Promise<ParsedText> {
  try {
    if (type === protobufType && expected) return { value: decodeProtobuf(body, expected), duplicates: [] };
    const text = body.toString();
    return type === yamlType
      ? await scope.server.readYaml(text, countedName(scope.user.name))
      : await parseObject(scope, text);
  } catch (error) {
    const unreadable = (why: string) => newBadRequest(`the body of the request cannot be read: ${why}`);
    if (error instanceof ProtobufError) throw unreadable(`invalid protobuf: ${error.message}`);
    if (error instanceof TextError) throw unreadable(error.message);
    throw error;
  }
}

/**
 * Parses an object. managedFields are not counted, because a client that sends an object back as it was read
 * sends them too.
 */
async function parseObject(scope: RequestScope, text: string): Promise<ParsedText> {
  const most = valueLimits(scope).body;
  const parsed = parseJson(text, true, most + maxOwnerValues);
  await scope.work.pause();
  if (countOwnValues(parsed.value) > most) throw tooManyValues(most);
  return parsed;
}

/**
 * Returns the body of a small kind that exists only as a request, named as in the table of types:
 * `meta.v1.DeleteOptions`.
 */
export async function readKind(scope: RequestScope, name: string): Promise<JsonObject> {
  const kind = name.slice(name.lastIndexOf('.') + 1);
  const message = scope.server.messages.typeOf(name);
  const type = bodyType(scope, message !== undefined);
  const body = await readBody(scope);
  if (body.length === 0) return {};
  const { value } = await parse(scope, body, type, message && { kind, type: message });
  return asKind(value, kind);
}

/**
 * Checks the type of a body: an absent kind is accepted, another one is rejected; so is another version, if
 * `apiVersion` is given.
 */
export function asKind(value: unknown, kind: string, apiVersion?: string): JsonObject {
  if (!isRecord(value)) throw newBadRequest(`the body must be a ${kind}: an object was expected`);
  if (value.kind !== undefined && value.kind !== kind) {
    throw newBadRequest(`the body must be a ${kind}, not ${JSON.stringify(value.kind)}`);
  }
  if (apiVersion !== undefined && value.apiVersion && value.apiVersion !== apiVersion) {
    const sentVersion = JSON.stringify(value.apiVersion);
    throw newBadRequest(`the body must be a ${kind} of ${apiVersion}, not of ${sentVersion}`);
  }
  return value;
}

/** Returns an object inside another one. Absent and null count as empty; anything else is a 400. */
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
