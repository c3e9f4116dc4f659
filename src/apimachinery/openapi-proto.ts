/**
 * Encodes an OpenAPI 2 document in the protobuf form that kubectl reads (message Document of gnostic's
 * openapi_v2): only the fields that minik8s' documents have, under the numbers of that message.
 */
import type { OpenApiV2Document, Operation, Parameter, PathItem } from './openapi.ts';
import type { SchemaObject } from './openapi-schema.ts';

export const openApiV2ProtoType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/**
 * Encodes a document in steps of one path or definition each, since the whole takes more than 0.1 s in a
 * process that has just started. Yields the number of bytes of each step, and returns the document's bytes.
 */
export function* encodeOpenApiV2({
  swagger,
  info,
  paths,
  definitions,
}: OpenApiV2Document): Generator<number, Uint8Array, void> {
  const items: Uint8Array[] = [];
  for (const [path, item] of Object.entries(paths)) {
    const bytes = named(2, path, pathItem(item));
    items.push(bytes);
    yield bytes.length;
  }
  const schemas: Uint8Array[] = [];
  for (const [name, schema] of Object.entries(definitions)) {
    const bytes = named(1, name, encodeSchema(schema));
    schemas.push(bytes);
    yield bytes.length;
  }
  return join(
    text(1, swagger),
    message(2, text(1, info.title), text(2, info.version)),
    message(8, ...items),
    message(9, ...schemas),
  );
}

const methods = [
  ['get', 2],
  ['put', 3],
  ['post', 4],
  ['delete', 5],
  ['patch', 8],
] as const;

function pathItem(item: PathItem): Uint8Array {
  return join(
    ...methods.map(([method, number]) => {
      const operation = item[method];
      return operation ? message(number, encodeOperation(operation)) : empty;
    }),
  );
}

function encodeOperation(operation: Operation): Uint8Array {
  return join(
    text(5, operation.operationId),
    ...(operation.consumes ?? []).map((type) => text(7, type)),
    ...operation.parameters.map((parameter) => message(8, message(1, encodeParameter(parameter)))),
    message(
      9,
      ...Object.entries(operation.responses).map(([code, { description }]) =>
        named(1, code, message(1, text(1, description))),
      ),
    ),
    extension(13, 'x-kubernetes-action', operation['x-kubernetes-action']),
    extension(13, 'x-kubernetes-group-version-kind', operation['x-kubernetes-group-version-kind']),
  );
}

/** Encodes the oneofs of Parameter: a body, or one of the four other places of a parameter. */
function encodeParameter({ name, in: place, required, type, schema }: Parameter): Uint8Array {
  if (place === 'body')
    return message(
      1,
      text(2, name),
      text(3, place),
      flag(4, required),
      schema ? message(5, encodeSchema(schema)) : empty,
    );
  if (place === 'query')
    return message(2, message(3, flag(1, required), text(2, place), text(4, name), text(6, type)));
  return message(2, message(4, flag(1, required), text(2, place), text(4, name), text(5, type)));
}

function encodeSchema(schema: SchemaObject): Uint8Array {
  const { properties, items, additionalProperties } = schema;
  return join(
    text(1, schema.$ref),
    text(2, schema.format),
    text(4, schema.description),
    ...(schema.required ?? []).map((name) => text(19, name)),
    ...(schema.enum ?? []).map((value) => message(20, text(2, JSON.stringify(value)))),
    additionalProperties ? message(21, message(1, encodeSchema(additionalProperties))) : empty,
    schema.type ? message(22, text(1, schema.type)) : empty,
    items ? message(23, message(1, encodeSchema(items))) : empty,
    properties
      ? message(25, ...Object.entries(properties).map(([name, inner]) => named(1, name, encodeSchema(inner))))
      : empty,
    ...Object.entries(schema)
      .filter(([name]) => name.startsWith('x-'))
      .map(([name, value]) => extension(31, name, value)),
  );
}

/** Encodes a NamedAny: the value is YAML, of which JSON is a subset. */
const extension = (number: number, name: string, value: unknown) =>
  message(number, text(1, name), message(2, text(2, JSON.stringify(value))));

const empty = new Uint8Array(0);
const encoder = new TextEncoder();

/** A length-delimited field. */
function bytes(number: number, content: Uint8Array): Uint8Array {
  return join(varint((number << 3) | 2), varint(content.length), content);
}

const message = (number: number, ...fields: Uint8Array[]) => bytes(number, join(...fields));

/** An entry of a map: a message with a name and a value. */
const named = (number: number, name: string, value: Uint8Array) =>
  message(number, text(1, name), bytes(2, value));

const text = (number: number, value: string | undefined) =>
  value ? bytes(number, encoder.encode(value)) : empty;

const flag = (number: number, value: boolean | undefined) =>
  value ? join(varint(number << 3), varint(1)) : empty;

function varint(value: number): Uint8Array {
  const result: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    result.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Uint8Array.from([...result, rest]);
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}
