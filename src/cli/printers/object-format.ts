/**
 * Formats of objects: `-o json`, `yaml`, `name`, `jsonpath=…`, `custom-columns=…`, and templates from files.
 */
import { isRecord, type JsonObject, sortKeys } from '../../apimachinery/equality.ts';
import { evaluateTemplate, findAll } from '../../apimachinery/jsonpath/evaluate.ts';
import { parseTemplate } from '../../apimachinery/jsonpath/parse.ts';
import { formatYaml } from '../../apimachinery/yaml.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { readBoundedSync } from '../../os/bounded-file.ts';
import { itemsOf, metadataOf } from '../objects/objects.ts';
import { columnsOfFile, columnsOfSpec, customColumns } from './custom-columns.ts';

/** Returns the text of one object or of a List of objects. */
export type ObjectFormat = (object: JsonObject) => string;

export interface FormatOptions {
  /** True for custom columns without their line of headers. */
  readonly noHeaders?: boolean;
}

/**
 * Returns the format that `-o` names; undefined for a table. Throws UsageError for an unknown format, and for
 * a template that is missing, unreadable or invalid.
 */
export function objectFormat(
  output: string | undefined,
  { noHeaders = false }: FormatOptions = {},
): ObjectFormat | undefined {
  if (output === undefined || output === '' || output === 'wide') return undefined;
  const equals = output.indexOf('=');
  const name = equals < 0 ? output : output.slice(0, equals);
  const plain = plainFormats[output];
  if (plain) return plain;
  const template = templateFormats[name];
  if (!template)
    throw new UsageError(
      `unable to match a printer suitable for the output format ${JSON.stringify(output)}: ` +
        `allowed formats are: ${[...Object.keys(plainFormats), ...Object.keys(templateFormats), 'wide'].sort().join(',')}`,
    );
  const given = equals < 0 ? '' : output.slice(equals + 1);
  if (!given) throw new UsageError(`-o ${name} needs a template: -o ${name}='${template.example}'`);
  return template.format(given, noHeaders);
}

const plainFormats: Readonly<Record<string, ObjectFormat>> = {
  json: (object) => `${JSON.stringify(sortKeys(object), null, 4)}\n`,
  yaml: (object) => formatYaml(sortKeys(object)),
  name: (object) =>
    itemsOf(object)
      .map((item) => `${qualifiedName(item)}\n`)
      .join(''),
};

interface TemplateFormat {
  readonly example: string;
  format(template: string, noHeaders: boolean): ObjectFormat;
}

const templateFormats: Readonly<Record<string, TemplateFormat>> = {
  jsonpath: { example: '{.metadata.name}', format: jsonpath },
  'jsonpath-file': { example: 'template.txt', format: (file) => jsonpath(templateIn(file)) },
  'jsonpath-as-json': {
    example: '{.metadata.name}',
    format: (template) => {
      const nodes = parseTemplate(template);
      return (object) => `${JSON.stringify(findAll(nodes, object).map(sortKeys), null, 4)}\n`;
    },
  },
  'custom-columns': {
    example: 'NAME:.metadata.name',
    format: (spec, noHeaders) => customColumns(columnsOfSpec(spec), noHeaders),
  },
  'custom-columns-file': {
    example: 'columns.txt',
    format: (file, noHeaders) => customColumns(columnsOfFile(templateIn(file), file), noHeaders),
  },
};

function jsonpath(template: string): ObjectFormat {
  const nodes = parseTemplate(template);
  return (object) => evaluateTemplate(nodes, object);
}

function templateIn(file: string): string {
  try {
    return readBoundedSync(file);
  } catch (error) {
    throw new UsageError(`error reading template ${file}: ${errorMessage(error)}`);
  }
}

/** Returns a name such as `deployment.apps/web`. */
export function qualifiedName(object: JsonObject): string {
  const { apiVersion, kind } = object;
  const version = typeof apiVersion === 'string' ? apiVersion : '';
  const group = version.includes('/') ? `.${version.slice(0, version.indexOf('/'))}` : '';
  return `${String(kind).toLowerCase()}${group}/${metadataOf(object).name}`;
}

/** Removes `metadata.managedFields`, which is not meant for readers. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  if (!isRecord(object.metadata) || !('managedFields' in object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

export const listOf = (items: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'v1',
  kind: 'List',
  metadata: { resourceVersion: '' },
  items: [...items],
});
