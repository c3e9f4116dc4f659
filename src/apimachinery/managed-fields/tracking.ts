/**
 * `metadata.managedFields` of an object before and after a write (k8s.io/apimachinery util/managedfields).
 * Objects are passed without their managedFields, in the writer's version. Pure.
 */

import { deepEqual } from '../equality.ts';
import { FieldSet } from './field-set.ts';
import { fieldsOfNew } from './fields-of-new.ts';
import {
  idOf,
  isReset,
  type ManagedFieldsEntry,
  type Manager,
  type Managers,
  readManagers,
  secondsOf,
  storedManagers,
  withFields,
  writeManagers,
} from './managers.ts';
import { afterUpdate, known, type Versions } from './ownership.ts';
import { compareTexts } from './path-element.ts';

/** Author, target and time of a write. */
export interface FieldWrite {
  /** Name that the client gives; empty when it gives none. */
  readonly manager: string;
  /** Version of the written object. */
  readonly apiVersion: string;
  /** Name of the subresource; empty for the object itself. */
  readonly subresource: string;
  /** Time of the write (RFC 3339). */
  readonly now: string;
}

/**
 * Entries as clients send them and as they are stored. For a client's entries, undefined and an empty list
 * differ.
 */
export type Entries = readonly ManagedFieldsEntry[] | undefined;

/** An object before and after a write. */
export interface Change {
  /** The object before the write; a new object had only its kind. */
  readonly live: unknown;
  readonly next: unknown;
  readonly isNew: boolean;
}

/**
 * Returns the entries after a write other than an apply. `stored` are the entries of the live object; `sent`
 * are the client's, which may change or remove entries. Returns undefined when nothing is owned, or when the
 * object's owners were removed before and are therefore unknown. Throws a KeyError for an object whose lists
 * have no keys.
 */
export function entriesAfterUpdate(
  change: Change,
  stored: Entries,
  sent: Entries,
  write: FieldWrite,
  versions: Versions,
): ManagedFieldsEntry[] | undefined {
  const before = write.subresource === '' ? managersSent(stored, sent) : managersOf(stored);
  if (before.size === 0 && !change.isNew) return undefined;
  return entriesOf(managersAfterUpdate(change, before, write, versions));
}

/** Entries as they stand in the JSON of an object. */
export interface EntriesText {
  readonly text: string;
  /** Number of values in the text, the list itself included. */
  readonly values: number;
}

/**
 * Returns the same as `entriesAfterUpdate`, as text, for a new object for which the client sends no entries.
 * Undefined for none. Throws a KeyError in the same cases.
 */
export function entriesOfNew(
  { live, next }: Pick<Change, 'live' | 'next'>,
  { manager, apiVersion, subresource, now }: FieldWrite,
  versions: Versions,
): EntriesText | undefined {
  const { shape, reset } = known(versions, apiVersion);
  const { text, values } = fieldsOfNew(live, next, shape, reset, neverOwned);
  if (text === undefined) return undefined;
  const head = { manager: manager || unknownManager, operation: 'Update', apiVersion, time: now };
  const opening = `[${JSON.stringify(head).slice(0, -1)},"fieldsType":"FieldsV1","fieldsV1":${text}`;
  const closing = `${subresource && `,"subresource":${JSON.stringify(subresource)}`}}]`;
  // The list, its entry, and the values in the entry.
  return { text: opening + closing, values: values + (subresource ? 9 : 8) };
}

/**
 * Returns the managers that the client sends, unless they are missing or malformed: some clients omit them
 * because they do not support managedFields.
 */
function managersSent(stored: Entries, sent: Entries): Managers {
  if (sent === undefined || deepEqual(sent, stored)) return managersOf(stored);
  if (isReset(sent)) return new Map();
  const sentManagers = orNone(() => readManagers(sent));
  return sentManagers.size > 0 ? sentManagers : managersOf(stored);
}

/** Returns the managers of stored entries; none when an entry is malformed. */
export const managersOf = (stored: Entries): Managers => orNone(() => storedManagers(stored ?? []));

function orNone(read: () => Managers): Managers {
  try {
    return read();
  } catch {
    return new Map();
  }
}

export const entriesOf = (managers: Managers): ManagedFieldsEntry[] | undefined =>
  managers.size > 0 ? writeManagers(managers) : undefined;

/** Manager name for clients that give none. */
const unknownManager = 'unknown';

export function managersAfterUpdate(
  { live, next }: Omit<Change, 'isNew'>,
  before: Managers,
  { manager, apiVersion, subresource, now }: FieldWrite,
  versions: Versions,
): Map<string, Manager> {
  const writer = {
    manager: manager || unknownManager,
    operation: 'Update',
    apiVersion,
    subresource,
  } as const;
  const managers = afterUpdate(live, next, before, writer, versions, now, neverOwned);
  limitUpdaters(managers);
  return managers;
}

/** Fields that only the server sets, and fields that identify the object. */
export const neverOwned = FieldSet.of(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
);

const maxUpdaters = 10;
const bucketName = 'ancient-changes';

/** Merges the oldest of more than ten updating managers into one for each version. Changes `managers`. */
function limitUpdaters(managers: Map<string, Manager>): void {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= maxUpdaters) return;
  updaters.sort(([a, one], [b, other]) => secondsOf(one) - secondsOf(other) || compareTexts(a, b));
  const oldest = new Map<string, [string, Manager][]>();
  let left = updaters.length;
  for (const updater of updaters) {
    if (left <= maxUpdaters) break;
    const { apiVersion } = updater[1];
    const others = oldest.get(apiVersion);
    if (others) {
      others.push(updater);
      left--;
    } else oldest.set(apiVersion, [updater]);
  }
  for (const [apiVersion, members] of oldest) if (members.length > 1) fill(managers, apiVersion, members);
}

/** Merges managers of one version into one. */
function fill(managers: Map<string, Manager>, apiVersion: string, members: [string, Manager][]): void {
  const bucket = { manager: bucketName, operation: 'Update', apiVersion, subresource: '' } as const;
  const id = idOf(bucket);
  const sets = members.map(([, { fields }]) => fields);
  const there = managers.get(id);
  if (there && !members.some(([member]) => member === id)) sets.push(there.fields);
  for (const [member] of members) managers.delete(member);
  managers.set(id, withFields({ ...bucket, time: members.at(-1)?.[1].time }, FieldSet.union(sets)));
}

/** Returns true if two lists of entries differ at most in their times. */
export function sameButTimes(one: Entries = [], other: Entries = []): boolean {
  const timeless = ({ time: _, ...entry }: ManagedFieldsEntry) => entry;
  return (
    one.length === other.length &&
    one.every((entry, index) => deepEqual(timeless(entry), timeless(other[index] ?? {})))
  );
}
