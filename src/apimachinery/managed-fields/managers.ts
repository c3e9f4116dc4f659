/** The owners of an object's fields: reads and writes `metadata.managedFields`. Pure. */
import { isRecord, type JsonObject } from '../equality.ts';
import { describePath, type FieldPath, FieldSet, readFields, writeFields } from './field-set.ts';
import { compareTexts } from './path-element.ts';

export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** Version of the fields. An apply in another version belongs to the same manager. */
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339; undefined when it was not given. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** The fields in the form of an entry, for a manager that is unchanged since it was read. */
  readonly written?: JsonObject;
}

type Head = Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource' | 'time'>;

export const withFields = (
  { manager, operation, apiVersion, subresource, time }: Head,
  fields: FieldSet,
): Manager => ({ manager, operation, apiVersion, subresource, time, fields });

/** Managers by `idOf`. */
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
 * Returns the identity of a manager: its name and subresource, and for updates also the version. Managers are
 * sorted by this text, so it has upstream's form.
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

/** Parses entries; throws an Error that names the malformed part. */
export function readManagers(entries: readonly ManagedFieldsEntry[]): Managers {
  return byId(
    entries.map((entry, index) => {
      const { fieldsV1 } = entry;
      return withFields(headOf(entry, index), fieldsV1 === undefined ? new FieldSet() : readFields(fieldsV1));
    }),
  );
}

/**
 * Returns the managers of a stored object, whose entries were checked before. Most writes do not touch the
 * fields of most managers, so fields are parsed on first use; malformed fields count as none. Throws an Error
 * for an entry that does not identify a manager.
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

/** Returns the manager with the same fields and another time. */
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

/** Returns the entries: appliers first, then updaters, each ordered by time. */
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

/** Returns true if a client asks to remove all managers: by an empty list, or by a single empty entry. */
export const isReset = (entries: unknown): boolean =>
  Array.isArray(entries) &&
  (entries.length === 0 ||
    (entries.length === 1 && isRecord(entries[0]) && Object.keys(entries[0]).length === 0));

export interface Conflict {
  readonly manager: Manager;
  readonly path: FieldPath;
}

/** Thrown when other managers own applied fields with other values. */
export class ApplyConflicts extends Error {
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super(messageOf(conflicts));
    this.conflicts = conflicts;
  }
}

/** Formats a manager: `"kubectl" using apps/v1`. */
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
