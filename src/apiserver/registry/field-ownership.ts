/** Keeps `metadata.managedFields` with every write: who set which fields (docs/decisions/0035-server-side-apply.md). */
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
  write: OwnedWrite,
): ManagedFieldsEntry[] | undefined {
  const { definition, subresource } = write;
  const live = old ? unowned(asServed(write.options.served, old)) : nothingOf(write);
  return orForgotten(server, definition, object, () => {
    const entries = entriesAfterUpdate(
      { live, next: unowned(asServed(write.options.served, object)), isNew: !old },
      entriesIn(old),
      entriesIn(object),
      writeOf(write),
      versionsOf(server, definition, subresource),
    );
    return { kept: entries, values: countValues(entries) };
  });
}

/** The same of a new object whose client does not say who owns it, as JSON. */
export function ownersOfNew(server: Server, object: KubeObject, write: OwnedWrite): string | undefined {
  const { definition, subresource } = write;
  const next = asServed(write.options.served, object);
  return orForgotten(server, definition, object, () => {
    const versions = versionsOf(server, definition, subresource);
    const entries = entriesOfNew({ live: nothingOf(write), next }, writeOf(write), versions);
    return { kept: entries?.text, values: entries?.values ?? 0 };
  });
}

/** What an object that is not there has. */
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

/** Of the largest objects, and of those whose lists have no keys, nobody's fields are kept. */
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
