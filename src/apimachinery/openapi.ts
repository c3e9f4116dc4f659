/**
 * The OpenAPI documents that clients read before a write: kubectl looks for the `dryRun` and
 * `fieldValidation` parameters of PATCH, for merge keys and for descriptions. Pure functions from the served
 * kinds to documents, in steps: a whole document takes longer than a turn of the event loop may, so the
 * caller decides after each step whether it goes on. The server caches the results.
 */
import type { FieldTable, ObjectType } from './field-types.ts';
import {
  type FieldDocs,
  type GroupVersionKind,
  type OpenApiVersion,
  SchemaCollector,
  type SchemaObject,
} from './openapi-schema.ts';
import { patchTypes } from './patch.ts';
import { apiVersionOf, type ResourceDefinition } from './resource-definition.ts';
import { objectTypeOf } from './schema-types.ts';

export interface OpenApiSource {
  readonly definitions: readonly ResourceDefinition[];
  readonly fields: FieldTable;
  readonly docs: FieldDocs;
  /** API version that the documents state, such as `v1.32.0`. */
  readonly version: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'body';
  readonly required?: boolean;
  readonly description?: string;
  /** Set in version 2, except for a body. */
  readonly type?: string;
  /** Set in version 3, and for a body in version 2. */
  readonly schema?: SchemaObject;
}

export interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly consumes?: readonly string[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: SchemaObject }>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
  readonly 'x-kubernetes-action': string;
  readonly 'x-kubernetes-group-version-kind': GroupVersionKind;
}

export type PathItem = Readonly<Partial<Record<'get' | 'put' | 'post' | 'delete' | 'patch', Operation>>>;

export interface OpenApiV2Document {
  readonly swagger: '2.0';
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly definitions: Readonly<Record<string, SchemaObject>>;
}

export interface OpenApiV3Document {
  readonly openapi: '3.0.0';
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, SchemaObject>> };
}

/** Returns the response to `/openapi/v3`; `hash` changes when the document does. */
export function openApiV3Index(documents: readonly { readonly path: string; readonly hash: string }[]): {
  paths: Record<string, { serverRelativeURL: string }>;
} {
  return {
    paths: Object.fromEntries(
      documents.map(({ path, hash }) => [
        path,
        { serverRelativeURL: `/openapi/v3/${path}?hash=${encodeURIComponent(hash)}` },
      ]),
    ),
  };
}

/** Work that yields the approximate number of bytes of each step. */
export type DocumentSteps<T> = Generator<number, T, void>;

/** Returns the document of one group-version; undefined when no kind is served there. */
export function* openApiV3Document(
  source: OpenApiSource,
  path: string,
): DocumentSteps<OpenApiV3Document | undefined> {
  const definitions = source.definitions.filter((definition) => openApiPath(definition) === path);
  if (definitions.length === 0) return undefined;
  const { paths, schemas } = yield* describe(source, definitions, 3);
  return { openapi: '3.0.0', info: info(source), paths, components: { schemas } };
}

/** Returns one document with all kinds. */
export function* openApiV2Document(source: OpenApiSource): DocumentSteps<OpenApiV2Document> {
  const { paths, schemas } = yield* describe(source, source.definitions, 2);
  return { swagger: '2.0', info: info(source), paths, definitions: schemas };
}

/**
 * Yields the JSON of a document in pieces, of which none is larger than one path or schema. Together they are
 * the text that JSON.stringify returns.
 */
export function jsonPieces(document: object): Generator<string> {
  // Schemas of version 3 are in an object of an object.
  return piecesOf(document, 3);
}

function* piecesOf(value: unknown, depth: number): Generator<string> {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) {
    yield JSON.stringify(value);
    return;
  }
  let before = '{';
  for (const [name, inner] of Object.entries(value)) {
    yield `${before}${JSON.stringify(name)}:`;
    yield* piecesOf(inner, depth - 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

const info = ({ version }: OpenApiSource) => ({ title: 'Kubernetes', version });

/** Returns the key in the version 3 index, such as `api/v1`, `apis/apps/v1`; each has its own document. */
export const openApiPath = (definition: Pick<ResourceDefinition, 'group' | 'version'>) =>
  `${definition.group ? 'apis' : 'api'}/${apiVersionOf(definition)}`;

/** Approximate number of bytes of the paths of a kind. */
const kindBytes = 8 * 1024;

function* describe(
  source: OpenApiSource,
  definitions: readonly ResourceDefinition[],
  version: OpenApiVersion,
): DocumentSteps<{ readonly paths: Record<string, PathItem>; readonly schemas: SchemaCollector['schemas'] }> {
  const collector = new SchemaCollector(version, source.docs);
  const paths: Record<string, PathItem> = {};
  for (const definition of definitions) {
    const type = objectTypeOf(definition, source.fields);
    collector.addKind(type, gvkOf(definition));
    const body = collector.reference(type);
    Object.assign(
      paths,
      pathsOf(definition, { version, body, strategic: hasStrategicPatch(type, source.fields) }),
    );
    yield kindBytes;
  }
  yield* collector.describe();
  return { paths, schemas: collector.schemas };
}

/** Returns true for Kubernetes' own kinds: upstream, only custom resources lack strategic merge patches. */
export const hasStrategicPatch = (type: ObjectType, fields: FieldTable) =>
  fields.typeOf(type.name) !== undefined;

const gvkOf = ({ group, version, kind }: GroupVersionKind): GroupVersionKind => ({ group, version, kind });

interface OperationContext {
  readonly version: OpenApiVersion;
  readonly body: SchemaObject;
  readonly strategic: boolean;
}

function pathsOf(definition: ResourceDefinition, context: OperationContext): Record<string, PathItem> {
  const root = `/${openApiPath(definition)}`;
  const { plural, kind, namespaced } = definition;
  const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const gvk = gvkOf(definition);
  const make = (action: Action, path: string, of = gvk) => operation(action, path, `${kind}`, of, context);
  const read = (path: string, of = gvk): PathItem => ({
    get: make('get', path, of),
    put: make('put', path, of),
    patch: make('patch', path, of),
  });
  if (definition.isReview) return { [collection]: { post: make('post', collection) } };
  const item = `${collection}/{name}`;
  if (definition.isMeasured)
    return {
      ...(namespaced && { [`${root}/${plural}`]: { get: make('list', `${root}/${plural}`) } }),
      [collection]: { get: make('list', collection) },
      [item]: { get: make('get', item) },
    };
  return {
    ...(namespaced && { [`${root}/${plural}`]: { get: make('list', `${root}/${plural}`) } }),
    [collection]: {
      get: make('list', collection),
      post: make('post', collection),
      delete: make('deletecollection', collection),
    },
    [item]: { ...read(item), delete: make('delete', item) },
    ...(definition.hasStatus && { [`${item}/status`]: read(`${item}/status`) }),
    ...(definition.scale && {
      [`${item}/scale`]: read(`${item}/scale`, { group: 'autoscaling', version: 'v1', kind: 'Scale' }),
    }),
  };
}

type Action = 'get' | 'list' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection';

const queryOf: Readonly<Record<Action, readonly string[]>> = {
  get: [],
  list: [
    'allowWatchBookmarks',
    'continue',
    'fieldSelector',
    'labelSelector',
    'limit',
    'resourceVersion',
    'resourceVersionMatch',
    'sendInitialEvents',
    'timeoutSeconds',
    'watch',
  ],
  post: ['dryRun', 'fieldManager', 'fieldValidation'],
  put: ['dryRun', 'fieldManager', 'fieldValidation'],
  patch: ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
  delete: ['dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'],
  deletecollection: ['dryRun', 'fieldSelector', 'gracePeriodSeconds', 'labelSelector', 'propagationPolicy'],
};

const parameterTypes: Readonly<Record<string, string>> = {
  allowWatchBookmarks: 'boolean',
  force: 'boolean',
  gracePeriodSeconds: 'integer',
  limit: 'integer',
  orphanDependents: 'boolean',
  sendInitialEvents: 'boolean',
  timeoutSeconds: 'integer',
  watch: 'boolean',
};

function operation(
  action: Action,
  path: string,
  kind: string,
  gvk: GroupVersionKind,
  { version, body, strategic }: OperationContext,
): Operation {
  const parameter = (name: string, where: 'query' | 'path'): Parameter => {
    const type = parameterTypes[name] ?? 'string';
    return {
      name,
      in: where,
      ...(where === 'path' && { required: true }),
      ...(version === 2 ? { type } : { schema: { type } }),
    };
  };
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => parameter(name, 'path')),
    ...queryOf[action].map((name) => parameter(name, 'query')),
  ];
  const types = bodyTypes(action, strategic);
  const schema = action === 'patch' ? { type: 'object' } : body;
  return {
    operationId: operationId(action, path, kind),
    parameters:
      version === 2 && types.length > 0
        ? [...parameters, { name: 'body', in: 'body', required: true, schema }]
        : parameters,
    ...(types.length > 0 &&
      (version === 2
        ? { consumes: types }
        : { requestBody: { content: Object.fromEntries(types.map((type) => [type, { schema }])) } })),
    responses: { [action === 'post' ? '201' : '200']: { description: action === 'post' ? 'Created' : 'OK' } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvk,
  };
}

function bodyTypes(action: Action, strategic: boolean): string[] {
  switch (action) {
    case 'patch':
      return [
        patchTypes.json,
        patchTypes.merge,
        ...(strategic ? [patchTypes.strategic] : []),
        patchTypes.apply,
      ];
    case 'post':
    case 'put':
      return ['application/json', 'application/yaml'];
    case 'get':
    case 'list':
    case 'delete':
    case 'deletecollection':
      return [];
  }
}

/** Returns an id that is unique in a document, such as `patchAppsV1NamespacedDeploymentStatus`. */
function operationId(action: Action, path: string, kind: string): string {
  const [, , ...parts] = path.split('/');
  const subresource = /\{name\}\/(\w+)$/.exec(path)?.[1] ?? '';
  const scope = path.includes('{namespace}') ? 'Namespaced' : action === 'list' ? 'All' : '';
  const group = parts.slice(0, path.startsWith('/apis/') ? 2 : 1).map(capital);
  return `${action}${group.join('')}${scope}${kind}${capital(subresource)}`;
}

const capital = (text: string) =>
  text
    .split('.')
    .map((part) => `${part[0]?.toUpperCase() ?? ''}${part.slice(1)}`)
    .join('');
