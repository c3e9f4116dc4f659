/** Kinds without a describer of their own, and custom kinds. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt } from '../objects/objects.ts';
import { readTable } from '../printers/server-table.ts';
import { cellText } from '../printers/table-writer.ts';
import type { Describer, Found } from './describer.ts';
import { conditionLines, headLines } from './lines.ts';

/** Head, columns that the server prints, all fields in kubectl's form, and the conditions as a table. */
export const generic: Describer = {
  needs: (object) => {
    const { name, namespace } = metadataOf(object);
    const [apiVersion, kind] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
    return { table: { apiVersion, kind, namespace, name, asTable: true } };
  },
  lines: (object, related, now) => [
    ...headLines(object),
    ...columnLines(related('table'), now),
    ...contentLines(withoutConditions(object), '', hidden),
    ...conditionLines(object, conditionColumns(object)),
  ],
};

/** Fields of the metadata that the head already shows, and managedFields. */
const hidden = ['managedFields', 'name', 'namespace', 'labels', 'annotations'].map(
  (field) => `.metadata.${field}`,
);

const withoutConditions = (object: JsonObject): JsonObject => {
  if (recordsAt(object, 'status', 'conditions').length === 0) return object;
  const { conditions: _, ...status } = recordAt(object, 'status');
  return { ...object, status };
};

function conditionColumns(object: JsonObject): (readonly [title: string, field: string])[] {
  const conditions = recordsAt(object, 'status', 'conditions');
  const columns: (readonly [title: string, field: string])[] = [
    ['Type', 'type'],
    ['Status', 'status'],
    ['LastTransitionTime', 'lastTransitionTime'],
    ['Reason', 'reason'],
    ['Message', 'message'],
  ];
  return columns.filter(([, field]) => conditions.some((condition) => condition[field] !== undefined));
}

/** Returns the columns of the server's table, except the name and the age. */
function columnLines({ items, refused }: Found, now: number): string[] {
  const [answer] = items;
  if (refused !== undefined || answer === undefined) return [];
  const { columns, rows } = readTable(answer, now);
  return columns.flatMap(({ name, isName }, index) => {
    const cell = rows[0]?.cells[index];
    if (isName || name === 'Name' || name === 'Age' || cell === undefined || cell === null) return [];
    return [`${name}:\t${cellText(cell)}`];
  });
}

/** Returns the fields, sorted by name and indented by level; `skip` has paths such as `.metadata.name`. */
function contentLines(content: JsonObject, indent: string, skip: readonly string[], prefix = ''): string[] {
  return Object.keys(content)
    .sort((a, b) => (a < b ? -1 : 1))
    .filter((field) => !skip.includes(`${prefix}.${field}`))
    .flatMap((field) => fieldLines(field, content[field], indent, skip, `${prefix}.${field}`));
}

function fieldLines(
  field: string,
  value: unknown,
  indent: string,
  skip: readonly string[],
  path: string,
): string[] {
  const title = `${indent}${labelOf(field)}:`;
  const inner = `${indent}  `;
  if (isRecord(value)) return [title, ...contentLines(value, inner, skip, path)];
  if (!Array.isArray(value)) return [`${title}\t${scalarText(value)}`];
  return [
    title,
    ...value.flatMap((item) =>
      isRecord(item) ? contentLines(item, inner, skip, path) : [`${inner}${scalarText(item)}`],
    ),
  ];
}

const scalarText = (value: unknown): string => {
  if (value === null || value === undefined) return '<nil>';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const acronyms = ['API', 'URL', 'UID', 'OSB', 'GUID'];

/** Converts `apiVersion` to `API Version`; names with other characters than letters stay as they are. */
export function labelOf(field: string): string {
  if (!/^[\p{L}-]+$/u.test(field)) return field;
  return (field.match(/\p{Lu}+(?![\p{Ll}])|\p{Lu}?\p{Ll}+|[^\p{L}]+/gu) ?? [field])
    .map((part) =>
      acronyms.includes(part.toUpperCase())
        ? part.toUpperCase()
        : part.charAt(0).toUpperCase() + part.slice(1),
    )
    .join(' ');
}
