/** Who owns which fields of an object: `metadata.managedFields`, read and written. Pure. */
import { isRecord, type JsonObject } from '../equality.ts';
import { describePath, type FieldPath, FieldSet, readFields, writeFields } from './field-set.ts';
import { compareTexts } from './path-element.ts';

export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** Of the fields; what is applied in another version counts as applied by the same manager. */
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339; undefined when nobody said. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** The same in the form of an entry, of one that is as it was read. */
  readonly written?: JsonObject;
}

type Head = Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource' | 'time'>;

export const withFields = (
  { manager, operation, apiVersion, subresource, time }: Head,
  fields: FieldSet,
): Manager => ({ manager, operation, apiVersion, subresource, time, fields });

/** By `idOf`. */
export type Managers = ReadonlyMap<string, Manager>;

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

/**
 * One manager is: a name that applies, whatever the version; a name that updates in one version; both of one subresource. Managers
 * are sorted by this text, so it has upstream's form.
 */
export const idOf = ({
  manager,
  operation,
  apiVersion,
  subresource,
}: Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string =>
  JSON.stringify({
    ...(manager !== '' && { manager }),
    operation,
    ...(operation === 'Update' && { apiVersion }),
    ...(subresource !== '' && { subresource }),
  });

/** Throws an Error that says what is malformed. */
export function readManagers(entries: readonly ManagedFieldsEntry[]): Managers {
  return byId(
    entries.map((entry, index) => {
      const { fieldsV1 } = entry;
      return withFields(headOf(entry, index), fieldsV1 === undefined ? new FieldSet() : readFields(fieldsV1));
    }),
  );
}

/**
 * Those of an object that is stored: they were read before. Most writes do not touch what most managers have, so fields are read when
 * they are asked for; malformed ones are none. Throws an Error for an entry that nobody can be told from.
 */
export const storedManagers = (entries: readonly ManagedFieldsEntry[]): Managers =>
  byId(entries.map((entry, index) => new StoredManager(headOf(entry, index), entry.fieldsV1)));

class StoredManager implements Manager {
  readonly manager: string;
  readonly operation: Manager['operation'];
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly written: JsonObject;
  #fields: FieldSet | undefined;

  constructor({ manager, operation, apiVersion, subresource, time }: Head, written: unknown) {
    this.manager = manager;
    this.operation = operation;
    this.apiVersion = apiVersion;
    this.subresource = subresource;
    this.time = time;
    this.written = isRecord(written) ? written : {};
  }

  get fields(): FieldSet {
    this.#fields ??= fieldsOrNone(this.written);
    return this.#fields;
  }
}

/** The same fields, at another time. */
export function sinceThen(one: Manager, time: string): Manager {
  const { manager, operation, apiVersion, subresource, written } = one;
  const head = { manager, operation, apiVersion, subresource, time };
  return written ? new StoredManager(head, written) : withFields(head, one.fields);
}

function fieldsOrNone(written: JsonObject): FieldSet {
  try {
    return readFields(written);
  } catch {
    return new FieldSet();
  }
}

const byId = (managers: readonly Manager[]): Managers =>
  new Map(managers.map((manager) => [idOf(manager), manager]));

function headOf(entry: ManagedFieldsEntry, index: number): Head {
  const { operation, apiVersion, fieldsType, manager = '', subresource = '', time } = entry;
  if (operation !== 'Apply' && operation !== 'Update')
    throw new Error('operation must be `Apply` or `Update`');
  if (!apiVersion) throw new Error('apiVersion must not be empty');
  if (!fieldsType) throw new Error(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== 'FieldsV1')
    throw new Error(`invalid fieldsType "${fieldsType}" in managed fields entry ${index}`);
  return { manager, operation, apiVersion, subresource, time };
}

/** Who applied first, then the others, each in the order of time. */
export function writeManagers(managers: Managers): ManagedFieldsEntry[] {
  return [...managers.values()]
    .sort(
      (a, b) =>
        compareTexts(a.operation, b.operation) ||
        secondsOf(a) - secondsOf(b) ||
        compareTexts(a.manager, b.manager) ||
        compareTexts(a.apiVersion, b.apiVersion) ||
        compareTexts(a.subresource, b.subresource),
    )
    .map(entryOf);
}

function entryOf(one: Manager): ManagedFieldsEntry {
  const { manager, operation, apiVersion, time, written, subresource } = one;
  return {
    ...(manager !== '' && { manager }),
    operation,
    apiVersion,
    ...(time !== undefined && { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: written ?? writeFields(one.fields),
    ...(subresource !== '' && { subresource }),
  };
}

export const secondsOf = ({ time }: Manager) =>
  time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);

/** Whether a client asks to forget all managers: by an empty list, or one empty entry. */
export const isReset = (entries: unknown): boolean =>
  Array.isArray(entries) &&
  (entries.length === 0 ||
    (entries.length === 1 && isRecord(entries[0]) && Object.keys(entries[0]).length === 0));

export interface Conflict {
  readonly manager: Manager;
  readonly path: FieldPath;
}

/** What is applied is owned by others with other values. */
export class ApplyConflicts extends Error {
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super(messageOf(conflicts));
    this.conflicts = conflicts;
  }
}

/** `"kubectl" using apps/v1`. */
export function describeManager({ manager, operation, apiVersion, subresource }: Manager): string {
  const name = JSON.stringify(manager);
  const who = subresource === '' ? name : `${name} with subresource ${JSON.stringify(subresource)}`;
  return operation === 'Apply' ? who : `${who} using ${apiVersion}`;
}

function messageOf(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1)
    return `Apply failed with 1 conflict: conflict with ${describeManager(first.manager)}: ${describePath(first.path)}`;
  const lines = [...Map.groupBy(conflicts, ({ manager }) => idOf(manager)).values()].flatMap((theirs) => [
    `conflicts with ${theirs[0] ? describeManager(theirs[0].manager) : ''}:`,
    ...theirs.map(({ path }) => `- ${describePath(path)}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}
