/** Keeps `metadata.managedFields` with every write: who set which fields (docs/decisions/0035-server-side-apply.md). */
import { deepEqual } from '../../apimachinery/equality.ts';
import type { ManagedFieldsEntry, Managers } from '../../apimachinery/managed-fields/managers.ts';
import { KeyError } from '../../apimachinery/managed-fields/shape.ts';
import {
  type Entries,
  entriesAfterUpdate,
  entriesOf,
  sameButTimes,
} from '../../apimachinery/managed-fields/tracking.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { asServed } from '../../apimachinery/served-version.ts';
import { countValues, maxOwnerValues, tooManyValues } from '../../apimachinery/value-limit.ts';
import type { ServerContext } from '../server-context.ts';
import type { WriteOptions } from '../write-options.ts';
import { versionsOf } from './type-versions.ts';

type Server = Pick<ServerContext, 'kinds' | 'fields' | 'log'>;

export interface OwnedWrite {
  readonly definition: ResourceDefinition;
  readonly subresource: string;
  readonly options: Pick<WriteOptions, 'fieldManager' | 'served'>;
  /** RFC 3339. */
  readonly now: string;
}

/** The managers of `object`, which is about to be stored; `old` is missing for a new one. Undefined for none. */
export function ownersAfter(
  server: Server,
  object: KubeObject,
  old: KubeObject | undefined,
  { definition, subresource, options, now }: OwnedWrite,
): ManagedFieldsEntry[] | undefined {
  const { served, fieldManager: manager } = options;
  const apiVersion = apiVersionOf(served);
  const live = old ? unowned(asServed(served, old)) : { apiVersion, kind: served.kind, metadata: {} };
  const next = unowned(asServed(served, object));
  try {
    const entries = entriesAfterUpdate(
      { live, next, isNew: !old },
      entriesIn(old),
      entriesIn(object),
      { manager, apiVersion, subresource, now },
      versionsOf(server, definition, subresource),
    );
    if (!isTooMany(entries)) return entries;
    forgotten(server, definition, object, `more than ${maxOwnerValues} values`);
    return undefined;
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    forgotten(server, definition, object, error.message);
    return undefined;
  }
}

/** Changes `object`, which was applied. Throws a 413 where an apply later could not know what this one has set. */
export function setApplied(object: KubeObject, managers: Managers): void {
  const entries = entriesOf(managers);
  if (isTooMany(entries)) throw tooManyValues(maxOwnerValues);
  setOwners(object, entries);
}

/** Of the largest objects nobody's fields are kept: the rest of such an object matters more. */
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

/** Shares everything else with the object. */
export function unowned(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Changes `object`. */
export function setOwners(object: KubeObject, entries: Entries): void {
  if (entries) object.metadata.managedFields = [...entries];
  else delete object.metadata.managedFields;
}

/** Whether a write changes nothing but perhaps the times at which fields were set. */
export function isUnchanged(object: KubeObject, old: KubeObject): boolean {
  return sameButTimes(entriesIn(object), entriesIn(old)) && deepEqual(unowned(object), unowned(old));
}
