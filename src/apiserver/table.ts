/** Answers in the form `kubectl get` prints: meta.k8s.io Table, and PartialObjectMetadata. */
import type { JsonObject } from '../apimachinery/equality.ts';
import type { KubeObject } from '../apimachinery/meta.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import { asServed } from '../apimachinery/served-version.ts';
import { newBadRequest } from '../apimachinery/status-error.ts';
import { metadataBytes } from '../storage/codec.ts';
import type { MetaVersion } from './negotiation/accept.ts';

const includes = ['None', 'Metadata', 'Object'] as const;
export type IncludeObject = (typeof includes)[number];

export function parseIncludeObject(value: string | null): IncludeObject {
  const found = includes.find((known) => known === (value || 'Metadata'));
  if (found) return found;
  throw newBadRequest(`unrecognized includeObject value: ${JSON.stringify(value)}`);
}

export function columnDefinitions(definition: ResourceDefinition): JsonObject[] {
  return definition.columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format: format ?? '',
    description,
    priority: priority ?? 0,
  }));
}

export interface TableForm {
  readonly definition: ResourceDefinition;
  readonly version: MetaVersion;
  readonly include: IncludeObject;
  /** Milliseconds, for ages. */
  readonly now: number;
}

/** For JSON: what is undefined is left out there. */
export function tableRow(form: TableForm, object: KubeObject): JsonObject {
  return {
    cells: form.definition.columns.map((column) => column.cell(object, form.now)),
    conditions: form.definition.rowConditions?.(object),
    object: rowObject(form, object),
  };
}

function rowObject(form: TableForm, object: KubeObject): KubeObject | undefined {
  if (form.include === 'Object') return asServed(form.definition, object);
  return form.include === 'Metadata'
    ? metadataOf(asServed(form.definition, object), form.version)
    : undefined;
}

/** All of a Table but its rows. `columns` only where the reader needs them: in a list, and in the first event of a watch. */
export const tableHead = ({ definition, version }: TableForm, metadata: object, columns = true) => ({
  kind: 'Table',
  apiVersion: `meta.k8s.io/${version}`,
  metadata,
  columnDefinitions: columns ? columnDefinitions(definition) : null,
});

export const table = (
  form: TableForm,
  metadata: object,
  objects: readonly KubeObject[],
  columns = true,
): JsonObject => ({
  ...tableHead(form, metadata, columns),
  rows: objects.map((object) => tableRow(form, object)),
});

export const partialHead = (version: MetaVersion) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
});

export const metadataOf = ({ metadata }: KubeObject, version: MetaVersion): KubeObject => ({
  ...partialHead(version),
  metadata,
});

/** The same from an object's bytes, which are not decoded for it. */
export function partialObject(bytes: Buffer, version: MetaVersion): Buffer {
  const head = JSON.stringify(partialHead(version)).slice(0, -1);
  return Buffer.concat([Buffer.from(`${head},"metadata":`), metadataBytes(bytes), Buffer.from('}')]);
}
