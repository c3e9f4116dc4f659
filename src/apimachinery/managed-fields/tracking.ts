/**
 * `metadata.managedFields` of an object before and after a write (k8s.io/apimachinery util/managedfields). Objects come without
 * theirs, in the version of the writer. Pure.
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

/** Who writes, by which way, when. */
export interface FieldWrite {
  /** The name that the client gives; '' when it gives none. */
  readonly manager: string;
  /** The version in which it writes. */
  readonly apiVersion: string;
  /** '' for the object itself. */
  readonly subresource: string;
  /** RFC 3339. */
  readonly now: string;
}

/** As clients send them and as they are stored; undefined and an empty list are not the same in what a client sends. */
export type Entries = readonly ManagedFieldsEntry[] | undefined;

/** An object before a write and after it. */
export interface Change {
  /** What an object that is being made was before: only its kind. */
  readonly live: unknown;
  readonly next: unknown;
  readonly isNew: boolean;
}

/**
 * After a write that is no apply. `stored` are those of the live object, `sent` what the client says they should be: it may change
 * or forget them. Undefined when nobody owns anything, or the object's owners are not known since somebody forgot them. Throws a
 * KeyError for an object whose lists have no keys.
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
  /** How many it has, itself included. */
  readonly values: number;
}

/**
 * The same as `entriesAfterUpdate` says of a new object of which the client does not say who owns it, as text. Undefined for none.
 * Throws a KeyError as there.
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
  // The list, its entry, and what stands in that.
  return { text: opening + closing, values: values + (subresource ? 9 : 8) };
}

/** Those that the client sends, unless they are none or malformed: clients that do not know them leave them out. */
function managersSent(stored: Entries, sent: Entries): Managers {
  if (sent === undefined || deepEqual(sent, stored)) return managersOf(stored);
  if (isReset(sent)) return new Map();
  const said = orNone(() => readManagers(sent));
  return said.size > 0 ? said : managersOf(stored);
}

/** Of what is stored; none where an entry is malformed. */
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

/** A name for who gives none. */
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

/** What only the server sets, and what identifies the object. */
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

const mostUpdaters = 10;
const bucketName = 'ancient-changes';

/** Of more than ten managers that update, the oldest become one for each version. Changes `managers`. */
function limitUpdaters(managers: Map<string, Manager>): void {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= mostUpdaters) return;
  updaters.sort(([a, one], [b, other]) => secondsOf(one) - secondsOf(other) || compareTexts(a, b));
  const oldest = new Map<string, [string, Manager][]>();
  let left = updaters.length;
  for (const updater of updaters) {
    if (left <= mostUpdaters) break;
    const { apiVersion } = updater[1];
    const others = oldest.get(apiVersion);
    if (others) {
      others.push(updater);
      left--;
    } else oldest.set(apiVersion, [updater]);
  }
  for (const [apiVersion, members] of oldest) if (members.length > 1) fill(managers, apiVersion, members);
}

/** Puts managers of one version into one. */
function fill(managers: Map<string, Manager>, apiVersion: string, members: [string, Manager][]): void {
  const bucket = { manager: bucketName, operation: 'Update', apiVersion, subresource: '' } as const;
  const id = idOf(bucket);
  const sets = members.map(([, { fields }]) => fields);
  const there = managers.get(id);
  if (there && !members.some(([member]) => member === id)) sets.push(there.fields);
  for (const [member] of members) managers.delete(member);
  managers.set(id, withFields({ ...bucket, time: members.at(-1)?.[1].time }, FieldSet.union(sets)));
}

/** Whether two lists of entries differ in their times at most. */
export function sameButTimes(one: Entries = [], other: Entries = []): boolean {
  const timeless = ({ time: _, ...entry }: ManagedFieldsEntry) => entry;
  return (
    one.length === other.length &&
    one.every((entry, index) => deepEqual(timeless(entry), timeless(other[index] ?? {})))
  );
}
