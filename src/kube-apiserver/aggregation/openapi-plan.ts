/** Selects the parts of an extension server's OpenAPI documents that describe one of its versions. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { DelegatedV2 } from '../../apiserver/delegation.ts';

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the value of a JSON text; undefined if it is no object. */
function objectIn(body: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the path of the version's document of OpenAPI 3, as the server's index has it; undefined if the
 * index does not name one below `/openapi/v3/`.
 */
export function documentPathIn(index: Uint8Array, { group, version }: GroupVersion): string | undefined {
  const paths = objectIn(index)?.paths;
  const entry = isObject(paths) ? paths[`apis/${group}/${version}`] : undefined;
  const url = isObject(entry) ? entry.serverRelativeURL : undefined;
  return typeof url === 'string' && /^\/openapi\/v3\/[\x21-\x7e]*$/.test(url) ? url : undefined;
}

/** Returns true if the bytes are a document of OpenAPI 3 that clients can read. */
export function isDocumentV3(body: Uint8Array): boolean {
  const document = objectIn(body);
  return typeof document?.openapi === 'string' && isObject(document.paths);
}

/** Returns the paths of the version in a document of OpenAPI 2, with the definitions to which they lead. */
export function partOfV2(body: Uint8Array, { group, version }: GroupVersion): DelegatedV2 | undefined {
  const document = objectIn(body);
  if (!document || !isObject(document.paths) || !isObject(document.definitions)) return undefined;
  const root = `/apis/${group}/${version}/`;
  const { parameters } = document;
  const paths = Object.entries(document.paths)
    .filter(([path]) => path.startsWith(root))
    .map(([path, item]) => [path, pathItemOf(item, isObject(parameters) ? parameters : {})] as const);
  const all = Object.fromEntries(Object.entries(document.definitions).filter(([, one]) => isSchema(one)));
  const isOfVersion = (definition: unknown) => {
    const kinds = isObject(definition) ? definition['x-kubernetes-group-version-kind'] : undefined;
    return (
      Array.isArray(kinds) &&
      kinds.some((kind) => isObject(kind) && kind.group === group && kind.version === version)
    );
  };
  const used = new Set<string>(Object.keys(all).filter((name) => isOfVersion(all[name])));
  for (const name of referencesIn(Object.fromEntries(paths))) used.add(name);
  // The set grows while it is walked.
  for (const name of used) for (const inner of referencesIn(all[name])) used.add(inner);
  const definitions = [...used].map((name) => [name, all[name]] as const);
  return {
    paths: Object.fromEntries(paths),
    definitions: Object.fromEntries(
      definitions.filter((entry): entry is readonly [string, JsonObject] => isObject(entry[1])),
    ),
  };
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/** Returns the operations of a path. Parameters that the document shares are written out. */
function pathItemOf(item: unknown, shared: JsonObject): JsonObject {
  if (!isObject(item)) return {};
  const common = parametersOf(item.parameters, shared);
  const operations = methods.flatMap((method) => {
    const operation = item[method];
    if (!isObject(operation)) return [];
    const parameters = [...common, ...parametersOf(operation.parameters, shared)];
    return [[method, operationOf(operation, parameters)] as const];
  });
  return Object.fromEntries(operations);
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

function operationOf(operation: JsonObject, parameters: readonly JsonObject[]): JsonObject {
  const { operationId, description, consumes, produces, responses } = operation;
  const answers = Object.entries(isObject(responses) ? responses : {}).filter(
    ([, answer]) => isObject(answer) && (answer.schema === undefined || isSchema(answer.schema)),
  );
  return {
    ...(typeof operationId === 'string' && { operationId }),
    ...(typeof description === 'string' && { description }),
    ...(consumes !== undefined && { consumes: textsIn(consumes) }),
    ...(produces !== undefined && { produces: textsIn(produces) }),
    parameters,
    responses: Object.fromEntries(answers),
    ...Object.fromEntries(Object.entries(operation).filter(([key]) => key.startsWith('x-kubernetes-'))),
  };
}

function parametersOf(given: unknown, shared: JsonObject): readonly JsonObject[] {
  if (!Array.isArray(given)) return [];
  return given.map((one: unknown) => writtenOut(one, shared)).filter(isParameter);
}

function writtenOut(parameter: unknown, shared: JsonObject): unknown {
  const reference = isObject(parameter) ? parameter.$ref : undefined;
  return typeof reference === 'string' ? shared[reference.replace('#/parameters/', '')] : parameter;
}

const isParameter = (value: unknown): value is JsonObject =>
  isObject(value) &&
  typeof value.name === 'string' &&
  typeof value.in === 'string' &&
  (value.schema === undefined || isSchema(value.schema));

/** Maximum depth of a schema. */
const maxDepth = 64;

type Check = (value: unknown, depth: number) => boolean;

const isText: Check = (value) => typeof value === 'string';

/** Checks of the parts on whose types readers of schemas rely. */
const checks: Readonly<Record<string, Check>> = {
  $ref: isText,
  type: isText,
  format: isText,
  description: isText,
  required: (value) => Array.isArray(value) && textsIn(value).length === value.length,
  enum: (value) => Array.isArray(value),
  items: (value, depth) => isSchema(value, depth),
  additionalProperties: (value, depth) => value === true || isSchema(value, depth),
  properties: (value, depth) => isObject(value) && Object.values(value).every((one) => isSchema(one, depth)),
};

/** Returns true for a schema that is not too deep and whose parts have the usual types. */
function isSchema(value: unknown, depth = 0): value is JsonObject {
  if (!isObject(value) || depth > maxDepth) return false;
  return Object.entries(checks).every(([key, check]) => !(key in value) || check(value[key], depth + 1));
}

const prefix = '#/definitions/';

/** Returns the names of the definitions to which a part of a document refers. */
function referencesIn(part: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = objectsIn([part]);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const name = referenceOf(next as JsonObject);
    if (name !== undefined) found.add(name);
    for (const inner of objectsIn(Object.values(next))) waiting.push(inner);
  }
  return found;
}

const objectsIn = (values: readonly unknown[]): object[] =>
  values.filter((value) => typeof value === 'object' && value !== null);

const referenceOf = ({ $ref }: JsonObject): string | undefined =>
  typeof $ref === 'string' && $ref.startsWith(prefix) ? $ref.slice(prefix.length) : undefined;
