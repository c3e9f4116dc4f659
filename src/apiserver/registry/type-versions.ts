/** All versions of a kind, as the ownership of fields needs them. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { FieldTable, ObjectType } from '../../apimachinery/field-types.ts';
import type { Kinds } from '../../apimachinery/kind-set.ts';
import { FieldSet } from '../../apimachinery/managed-fields/field-set.ts';
import type { TypeVersion, Versions } from '../../apimachinery/managed-fields/ownership.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import {
  apiVersionOf,
  type ConvertedVersions,
  isSameKind,
  type ResourceDefinition,
  storedKind,
} from '../../apimachinery/resource-definition.ts';
import { objectTypeOf } from '../../apimachinery/schema-types.ts';

interface Types {
  readonly kinds: Kinds;
  readonly fields: FieldTable;
}

/** Cached by the list of kinds, so that entries disappear with their list. */
const known = new WeakMap<readonly ResourceDefinition[], Map<string, Versions>>();

/**
 * Returns `definition` in each of its versions. A write through a subresource does not change the other
 * fields.
 */
export function versionsOf(types: Types, definition: ResourceDefinition, subresource: string): Versions {
  const { all } = types.kinds;
  let made = known.get(all);
  if (!made) {
    made = new Map();
    known.set(all, made);
  }
  const stored = storedKind(definition);
  const key = `${apiVersionOf(stored)}/${stored.plural}/${subresource}`;
  let versions = made.get(key);
  if (!versions) {
    versions = makeVersions(types, stored, subresource);
    made.set(key, versions);
  }
  return versions;
}

function makeVersions({ kinds, fields }: Types, stored: ResourceDefinition, subresource: string): Versions {
  const byVersion = new Map<string, TypeVersion>();
  for (const definition of kinds.all) {
    if (!isSameKind(definition, stored)) continue;
    const apiVersion = apiVersionOf(definition);
    const type = objectTypeOf(definition, fields);
    byVersion.set(apiVersion, {
      apiVersion,
      shape: { kind: 'fields', type },
      reset: resetFields(stored, type, subresource),
      ...conversionOf(definition),
    });
  }
  return (apiVersion) => byVersion.get(apiVersion);
}

/**
 * Returns the fields that a write through this subresource does not change, for any content (upstream:
 * GetResetFields).
 */
function resetFields(
  { hasStatus, strategy }: ResourceDefinition,
  type: ObjectType,
  subresource: string,
): FieldSet | undefined {
  const own = strategy.resetFields?.[subresource];
  if (own) return FieldSet.of(...own.map((path) => path.split('.').map((name) => `f:${name}`)));
  if (subresource === '') return hasStatus ? FieldSet.of(['f:status']) : undefined;
  if (subresource !== 'status') return undefined;
  // A kind that is not Kubernetes' own resets everything but the status.
  const others = type.members ? ['spec'] : [...type.fields.keys()].filter((name) => name !== 'status');
  return FieldSet.of(...others.map((name) => [`f:${name}`]));
}

function conversionOf({ conversion }: ResourceDefinition): Pick<TypeVersion, 'convert' | 'revert'> {
  if (!conversion) return { convert: (object) => object, revert: (object) => object };
  return {
    convert: (object) => conversion.fromStored(whole(object)),
    revert: (object) => conversion.toStored(whole(object)),
  };
}

/** A conversion that a calculation needs and that has not been made yet. */
class NeededConversion extends Error {
  override readonly name = 'NeededConversion';
  readonly key: string;
  readonly object: KubeObject;
  readonly apiVersion: string;

  constructor(key: string, object: KubeObject, apiVersion: string) {
    super(`an object is needed in ${apiVersion}`);
    this.key = key;
    this.object = object;
    this.apiVersion = apiVersion;
  }
}

/**
 * Resolves to the result of a calculation with the versions of `definition`. If a program converts objects
 * between them, the calculation is repeated after each conversion that it needed, so it must have no effect.
 * Rejects with the error of the calculation or of the program.
 */
export async function withVersions<T>(
  types: Types,
  definition: ResourceDefinition,
  subresource: string,
  calculate: (versions: Versions) => T | Promise<T>,
): Promise<T> {
  const versions = versionsOf(types, definition, subresource);
  const { versions: converted } = definition;
  if (!converted) return calculate(versions);
  const known = new Map<string, KubeObject>();
  const remembering = rememberingVersions(versions, known);
  for (;;) {
    try {
      return await calculate(remembering);
    } catch (error) {
      if (!(error instanceof NeededConversion)) throw error;
      known.set(error.key, await convertWhole(converted, error));
    }
  }
}

/** Upstream does not send an object without fields, such as the one before a creation. */
const convertWhole = async (
  converted: ConvertedVersions,
  { object, apiVersion }: NeededConversion,
): Promise<KubeObject> =>
  object.metadata.name ? converted.convert(object, apiVersion) : { ...object, apiVersion };

function rememberingVersions(versions: Versions, known: ReadonlyMap<string, KubeObject>): Versions {
  return (apiVersion) => {
    const version = versions(apiVersion);
    return (
      version && {
        ...version,
        convert(value) {
          const object = whole(value);
          if (object.apiVersion === apiVersion) return value;
          const key = `${apiVersion} ${JSON.stringify(object)}`;
          const converted = known.get(key);
          if (!converted) throw new NeededConversion(key, object, apiVersion);
          return converted;
        },
        revert: (value) => ({ ...whole(value), apiVersion }),
      }
    );
  };
}

/** Returns the object without null fields, which stand for parts that were removed. */
function whole(object: unknown): KubeObject {
  const present: JsonObject = {};
  for (const [key, value] of Object.entries(isRecord(object) ? object : {}))
    if (value !== null) present[key] = value;
  return {
    ...present,
    metadata: isRecord(present.metadata) ? present.metadata : {},
  } as unknown as KubeObject;
}
