/**
 * The description of a kind or of one of its fields by `ctl explain -o plaintext-openapiv2`, from the
 * definitions of the server's OpenAPI document of version 2, in kubectl's form. Pure.
 */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { recordAt, recordsAt, textAt } from '../objects/objects.ts';
import { noField } from './explain-field.ts';
import { wrapParagraphs } from './explain-v2-wrap.ts';

export interface ExplainedV2 {
  /** The definitions of the document by name. */
  readonly definitions: JsonObject;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  /** Names of fields; lists and maps are skipped. */
  readonly path: readonly string[];
  /** Number of levels of fields to list, one line each; undefined to describe those of the first. */
  readonly levels: number | undefined;
}

/** Maximum width of a line. */
const width = 80;

/** Returns the description. Throws for a kind without a definition, and for a field that does not exist. */
export function explainV2({ definitions, kind, path, levels }: ExplainedV2): string {
  const { group, version } = kind;
  const found = Object.values(definitions)
    .filter(isRecord)
    .find((definition) =>
      recordsAt(definition, 'x-kubernetes-group-version-kind').some(
        (gvk) => gvk.group === group && gvk.version === version && gvk.kind === kind.kind,
      ),
    );
  if (!found) throw new Error(`couldn't find resource for "${group}/${version}, Kind=${kind.kind}"`);
  const explainer = new Explainer(definitions);
  const field = explainer.follow(found, path);
  const head = `KIND:     ${kind.kind}\nVERSION:  ${group && `${group}/`}${version}\n\n`;
  const { descriptions, end } = explainer.descriptions(field);
  const form = formOf(end);
  const type = explainer.typeName(field);
  const name = path.at(-1) ?? '';
  const about = `DESCRIPTION:\n${describe(descriptions)}`;
  if (form === 'any') return head + about;
  if (form === 'plain') return `${head}FIELD:    ${name} <${type}>\n\n${about}`;
  const heading = name && `RESOURCE: ${name} <${type}>\n\n`;
  const fields = levels === undefined ? explainer.fields(end, 3) : explainer.tree(end, levels, 3, new Set());
  return `${head}${heading}${about}\nFIELDS:\n${fields}`;
}

/** Form of a schema, which says how it is printed and followed. */
type Form = 'reference' | 'list' | 'map' | 'fields' | 'plain' | 'any';

function formOf(schema: JsonObject): Form {
  if (textAt(schema, '$ref')) return 'reference';
  const hasFields = isRecord(schema.properties);
  const type = textAt(schema, 'type');
  if (type === '') return hasFields ? 'fields' : 'any';
  if (type === 'array') return 'list';
  if (type !== 'object') return 'plain';
  return hasFields ? 'fields' : 'map';
}

class Explainer {
  readonly #definitions: JsonObject;

  constructor(definitions: JsonObject) {
    this.#definitions = definitions;
  }

  /** Returns the schema at the end of a path; what follows a field without fields of its own is ignored. */
  follow(schema: JsonObject, [name, ...rest]: readonly string[]): JsonObject {
    if (name === undefined) return schema;
    const form = formOf(schema);
    if (form === 'plain' || form === 'any') return schema;
    if (form !== 'fields') return this.follow(this.#within(schema), [name, ...rest]);
    const properties = recordAt(schema, 'properties');
    if (!Object.hasOwn(properties, name)) throw new Error(noField(name, Object.keys(properties)));
    return this.follow(recordAt(properties, name), rest);
  }

  /**
   * Returns the descriptions of a field and of its items or values, and the schema in which they end: one
   * with fields, a plain value, or any value.
   */
  descriptions(schema: JsonObject): { readonly descriptions: string[]; readonly end: JsonObject } {
    const own = textAt(schema, 'description');
    if (['fields', 'plain', 'any'].includes(formOf(schema))) return { descriptions: [own], end: schema };
    const { descriptions, end } = this.descriptions(this.#within(schema));
    return { descriptions: [own, ...descriptions], end };
  }

  /** Returns the fields with their descriptions. */
  fields(schema: JsonObject, margin: number): string {
    const required = Array.isArray(schema.required) ? schema.required : [];
    return fieldsOf(schema)
      .map(([name, field]) => {
        const mark = required.includes(name) ? ' -required-' : '';
        const line = `${' '.repeat(margin)}${name}\t<${this.typeName(field)}>${mark}\n`;
        return `${line}${indented(textAt(field, 'description'), margin + 2)}\n`;
      })
      .join('');
  }

  /** Returns the fields of some levels; a definition within itself is left out. */
  tree(schema: JsonObject, levels: number, margin: number, within: ReadonlySet<string>): string {
    if (levels === 0) return '';
    const form = formOf(schema);
    if (form === 'plain' || form === 'any') return '';
    if (form !== 'fields') {
      const reference = textAt(schema, '$ref');
      if (within.has(reference)) return '';
      return this.tree(
        this.#within(schema),
        levels,
        margin,
        reference ? new Set([...within, reference]) : within,
      );
    }
    return fieldsOf(schema)
      .map(
        ([name, field]) =>
          `${' '.repeat(margin)}${name}\t<${this.typeName(field)}>\n${this.tree(field, levels - 1, margin + 3, within)}`,
      )
      .join('');
  }

  /** Returns a type such as `string`, `[]Object` or `map[string]string`; an empty text for any value. */
  typeName(schema: JsonObject): string {
    switch (formOf(schema)) {
      case 'reference':
        return this.typeName(this.#within(schema));
      case 'list':
        return `[]${this.typeName(this.#within(schema))}`;
      case 'map':
        return `map[string]${this.typeName(this.#within(schema))}`;
      case 'fields':
        return 'Object';
      case 'plain':
        return textAt(schema, 'type');
      case 'any':
        return '';
    }
  }

  /** Returns the schema that a reference names, or that of the items of a list or the values of a map. */
  #within(schema: JsonObject): JsonObject {
    const reference = textAt(schema, '$ref');
    if (reference) return recordAt(this.#definitions, reference.slice(reference.lastIndexOf('/') + 1));
    if (formOf(schema) === 'list') return recordAt(schema, 'items');
    // The values of a map without a schema of values are any values, with the description of the map.
    const { additionalProperties, description } = schema;
    return isRecord(additionalProperties) ? additionalProperties : { description };
  }
}

const fieldsOf = (schema: JsonObject): [string, JsonObject][] => {
  const properties = recordAt(schema, 'properties');
  return Object.keys(properties)
    .sort()
    .map((name) => [name, recordAt(properties, name)]);
};

/** Returns the descriptions with an empty line between each two. */
function describe(descriptions: readonly string[]): string {
  const texts = descriptions.map((text, index) => text && `${index > 0 ? '\n' : ''}${indented(text, 5)}`);
  return texts.join('') || indented('<empty>', 5);
}

/** Returns the text as wrapped lines with a margin; empty lines have none. */
const indented = (text: string, margin: number): string =>
  wrapParagraphs(text, width - margin)
    .map((line) => (line === '' ? '\n' : `${' '.repeat(margin)}${line}\n`))
    .join('');
