/**
 * A kind has one version in which it is stored and may be served in others, also in another group (Events). Such a version is
 * a definition of its own, so that discovery, decoding and printing need not know of it; everything that is stored, checked
 * and watched is in the stored version.
 */
import type { KubeObject } from './meta.ts';
import { apiVersionOf, type Conversion, type ResourceDefinition } from './resource-definition.ts';

/** What a served version says; the rest is as in the stored one. */
export interface ServedVersion<T extends KubeObject, V extends KubeObject>
  extends Pick<Conversion<T>, 'validate' | 'validateUpdate'>,
    Pick<ResourceDefinition<T>, 'rules' | 'typeName' | 'version'>,
    Partial<Pick<ResourceDefinition<T>, 'group' | 'selectableFields'>> {
  /** All but apiVersion, kind and metadata, which are the same in every version. */
  toStored(object: V): Omit<T, keyof KubeObject>;
  fromStored(object: T): Omit<V, keyof KubeObject>;
}

/** The definition that serves objects of the kind `stored` in another version. Columns and selectors read stored objects. */
export function servedVersion<T extends KubeObject, V extends KubeObject>(
  stored: ResourceDefinition<T>,
  version: ServedVersion<T, V>,
): ResourceDefinition<T> {
  const { toStored, fromStored, validate, validateUpdate, ...own } = version;
  const { kind } = stored;
  const served = { ...stored, ...own };
  const head = (object: KubeObject, apiVersion: string) => ({ apiVersion, kind, metadata: object.metadata });
  return {
    ...served,
    conversion: {
      stored,
      toStored: (object) => ({ ...head(object, apiVersionOf(stored)), ...toStored(object as V) }) as T,
      fromStored: (object) => ({ ...head(object, apiVersionOf(served)), ...fromStored(object) }),
      ...(validate && { validate }),
      ...(validateUpdate && { validateUpdate }),
    },
  };
}

/** A stored object as it is served. */
export const asServed = (definition: ResourceDefinition, object: KubeObject): KubeObject =>
  definition.conversion?.fromStored(object) ?? object;
