/**
 * The description of a kind or of one of its fields by `ctl explain`, from the server's OpenAPI document, in
 * kubectl's form. Pure.
 */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { recordAt, recordsAt, textAt } from '../objects/objects.ts';
import { noField } from './explain-field.ts';

export interface Explained {
  /** The kind's schema; its fields may be references. */
  readonly schema: JsonObject;
  /** All schemas to which references may refer, by name. */
  readonly schemas: JsonObject;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  /** Names of fields; lists and maps are skipped. */
  readonly path: readonly string[];
  /** Number of levels of fields to list, one line each; undefined to describe those of the first. */
  readonly levels: number | undefined;
}

/** Returns the description. Throws for a field that does not exist. */
export function explain({ schema, schemas, kind, path, levels }: Explained): string {
  const { group, version } = kind;
  const head = `${group && `GROUP:      ${group}\n`}KIND:       ${kind.kind}\nVERSION:    ${version}\n\n`;
  const explainer = new Explainer(schemas, levels);
  const { field, heading } = explainer.follow(schema, path);
  const description = explainer.description(field) || '<empty>';
  const fields = explainer.fields(field, 1, []);
  return (
    `${head}${heading}DESCRIPTION:\n${indent(4, wrap(76, description))}\n` +
    `${fields && `FIELDS:\n${fields}`}\n`
  );
}

class Explainer {
  readonly #schemas: JsonObject;
  readonly #levels: number | undefined;

  constructor(schemas: JsonObject, levels: number | undefined) {
    this.#schemas = schemas;
    this.#levels = levels;
  }

  /** Returns the schema at the end of a path, and the heading for the field; empty for the kind itself. */
  follow(schema: JsonObject, path: readonly string[]): { field: JsonObject; heading: string } {
    let [field, heading] = [schema, ''];
    for (const name of path) {
      const found = this.#property(field, name, new Set());
      if (!found) throw new Error(noField(name, this.#names(field)));
      field = found;
      const values = enumOf(field).map((value) => `\n    ${value}`);
      heading = `FIELD: ${name} <${this.#type(field)}>\n${values.length > 0 ? `ENUM:${values.join('')}` : ''}\n\n`;
    }
    return { field, heading };
  }

  #property(schema: JsonObject, name: string, seen: ReadonlySet<string>): JsonObject | undefined {
    const reference = textAt(schema, '$ref');
    if (seen.has(reference)) return undefined;
    const resolved = this.#resolve(schema);
    const properties = recordAt(resolved, 'properties');
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (isRecord(own)) return own;
    const within = reference ? new Set([...seen, reference]) : seen;
    for (const part of partsOf(resolved)) {
      const found = this.#property(part, name, within);
      if (found) return found;
    }
    return undefined;
  }

  /** Returns the names of the fields among which #property searches. */
  #names(schema: JsonObject, seen: ReadonlySet<string> = new Set()): string[] {
    const reference = textAt(schema, '$ref');
    if (seen.has(reference)) return [];
    const resolved = this.#resolve(schema);
    const within = reference ? new Set([...seen, reference]) : seen;
    const inner = partsOf(resolved).flatMap((part) => this.#names(part, within));
    return [...Object.keys(recordAt(resolved, 'properties')), ...inner];
  }

  /** Returns the descriptions of the field and of its items or values, one line each. */
  description(schema: JsonObject): string {
    const resolved = this.#resolve(schema);
    const own = textAt(resolved, 'description');
    return (
      (own && `${own}\n`) +
      partsOf(resolved)
        .map((part) => this.description(part))
        .join('')
    );
  }

  fields(schema: JsonObject, level: number, history: readonly string[]): string {
    const reference = textAt(schema, '$ref');
    if (reference && history.includes(reference)) return '';
    const within = reference ? [...history, reference] : history;
    const resolved = this.#resolve(schema);
    const properties = recordAt(resolved, 'properties');
    const lines = Object.keys(properties)
      .sort()
      .map((name) => {
        const field = recordAt(properties, name);
        const below = level < (this.#levels ?? 1) ? this.fields(field, level + 1, within) : '';
        return this.#field(name, field, isRequired(resolved, name), level) + below;
      });
    return (
      lines.join('') +
      partsOf(resolved)
        .map((part) => this.fields(part, level, within))
        .join('')
    );
  }

  #field(name: string, schema: JsonObject, required: boolean, level: number): string {
    const margin = level * 2;
    const values = enumOf(schema);
    const shown = values.slice(0, 4).join(', ') + (values.length > 4 ? ', ....' : '');
    const line =
      `${' '.repeat(margin)}${name}\t<${this.#type(schema)}>${required ? ' -required-' : ''}` +
      `${values.length > 0 ? `\n${' '.repeat(margin)}enum: ${shown}` : ''}\n`;
    if (this.#levels !== undefined) return line;
    const description = textAt(schema, 'description') || '<no description>';
    return `${line}${indent(margin + 2, wrap(78 - margin, description))}\n\n`;
  }

  /** Returns a type such as `string`, `[]Container` or `map[string]string`. */
  #type(schema: JsonObject): string {
    if (isRecord(schema.items)) return `[]${this.#type(schema.items)}`;
    if (isRecord(schema.additionalProperties)) return `map[string]${this.#type(schema.additionalProperties)}`;
    const [only, ...others] = recordsAt(schema, 'allOf');
    if (only && others.length === 0 && !schema.properties) return this.#type(only);
    const reference = textAt(schema, '$ref');
    const type = textAt(this.#resolve(schema), 'type');
    if (reference && (!type || type === 'object')) return reference.split(/[./]/).at(-1) || 'Object';
    return !type || type === 'object' ? 'Object' : type;
  }

  #resolve(schema: JsonObject): JsonObject {
    const reference = textAt(schema, '$ref');
    return reference ? recordAt(this.#schemas, reference.slice(reference.lastIndexOf('/') + 1)) : schema;
  }
}

/**
 * Returns the parts of a schema besides its own fields: alternatives, the items of a list, the values of a
 * map.
 */
function partsOf(schema: JsonObject): JsonObject[] {
  const { items, additionalProperties } = schema;
  return [...recordsAt(schema, 'allOf'), ...[items, additionalProperties].filter(isRecord)];
}

const isRequired = ({ required }: JsonObject, name: string) =>
  Array.isArray(required) && required.includes(name);

const enumOf = (schema: JsonObject): string[] =>
  Array.isArray(schema.enum) ? schema.enum.map((value) => (value === '' ? '""' : String(value))) : [];

const indent = (margin: number, text: string) => text.replaceAll(/^/gm, ' '.repeat(margin));

/** Wraps text between words to at most `limit` characters; a longer word gets a line of its own. */
function wrap(limit: number, text: string): string {
  return text
    .split('\n')
    .map((line) => wrapLine(limit, line))
    .join('\n');
}

function wrapLine(limit: number, line: string): string {
  let [text, length] = ['', 0];
  for (const [, blanks = '', word = ''] of line.matchAll(/(\s*)(\S+)/g)) {
    const size = [...word].length;
    const fits = length + blanks.length + Math.min(size, limit - 1) <= limit;
    text += fits ? blanks + word : `\n${word}`;
    length = fits ? length + blanks.length + size : size;
  }
  return text;
}
