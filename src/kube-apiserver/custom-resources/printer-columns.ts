/**
 * Columns of a custom kind's table, from the `additionalPrinterColumns` of its definition. A cell is null if
 * the object has no such field, as upstream. Pure.
 */
import type { CustomResourceDefinitionVersion } from '../../api/apiextensions/v1/custom-resource-definition.ts';
import { nameColumn } from '../../api/columns.ts';
import { ageSince } from '../../apimachinery/age.ts';
import { findAll, formatResults } from '../../apimachinery/jsonpath/evaluate.ts';
import { type Node, parsePath } from '../../apimachinery/jsonpath/parse.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { Cell, Column, ResourceDefinition } from '../../apimachinery/resource-definition.ts';

type PrinterColumn = NonNullable<CustomResourceDefinitionVersion['additionalPrinterColumns']>[number];

/** Maximum number of values that a cell's path may visit. */
const maxValues = 10_000;

const createdAt: PrinterColumn = {
  name: 'Age',
  type: 'date',
  description: 'Time since the object was created.',
  jsonPath: '.metadata.creationTimestamp',
};

/** Returns the columns of a version; upstream shows the age of kinds that define none. */
export function printerColumns({
  additionalPrinterColumns = [],
}: CustomResourceDefinitionVersion): ResourceDefinition['columns'] {
  const own = additionalPrinterColumns.length > 0 ? additionalPrinterColumns : [createdAt];
  return [nameColumn, ...own.map(columnOf)];
}

function columnOf(column: PrinterColumn): Column<KubeObject> {
  const { name, type, format, description, priority, jsonPath } = column;
  const path = parsed(jsonPath);
  return {
    name,
    type,
    format: format ?? '',
    priority: priority ?? 0,
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    cell: (object, now) => cellOf(path, type, object, now),
  };
}

/** Returns undefined for a path that cannot be parsed: its cells stay empty. */
function parsed(path: string): readonly Node[] | undefined {
  try {
    return parsePath(path);
  } catch {
    return undefined;
  }
}

/** Returns the cell for a value of a field; null for a value of another type than the column's. */
const cellsByType: Readonly<Record<string, (value: unknown, now: number) => Cell | null>> = {
  string: (value) => formatResults([value]),
  integer: (value) => (typeof value === 'number' ? Math.trunc(value) : null),
  number: (value) => (typeof value === 'number' ? value : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  date: (value, now) => (typeof value === 'string' ? dateCell(value, now) : null),
};

function cellOf(path: readonly Node[] | undefined, type: string, object: KubeObject, now: number) {
  const value = path && firstValue(path, object);
  if (value === undefined || value === null) return null;
  return cellsByType[type]?.(value, now) ?? null;
}

function firstValue(path: readonly Node[], object: KubeObject): unknown {
  try {
    return findAll(path, object, maxValues)[0];
  } catch {
    return undefined;
  }
}

const dateCell = (text: string, now: number): Cell =>
  Number.isNaN(Date.parse(text)) ? '<invalid>' : ageSince(text, now);
