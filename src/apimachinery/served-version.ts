/**
 * A kind has one stored version and may be served in others, also in another group (Events). Such a version
 * is a definition of its own, so that discovery, decoding and printing have no special case for it. Objects
 * are stored, validated and watched in the stored version.
 */
import type { KubeObject, ObjectMeta } from './meta.ts';
import { apiVersionOf, type Conversion, type ResourceDefinition } from './resource-definition.ts';

/** The differences of a served version; the rest is as in the stored version. */
export interface ServedVersion<T extends KubeObject, V extends KubeObject>
  extends Pick<Conversion<T>, 'validate' | 'validateUpdate'>,
    Pick<ResourceDefinition<T>, 'rules' | 'typeName' | 'version'>,
    Partial<Pick<ResourceDefinition<T>, 'group' | 'selectableFields'>> {
  /**
   * Returns all but apiVersion, kind and metadata, which are the same in every version except for
   * annotations.
   */
  toStored(object: V): Omit<T, keyof KubeObject>;
  fromStored(object: T): Omit<V, keyof KubeObject>;
  /**
   * Each function returns all annotations of the converted object. Set in a version that represents missing
   * fields as annotations.
   */
  readonly annotations?: {
    toStored(object: V): Annotations;
    fromStored(object: T): Annotations;
  };
}

type Annotations = Record<string, string>;

/**
 * Returns the definition that serves objects of the kind `stored` in another version. Columns and selectors
 * read stored objects.
 */
export function servedVersion<T extends KubeObject, V extends KubeObject>(
  stored: ResourceDefinition<T>,
  version: ServedVersion<T, V>,
): ResourceDefinition<T> {
  const { toStored, fromStored, annotations, validate, validateUpdate, ...own } = version;
  const { kind } = stored;
  const served = { ...stored, ...own };
  const head = (object: KubeObject, ref: ResourceDefinition<T>, changed: Annotations | undefined) => ({
    apiVersion: apiVersionOf(ref),
    kind,
    metadata: changed ? withAnnotations(object.metadata, changed) : object.metadata,
  });
  return {
    ...served,
    conversion: {
      stored,
      toStored: (object) =>
        ({
          ...head(object, stored, annotations?.toStored(object as V)),
          ...toStored(object as V),
        }) as T,
      fromStored: (object) => ({
        ...head(object, served, annotations?.fromStored(object)),
        ...fromStored(object),
      }),
      ...(validate && { validate }),
      ...(validateUpdate && { validateUpdate }),
    },
  };
}

function withAnnotations(metadata: ObjectMeta, annotations: Annotations): ObjectMeta {
  const { annotations: _, ...rest } = metadata;
  return Object.keys(annotations).length > 0 ? { ...rest, annotations } : rest;
}

/** Returns a stored object in its served form. */
export function asServed(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const { conversion } = definition;
  return conversion ? conversion.fromStored(object) : (definition.fromStorage?.(object) ?? object);
}
