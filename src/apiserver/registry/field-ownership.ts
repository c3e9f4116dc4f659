/**
 * Maintains `metadata.managedFields` in every write: which manager set which fields
 * (docs/decisions/0035-server-side-apply.md).
 */
import { deepEqual } from '../../apimachinery/equality.ts';
import type { ManagedFieldsEntry, Managers } from '../../apimachinery/managed-fields/managers.ts';
import { KeyError } from '../../apimachinery/managed-fields/shape.ts';
import {
  type Entries,
  entriesAfterUpdate,
  entriesOf,
  entriesOfNew,
  type FieldWrite,
  sameButTimes,
} from '../../apimachinery/managed-fields/tracking.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { asServed } from '../../apimachinery/served-version.ts';
import { countValues, maxOwnerValues, tooManyValues } from '../../apimachinery/value-limit.ts';
import type { ServerContext } from '../server-context.ts';
import type { WriteOptions } from '../write-options.ts';
import { withVersions } from './type-versions.ts';

type Server = Pick<ServerContext, 'kinds' | 'fields' | 'log'>;

export interface OwnedWrite {
  readonly definition: ResourceDefinition;
  readonly subresource: string;
  readonly options: Pick<WriteOptions, 'fieldManager' | 'served'>;
  /** RFC 3339. */
  readonly now: string;
}

/**
 * Returns the managers of `object`, which is about to be stored; `old` is absent for a new object. Returns
 * undefined if there are none.
 */
export async function ownersAfter(
  server: Server,
  object: KubeObject,
  old: KubeObject | undefined,
  write: OwnedWrite,
): Promise<ManagedFieldsEntry[] | undefined> {
  const { definition, subresource } = write;
  const live = old ? unowned(asServed(write.options.served, old)) : nothingOf(write);
  const next = unowned(asServed(write.options.served, object));
  return withVersions(server, definition, subresource, (versions) =>
    orForgotten(server, definition, object, () => {
      const entries = entriesAfterUpdate(
        { live, next, isNew: !old },
        entriesIn(old),
        entriesIn(object),
        writeOf(write),
        versions,
      );
      return { kept: entries, values: countValues(entries) };
    }),
  );
}

/** Returns the same as ownersAfter, as JSON, for a new object whose client sent no managedFields. */
export async function ownersOfNew(
  server: Server,
  object: KubeObject,
  write: OwnedWrite,
): Promise<string | undefined> {
  const { definition, subresource } = write;
  const next = asServed(write.options.served, object);
  return withVersions(server, definition, subresource, (versions) =>
    orForgotten(server, definition, object, () => {
      const entries = entriesOfNew({ live: nothingOf(write), next }, writeOf(write), versions);
      return { kept: entries?.text, values: entries?.values ?? 0 };
    }),
  );
}

/** Returns the fields of an object that does not exist. */
const nothingOf = ({ options: { served } }: OwnedWrite) => ({
  apiVersion: apiVersionOf(served),
  kind: served.kind,
  metadata: {},
});

const writeOf = ({ options, subresource, now }: OwnedWrite): FieldWrite => ({
  manager: options.fieldManager,
  apiVersion: apiVersionOf(options.served),
  subresource,
  now,
});

/**
 * Returns undefined, and so no ownership, for the largest objects and for objects with lists whose items have
 * no keys.
 */
function orForgotten<T>(
  server: Server,
  definition: ResourceDefinition,
  object: KubeObject,
  find: () => { readonly kept: T; readonly values: number },
): T | undefined {
  try {
    const { kept, values } = find();
    if (values <= maxOwnerValues) return kept;
    forgotten(server, definition, object, `more than ${maxOwnerValues} values`);
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    forgotten(server, definition, object, error.message);
  }
  return undefined;
}

/**
 * Sets the managers of an applied object; mutates `object`. Throws a 413 if there are too many values to
 * record which fields this apply has set.
 */
export function setApplied(object: KubeObject, managers: Managers): void {
  const entries = entriesOf(managers);
  if (isTooMany(entries)) throw tooManyValues(maxOwnerValues);
  setOwners(object, entries);
}

/** Returns whether ownership has more values than may be stored. */
const isTooMany = (entries: Entries): boolean =>
  entries !== undefined && countValues(entries) > maxOwnerValues;

function forgotten(
  { log }: Server,
  { plural }: ResourceDefinition,
  { metadata }: KubeObject,
  why: string,
): void {
  const { namespace, name } = metadata;
  log.info('managedFields are not kept', {
    object: `${plural} ${namespace ? `${namespace}/` : ''}${name}`,
    why,
  });
}

export const entriesIn = (object: KubeObject | undefined): Entries =>
  object?.metadata.managedFields as Entries;

/** Returns the object without managedFields; everything else is shared with the object. */
export function unowned(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Sets the managedFields; mutates `object`. */
export function setOwners(object: KubeObject, entries: Entries): void {
  if (entries) object.metadata.managedFields = [...entries];
  else delete object.metadata.managedFields;
}

/** Returns whether a write changes at most the times at which fields were set. */
export function isUnchanged(object: KubeObject, old: KubeObject): boolean {
  return sameButTimes(entriesIn(object), entriesIn(old)) && deepEqual(unowned(object), unowned(old));
}
