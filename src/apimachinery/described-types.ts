/**
 * The types of a minik8s kind: lines of the table of types, written by hand, with the description of each
 * field for `kubectl explain` and `ctl explain`. The TypeScript interfaces are generated from them
 * (config/kubernetes-types/own-interfaces.ts).
 */
import { type FieldTable, type ObjectType, requiredType } from './field-types.ts';
import type { RulesByType } from './type-rules.ts';
import { createTypeTable } from './type-table.ts';

/**
 * Descriptions of fields by type, then by `NAME:TYPE`, or `NAME!:TYPE` for a required field, such as
 * `paths!:[]DnsSpecPaths`. TYPE is as in the table of types (type-table.ts), where `any` stands for any JSON.
 * The empty name stands for the type itself. A field without a description has an empty text.
 */
export type DescribedTypes = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface DescribedField {
  readonly name: string;
  readonly required: boolean;
  readonly type: string;
  readonly description: string;
}

/** Returns the fields of one type in their order. Throws for a key that is not a field. */
export function describedFields(type: Readonly<Record<string, string>>): DescribedField[] {
  return Object.entries(type).flatMap(([key, description]) => {
    if (key === '') return [];
    const [, name, mark, text] = /^([^!:]+)(!?):(\S+)$/.exec(key) ?? [];
    if (name === undefined || text === undefined)
      throw new Error(`${JSON.stringify(key)} is not a field: it must be NAME:TYPE or NAME!:TYPE`);
    return [{ name, required: mark === '!', type: text, description }];
  });
}

const made = new WeakMap<DescribedTypes, FieldTable>();

/**
 * Returns the type with the rules of its kind. Types that are not described, such as that of metadata, are
 * from `base`. A type that `rules` does not name has empty rules.
 */
export function describedType(
  types: DescribedTypes,
  name: string,
  rules: RulesByType,
  base: FieldTable,
): ObjectType {
  const table = made.get(types) ?? tableOf(types, rules, base);
  made.set(types, table);
  return requiredType(table, name);
}

function tableOf(types: DescribedTypes, rules: RulesByType, base: FieldTable): FieldTable {
  const lines: Record<string, string> = {};
  const texts: Record<string, Record<string, string>> = {};
  for (const [name, described] of Object.entries(types)) {
    const fields = describedFields(described);
    lines[name] = fields.map((field) => `=${field.name}${field.required ? '!' : ''}:${field.type}`).join(' ');
    const about = described[''];
    texts[name] = Object.fromEntries([
      ...(about ? [['', about]] : []),
      ...fields.flatMap(({ name: field, description }) => (description ? [[field, description]] : [])),
    ]);
  }
  const unruled = Object.fromEntries(Object.keys(types).map((name) => [name, {}]));
  return createTypeTable(lines, {}, { ...unruled, ...rules }, { base, texts });
}
