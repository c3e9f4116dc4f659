/**
 * Objects of the API inside of custom resources (x-kubernetes-embedded-resource), as upstream
 * (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta): their apiVersion, kind and metadata.
 */
import { decodeFields, noFindings } from '../decode-fields.ts';
import { isRecord, type JsonObject, setOwn } from '../equality.ts';
import { invalidCause, joinPath, requiredCause } from '../field-error.ts';
import type { ObjectType } from '../field-types.ts';
import type { ObjectMeta } from '../meta.ts';
import { checkDns1035Label, checkPathSegment } from '../names.ts';
import { TypeMismatch } from '../scalars.ts';
import { maxCauses, type StatusCause } from '../status-error.ts';
import { validateObjectMeta } from '../validate-meta.ts';
import { extraOf, isEmbedded, membersOf, propertyOf, type StructuralSchema } from './schema.ts';

/** Returns the causes for the apiVersion, kind and metadata of all embedded resources of a value. */
export function embeddedCauses(value: unknown, schema: StructuralSchema, path = ''): StatusCause[] {
  if (!hasEmbedded(schema)) return [];
  const causes = isEmbedded(schema) && isRecord(value) ? resourceCauses(value, path) : [];
  for (const member of membersOf(value, schema, path)) {
    if (causes.length > maxCauses) break;
    causes.push(...embeddedCauses(member.value, member.schema, member.path));
  }
  return causes;
}

const known = new WeakMap<StructuralSchema, boolean>();

/** Returns true if the schema, or a schema in it, is the one of an embedded resource. */
function hasEmbedded(schema: StructuralSchema): boolean {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const inner = [schema.items, extraOf(schema), ...Object.values(schema.properties ?? {})];
  const found = isEmbedded(schema) || inner.some((one) => one !== undefined && hasEmbedded(one));
  known.set(schema, found);
  return found;
}

function resourceCauses(object: JsonObject, path: string): StatusCause[] {
  return [
    ...versionCauses(object, joinPath(path, 'apiVersion')),
    ...kindCauses(object, joinPath(path, 'kind')),
    ...(Object.hasOwn(object, 'metadata') ? metadataCauses(object.metadata, joinPath(path, 'metadata')) : []),
  ];
}

function versionCauses({ apiVersion }: JsonObject, path: string): StatusCause[] {
  if (apiVersion === undefined) return [requiredCause(path, 'must not be empty')];
  if (typeof apiVersion !== 'string') return [invalidCause(path, apiVersion, 'must be a string')];
  if (apiVersion === '') return [invalidCause(path, apiVersion, 'must not be empty')];
  if (apiVersion.split('/').length <= 2) return [];
  return [invalidCause(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
}

function kindCauses({ kind }: JsonObject, path: string): StatusCause[] {
  if (kind === undefined) return [requiredCause(path, 'must not be empty')];
  if (typeof kind !== 'string') return [invalidCause(path, kind, 'must be a string')];
  if (kind === '') return [invalidCause(path, kind, 'must not be empty')];
  const wrong = checkDns1035Label(kind.toLowerCase());
  if (wrong.length === 0) return [];
  return [invalidCause(path, kind, `may have mixed case, but should otherwise match: ${wrong.join(',')}`)];
}

function metadataCauses(metadata: unknown, path: string): StatusCause[] {
  if (!isMetadata(metadata)) return [invalidCause(path, metadata, 'must be the metadata of an object')];
  // A template has no name.
  const meta = { ...metadata, name: metadata.name || 'fakename' } as ObjectMeta;
  return validateObjectMeta(meta, { namespaced: Boolean(meta.namespace), checkName: checkPathSegment }, path);
}

const isText = (value: unknown) => value === undefined || typeof value === 'string';
const isTexts = (value: unknown) =>
  value === undefined || (isRecord(value) && Object.values(value).every((text) => typeof text === 'string'));
const isList = (value: unknown, accepts: (item: unknown) => boolean) =>
  value === undefined || (Array.isArray(value) && value.every(accepts));

/** Returns true if the fields that are validated have their types. */
function isMetadata(value: unknown): value is Partial<ObjectMeta> {
  if (!isRecord(value)) return false;
  const { name, generateName, namespace, labels, annotations, finalizers, ownerReferences } = value;
  return (
    [name, generateName, namespace].every(isText) &&
    [labels, annotations].every(isTexts) &&
    isList(finalizers, (item) => typeof item === 'string') &&
    isList(
      ownerReferences,
      (item) =>
        isRecord(item) && ['apiVersion', 'kind', 'name', 'uid'].every((key) => typeof item[key] === 'string'),
    )
  );
}

/** Result of `conformEmbedded`. */
export interface Conformed {
  readonly value: unknown;
  /** Paths of fields of metadata that do not exist. */
  readonly unknown: readonly string[];
  /** The first apiVersion, kind or metadata of a wrong type. */
  readonly cause?: StatusCause | undefined;
}

/**
 * Returns the value with the metadata of its embedded resources in the form that metadata has everywhere.
 * `meta` is the type of metadata. Changes nothing that is not metadata of an embedded resource.
 */
export function conformEmbedded(value: unknown, schema: StructuralSchema, meta: ObjectType): Conformed {
  const work: Conforming = { meta, unknown: [], cause: undefined };
  return { value: conform(value, schema, '', work), unknown: work.unknown, cause: work.cause };
}

interface Conforming {
  readonly meta: ObjectType;
  readonly unknown: string[];
  cause: StatusCause | undefined;
}

function conform(
  value: unknown,
  schema: StructuralSchema | undefined,
  path: string,
  work: Conforming,
): unknown {
  if (!schema || !hasEmbedded(schema)) return value;
  if (Array.isArray(value))
    return value.map((item, index) => conform(item, schema.items, `${path}[${index}]`, work));
  if (!isRecord(value)) return value;
  const result: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) {
    const own = propertyOf(schema, key);
    const at = own ? joinPath(path, key) : `${path}[${key}]`;
    const isHead = isEmbedded(schema);
    const read = isHead ? conformHead(key, inner, joinPath(path, key), work) : inner;
    setOwn(result, key, conform(read, own ?? extraOf(schema), at, work));
  }
  return result;
}

function conformHead(key: string, value: unknown, path: string, work: Conforming): unknown {
  if (key === 'metadata') return conformMetadata(value, path, work);
  if ((key === 'apiVersion' || key === 'kind') && typeof value !== 'string')
    work.cause ??= invalidCause(path, value, 'must be a string');
  return value;
}

function conformMetadata(value: unknown, path: string, work: Conforming): unknown {
  const findings = noFindings();
  try {
    const metadata = decodeFields(value, work.meta, findings);
    work.unknown.push(...findings.unknown.map((field) => `${path}.${field}`));
    return metadata;
  } catch (error) {
    if (!(error instanceof TypeMismatch)) throw error;
    work.cause ??= invalidCause(path, value, error.message);
    return value;
  }
}
