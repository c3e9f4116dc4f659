/**
 * Formats of objects: `-o json`, `yaml`, `name`, `jsonpath=…`, `go-template=…`, `custom-columns=…`, and
 * templates from files.
 */
import { isRecord, type JsonObject, sortKeys } from '../../apimachinery/equality.ts';
import { goJson } from '../../apimachinery/go-json.ts';
import { goShape } from '../../apimachinery/go-shape.ts';
import { evaluateGoTemplate } from '../../apimachinery/go-template/evaluate.ts';
import { parseGoTemplate } from '../../apimachinery/go-template/parse.ts';
import { evaluateTemplate, findAll } from '../../apimachinery/jsonpath/evaluate.ts';
import { parseTemplate } from '../../apimachinery/jsonpath/parse.ts';
import { formatYaml } from '../../apimachinery/yaml-output/format-yaml.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { readBoundedSync } from '../../os/bounded-file.ts';
import { nearest } from '../../terminal/nearest.ts';
import type { Flags } from '../flags/flags.ts';
import type { Io } from '../io.ts';
import { typeOfObject } from '../local/kind-types.ts';
import { itemsOf, metadataOf } from '../objects/objects.ts';
import { columnsOfFile, columnsOfSpec, customColumns } from './custom-columns.ts';

/** Returns the text of one object or of a List of objects. */
export type ObjectFormat = (object: JsonObject) => string;

export interface FormatOptions {
  /** True for custom columns without their line of headers. */
  readonly noHeaders?: boolean;
  /** Template of the flag --template; undefined if the format itself contains the template. */
  readonly template?: string | undefined;
  /** True if a missing field of a template is an error. */
  readonly missingKeyIsError?: boolean;
}

/**
 * Returns the format for an object that the client made. JSON keeps the order of the object's fields, which
 * is that of Go's types.
 */
export function madeFormat(flags: Flags): ObjectFormat | undefined {
  if (outputOf(flags) === 'json') {
    const isWhole = flags.on('show-managed-fields');
    return (object) => `${goJson(isWhole ? object : withoutManagedFields(object), 4)}\n`;
  }
  const format = printedFormat(flags);
  return format && ((object) => format(sortKeys(object) as JsonObject));
}

/**
 * Returns the format of printedFormat for the commands in which kubectl reads the server's answer into Go's
 * types: JSON has the order of their fields, and JSON and YAML have the fields that Go always writes.
 */
export async function typedFormat({ io, flags }: FormatContext): Promise<ObjectFormat | undefined> {
  const output = outputOf(flags);
  if (output !== 'json' && output !== 'yaml') return printedFormat(flags);
  const format = madeFormat(flags);
  const fields = await io.kubernetesFields();
  return (object) => {
    const type = typeOfObject(object, fields);
    return format?.(type ? goShape(object, type) : (sortKeys(object) as JsonObject)) ?? '';
  };
}

interface FormatContext {
  readonly io: Pick<Io, 'kubernetesFields'>;
  readonly flags: Flags;
}

/** Returns the value of -o; as in kubectl, json, yaml and name may be in capitals. */
function outputOf(flags: Flags): string | undefined {
  const text = flags.text('output');
  const lower = text?.toLowerCase() ?? '';
  return Object.hasOwn(plainFormats, lower) ? lower : text;
}

/**
 * Returns the format that the flags of `printFlags` name; undefined for a table. JSON and YAML are without
 * `metadata.managedFields`, unless --show-managed-fields is given; `---` separates documents of YAML that one
 * command prints. Throws UsageError as `objectFormat` does.
 */
export function printedFormat(flags: Flags): ObjectFormat | undefined {
  const output = outputOf(flags);
  const missingKeyIsError =
    flags.given('allow-missing-template-keys') && !flags.on('allow-missing-template-keys');
  const options = { noHeaders: flags.on('no-headers'), template: flags.text('template'), missingKeyIsError };
  const format = objectFormat(output, options);
  const isWhole = flags.on('show-managed-fields') || (output !== 'json' && output !== 'yaml');
  const shown: ObjectFormat | undefined =
    format && !isWhole ? (object) => format(withoutManagedFields(object)) : format;
  return shown && output === 'yaml' ? separated(shown) : shown;
}

/**
 * Returns the format that `-o` names; undefined for a table. Throws UsageError for an unknown format, and for
 * a template that is missing, unreadable or invalid.
 */
export function objectFormat(
  output: string | undefined,
  options: FormatOptions = {},
): ObjectFormat | undefined {
  if (options.template && !output) return objectFormat('go-template', options);
  if (output === undefined || output === '' || output === 'wide') return undefined;
  const equals = output.indexOf('=');
  const name = equals < 0 ? output : output.slice(0, equals);
  const plain = plainFormats[output];
  if (plain) return plain;
  const template = templateFormats[name];
  if (!template) throw new UsageError(unknownFormat(output));
  const given = equals < 0 ? options.template : output.slice(equals + 1);
  if (!given) throw new UsageError(`-o ${name} needs a template: -o ${name}='${template.example}'`);
  return template.format(given, options);
}

/** Returns the message for an unknown format, with similar ones. */
function unknownFormat(output: string): string {
  const known = [...Object.keys(plainFormats), ...Object.keys(templateFormats), 'wide'].sort();
  const meant = nearest(output, known);
  return (
    `unable to match a printer suitable for the output format ${JSON.stringify(output)}: ` +
    `allowed formats are: ${known.join(',')}${meant.length > 0 ? `; did you mean ${meant.join(' or ')}?` : ''}`
  );
}

const plainFormats: Readonly<Record<string, ObjectFormat>> = {
  json: (object) => `${goJson(sortKeys(object), 4)}\n`,
  yaml: (object) => formatYaml(sortKeys(object)),
  name: (object) =>
    itemsOf(object)
      .map((item) => `${qualifiedName(item)}\n`)
      .join(''),
};

/** Returns a format that separates each document from the one before it. */
function separated(format: ObjectFormat): ObjectFormat {
  let separator = '';
  return (object) => {
    const document = separator + format(object);
    separator = '---\n';
    return document;
  };
}

interface TemplateFormat {
  readonly example: string;
  format(template: string, options: FormatOptions): ObjectFormat;
}

const jsonpathFormat: TemplateFormat = {
  example: '{.metadata.name}',
  format: (template, { missingKeyIsError = false }) => {
    const nodes = parseTemplate(template);
    return (object) => evaluateTemplate(nodes, object, { missingKeyIsError });
  },
};

const goTemplateFormat: TemplateFormat = {
  example: '{{.metadata.name}}',
  format: (template, { missingKeyIsError = false }) => {
    const parsed = parseGoTemplate(template);
    return (object) => evaluateGoTemplate(parsed, object, { missingKeyIsError });
  },
};

const customColumnsFormat: TemplateFormat = {
  example: 'NAME:.metadata.name',
  format: (spec, { noHeaders = false }) => customColumns(columnsOfSpec(spec), noHeaders),
};

/** Returns the same format with a template in a file. */
const inFile = (format: TemplateFormat, example: string): TemplateFormat => ({
  example,
  format: (file, options) => format.format(templateIn(file), options),
});

const templateFormats: Readonly<Record<string, TemplateFormat>> = {
  jsonpath: jsonpathFormat,
  'jsonpath-file': inFile(jsonpathFormat, 'template.txt'),
  'jsonpath-as-json': {
    example: '{.metadata.name}',
    format: (template) => {
      const nodes = parseTemplate(template);
      return (object) => `${goJson(findAll(nodes, object).map(sortKeys), 4)}\n`;
    },
  },
  'go-template': goTemplateFormat,
  'go-template-file': inFile(goTemplateFormat, 'template.txt'),
  template: goTemplateFormat,
  templatefile: inFile(goTemplateFormat, 'template.txt'),
  'custom-columns': customColumnsFormat,
  'custom-columns-file': {
    example: 'columns.txt',
    format: (file, { noHeaders = false }) => customColumns(columnsOfFile(templateIn(file), file), noHeaders),
  },
};

function templateIn(file: string): string {
  try {
    return readBoundedSync(file);
  } catch (error) {
    throw new UsageError(`error reading template ${file}, ${errorMessage(error)}`);
  }
}

/** Returns a name such as `deployment.apps/web`. */
export function qualifiedName(object: JsonObject): string {
  const { apiVersion, kind } = object;
  const version = typeof apiVersion === 'string' ? apiVersion : '';
  const group = version.includes('/') ? `.${version.slice(0, version.indexOf('/'))}` : '';
  return `${String(kind).toLowerCase()}${group}/${metadataOf(object).name || '<unknown>'}`;
}

/**
 * Returns the object, or the list and its items, without `metadata.managedFields`, which few readers need.
 */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const items = object.items;
  const rest = Array.isArray(items)
    ? { ...object, items: items.map((item) => (isRecord(item) ? withoutManagedFields(item) : item)) }
    : object;
  if (!isRecord(rest.metadata) || !('managedFields' in rest.metadata)) return rest;
  const { managedFields: _, ...metadata } = rest.metadata;
  return { ...rest, metadata };
}

export const listOf = (items: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'v1',
  kind: 'List',
  metadata: { resourceVersion: '' },
  items: [...items],
});
