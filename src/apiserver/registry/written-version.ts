/**
 * Objects of a write between the version of the request and the version in which they are stored, for kinds
 * whose versions a program converts. For other kinds nothing is done here.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import {
  apiVersionOf,
  type ConvertedVersions,
  type ResourceDefinition,
} from '../../apimachinery/resource-definition.ts';
import { decodeObject } from '../../storage/codec.ts';
import type { StoredValue } from '../../storage/store.ts';
import type { Kept } from '../encoding/encoder.ts';
import type { Aside } from '../load/shed.ts';
import { storedObject } from '../stored-object.ts';
import { isReadUnchanged } from '../versions/version-reader.ts';

const atOnce: Aside = (wait) => wait();

export interface ReadVersion {
  readonly object: KubeObject;
  /** True if the object is stored in another version than the one in which it would be stored now. */
  readonly isOutdated: boolean;
}

/** Resolves to a stored object in the version of the definition; it may be changed. */
export async function readVersion(
  definition: ResourceDefinition,
  stored: KubeObject,
  aside: Aside = atOnce,
): Promise<ReadVersion> {
  const { versions } = definition;
  if (!versions || isReadUnchanged(definition)) return { object: stored, isOutdated: false };
  const object = await readIn(versions, definition, stored, aside);
  return { object, isOutdated: stored.apiVersion !== versions.stored };
}

async function readIn(
  versions: ConvertedVersions,
  definition: ResourceDefinition,
  stored: KubeObject,
  aside: Aside,
): Promise<KubeObject> {
  const [object = stored] = await aside(() => versions.read([stored], apiVersionOf(definition)));
  return object;
}

/** Resolves to an object as it is to be stored. The result may share parts with the object. */
export async function writtenVersion(
  { versions }: ResourceDefinition,
  object: KubeObject,
  aside: Aside = atOnce,
): Promise<KubeObject> {
  if (!versions || object.apiVersion === versions.stored) return object;
  return aside(() => versions.convert(object, versions.stored));
}

/**
 * Resolves to the object that was written, for the answer. It is read again from the stored version, so that
 * the client sees what a conversion has changed.
 */
export async function shownVersion(
  definition: ResourceDefinition,
  written: StoredValue,
  aside: Aside = atOnce,
): Promise<Kept> {
  const { versions } = definition;
  if (!versions || isReadUnchanged(definition)) return storedObject(written);
  const stored = decodeObject(written.value, written.revision);
  return { object: await readIn(versions, definition, stored, aside) };
}
