/** Who owns which fields of an object: `metadata.managedFields`, read and written. Pure. */
import { isRecord } from '../equality.ts';
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
}

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
  const managers = new Map<string, Manager>();
  for (const [index, entry] of entries.entries()) {
    const { operation, apiVersion } = entry;
    if (operation !== 'Apply' && operation !== 'Update')
      throw new Error('operation must be `Apply` or `Update`');
    if (!apiVersion) throw new Error('apiVersion must not be empty');
    if (!entry.fieldsType) throw new Error(`missing fieldsType in managed fields entry ${index}`);
    if (entry.fieldsType !== 'FieldsV1')
      throw new Error(`invalid fieldsType "${entry.fieldsType}" in managed fields entry ${index}`);
    const manager: Manager = {
      manager: entry.manager ?? '',
      operation,
      apiVersion,
      subresource: entry.subresource ?? '',
      time: entry.time,
      fields: entry.fieldsV1 === undefined ? new FieldSet() : readFields(entry.fieldsV1),
    };
    managers.set(idOf(manager), manager);
  }
  return managers;
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
    .map(({ manager, operation, apiVersion, time, fields, subresource }) => ({
      ...(manager !== '' && { manager }),
      operation,
      apiVersion,
      ...(time !== undefined && { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: writeFields(fields),
      ...(subresource !== '' && { subresource }),
    }));
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
