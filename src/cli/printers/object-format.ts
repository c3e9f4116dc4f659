/** Objects as text: `-o json`, `yaml`, `name`, `jsonpath=…`, `custom-columns=…`. */
import { isRecord, type JsonObject, setOwn } from '../../apimachinery/equality.ts';
import { formatYaml } from '../../apimachinery/yaml.ts';
import { UsageError } from '../../base/usage-error.ts';
import { evaluateTemplate, findAll, formatResults } from '../jsonpath/evaluate.ts';
import { parsePath, parseTemplate } from '../jsonpath/parse.ts';
import { metadataOf, recordsAt } from '../objects.ts';
import { TableWriter } from './table-writer.ts';

/** The text of one object or of a List of them. */
export type ObjectFormat = (object: JsonObject) => string;

/** The format that `-o` names; undefined when it is a table. Throws UsageError for one that is unknown. */
export function objectFormat(output: string | undefined): ObjectFormat | undefined {
  if (output === undefined || output === '' || output === 'wide') return undefined;
  const equals = output.indexOf('=');
  const name = equals < 0 ? output : output.slice(0, equals);
  const template = equals < 0 ? undefined : output.slice(equals + 1);
  switch (name) {
    case 'json':
      return (object) => `${JSON.stringify(sortKeys(object), null, 4)}\n`;
    case 'yaml':
      return (object) => formatYaml(sortKeys(object));
    case 'name':
      return (object) =>
        itemsOf(object)
          .map((item) => `${qualifiedName(item)}\n`)
          .join('');
    case 'jsonpath': {
      const nodes = parseTemplate(needed(name, template, '{.metadata.name}'));
      return (object) => evaluateTemplate(nodes, object);
    }
    case 'jsonpath-as-json': {
      const nodes = parseTemplate(needed(name, template, '{.metadata.name}'));
      return (object) => `${JSON.stringify(findAll(nodes, object).map(sortKeys), null, 4)}\n`;
    }
    case 'custom-columns':
      return customColumns(needed(name, template, 'NAME:.metadata.name'));
    default:
      throw new UsageError(
        `unable to match a printer suitable for the output format ${JSON.stringify(output)}: ` +
          'allowed formats are: custom-columns,json,jsonpath,jsonpath-as-json,name,wide,yaml',
      );
  }
}

function needed(name: string, template: string | undefined, example: string): string {
  if (!template) throw new UsageError(`-o ${name} needs a template: -o ${name}='${example}'`);
  return template;
}

const itemsOf = (object: JsonObject) => (Array.isArray(object.items) ? recordsAt(object, 'items') : [object]);

/** `deployment.apps/web`. */
export function qualifiedName(object: JsonObject): string {
  const { apiVersion, kind } = object;
  const version = typeof apiVersion === 'string' ? apiVersion : '';
  const group = version.includes('/') ? `.${version.slice(0, version.indexOf('/'))}` : '';
  return `${String(kind).toLowerCase()}${group}/${metadataOf(object).name}`;
}

/** As Go writes maps: by key. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isRecord(value)) return value;
  const sorted: JsonObject = {};
  for (const key of Object.keys(value).sort()) setOwn(sorted, key, sortKeys(value[key]));
  return sorted;
}

/** `metadata.managedFields` says nothing to people. */
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

function customColumns(spec: string): ObjectFormat {
  const columns = spec.split(',').map((column) => {
    const colon = column.indexOf(':');
    if (colon < 1)
      throw new UsageError(`-o custom-columns: expected HEADER:.field for ${JSON.stringify(column)}`);
    return { header: column.slice(0, colon), nodes: parsePath(column.slice(colon + 1)) };
  });
  return (object) => {
    const rows = itemsOf(object).map((item) =>
      columns.map(({ nodes }) => {
        const found = findAll(nodes, item);
        return found.length > 0 ? found.map((value) => formatResults([value])).join(',') : '<none>';
      }),
    );
    return new TableWriter().format([columns.map(({ header }) => header), ...rows]);
  };
}
