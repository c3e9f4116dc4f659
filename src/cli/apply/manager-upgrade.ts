/**
 * Managed fields of an object that changes from client-side to server-side apply: the fields of the client's
 * manager become the applier's, so that the applier can remove them too (k8s.io/client-go util/csaupgrade).
 * Pure.
 */
import { deepEqual, isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { lastAppliedAnnotation } from '../../apimachinery/last-applied.ts';
import { FieldSet, hasAll, readFields, writeFields } from '../../apimachinery/managed-fields/field-set.ts';
import type { ManagedFieldsEntry } from '../../apimachinery/managed-fields/managers.ts';
import { recordAt, recordsAt } from '../objects/objects.ts';

const annotation = FieldSet.of(['f:metadata', 'f:annotations', `f:${lastAppliedAnnotation}`]);

export const entriesOf = (object: JsonObject): readonly ManagedFieldsEntry[] =>
  recordsAt(recordAt(object, 'metadata'), 'managedFields') as readonly ManagedFieldsEntry[];

/** Returns the names of the managers that own the annotation of the last applied configuration. */
export const annotationOwners = (object: JsonObject, operation: 'Apply' | 'Update'): readonly string[] =>
  entriesOf(object)
    .filter(
      (entry) =>
        entry.operation === operation && isRecord(entry.fieldsV1) && hasAll(entry.fieldsV1, annotation),
    )
    .map(({ manager = '' }) => manager);

/** Moves the fields of the entries of `clients` into the entry of `applier`; undefined if nothing changes. */
export function upgradedEntries(
  entries: readonly ManagedFieldsEntry[],
  clients: readonly string[],
  applier: string,
): readonly ManagedFieldsEntry[] | undefined {
  let upgraded = entries;
  for (const client of new Set(clients)) upgraded = withoutClient(upgraded, client, applier);
  return deepEqual(upgraded, entries) ? undefined : upgraded;
}

function withoutClient(
  entries: readonly ManagedFieldsEntry[],
  client: string,
  applier: string,
): readonly ManagedFieldsEntry[] {
  const isClients = (entry: ManagedFieldsEntry) => isOf(entry, client, 'Update');
  // If the applier has no entry yet, the client's entry becomes that of the applier.
  const target = entries.find((entry) => isOf(entry, applier, 'Apply')) ?? entries.find(isClients);
  if (!target) return entries;
  const same = entries.find((entry) => isClients(entry) && entry.apiVersion === target.apiVersion);
  const fields = fieldsOf(target).union(same ? fieldsOf(same) : new FieldSet());
  const merged = { ...target, manager: applier, operation: 'Apply', fieldsV1: writeFields(fields) };
  return entries.map((entry) => (entry === target ? merged : entry)).filter((entry) => !isClients(entry));
}

const isOf = (entry: ManagedFieldsEntry, manager: string, operation: string) =>
  entry.manager === manager && entry.operation === operation && !entry.subresource;

const fieldsOf = ({ fieldsV1 }: ManagedFieldsEntry) => readFields(fieldsV1 ?? {});
