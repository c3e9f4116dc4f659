/**
 * All that is wrong with an object that breaks the schema of its kind. Kubernetes decodes first and validates then, so a
 * client learns of a wrong choice, a bad name and a port out of range at once. Here the schema finds wrong choices and
 * missing fields; the kind's validation is asked for the rest.
 */
import * as v from 'valibot';
import { isRecord, type JsonObject, setOwn } from './equality.ts';
import { invalidCause, notSupportedCause, requiredCause } from './field-error.ts';
import type { Scalar } from './field-types.ts';
import type { KubeObject } from './meta.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { type Schema, type SchemaView, viewSchema } from './schema-types.ts';
import { maxCauses, type StatusCause } from './status-error.ts';
import { metaCauses } from './validate-meta.ts';

export interface SchemaFailure {
  readonly issues: readonly v.BaseIssue<unknown>[];
  /** What the schema made of the object: defaults filled in, wrong choices as they came. Changed here. */
  readonly output: unknown;
}

/** What valibot finds where only some texts are good; a variant's issue is about the field that tells which. */
const choiceIssues: ReadonlySet<string> = new Set(['picklist', 'literal', 'enum', 'variant']);

/** One cause for each field, the first hundred of the schema's; `found` counts those beyond it too. */
export function causesOf<T extends KubeObject>(
  definition: ResourceDefinition<T>,
  { issues, output }: SchemaFailure,
): { readonly causes: StatusCause[]; readonly found: number } {
  const causes = issues.slice(0, maxCauses).map(issueCause);
  const fields = new Set(causes.map(({ field }) => field));
  const others = validationCauses(definition, issues, output).filter(({ field }) => !fields.has(field));
  return { causes: [...causes, ...others], found: issues.length + others.length };
}

/**
 * What validation says beside the schema. It takes for granted that every field is there and of its type, so it is asked
 * only when nothing but choices and missing fields is wrong, and a missing field has Go's zero value then, as upstream.
 */
function validationCauses<T extends KubeObject>(
  definition: ResourceDefinition<T>,
  issues: readonly v.BaseIssue<unknown>[],
  output: unknown,
): StatusCause[] {
  if (issues.length > maxCauses || !isRecord(output)) return [];
  for (const issue of issues) {
    // For a variant with a wrong choice the schema has not filled in defaults.
    const known = isChoice(issue) && issue.type !== 'variant';
    if (issue.input === undefined ? !fillMissing(output, definition.schema, issue) : !known) return [];
  }
  const object = output as unknown as T;
  const { strategy, namespaced, hasStatus } = definition;
  if (hasStatus && !strategy.keepsStatusOnCreate) delete (output as { status?: unknown }).status;
  // Name and namespace may still come from the URL of the request, or be generated.
  object.metadata.name ||= 'x';
  if (namespaced) object.metadata.namespace ||= 'x';
  strategy.setDefaults?.(object);
  return [...metaCauses(definition, object), ...(strategy.validate?.(object) ?? [])];
}

const isChoice = ({ type, input }: v.BaseIssue<unknown>) =>
  choiceIssues.has(type) && typeof input === 'string';

/** False when there is no such value. */
function fillMissing(object: JsonObject, schema: Schema, { path }: v.BaseIssue<unknown>): boolean {
  let holder: unknown = object;
  let inner: Schema | undefined = schema;
  const keys = (path ?? []).map(({ key }) => key);
  const last = keys.pop();
  for (const key of keys) {
    inner = inner && below(viewSchema(inner), key);
    holder = isRecord(holder) || Array.isArray(holder) ? (holder as JsonObject)[String(key)] : undefined;
  }
  const missing = inner && below(viewSchema(inner), last);
  const zero = missing && zeroOf(missing);
  if (zero === undefined || !isRecord(holder)) return false;
  setOwn(holder, String(last), zero);
  return true;
}

function below(view: SchemaView, key: unknown): Schema | undefined {
  if (view.kind === 'object') return view.entries.get(String(key))?.schema;
  if (view.kind === 'list') return view.items;
  return view.kind === 'map' ? view.values : undefined;
}

const zeroScalars: Readonly<Record<Scalar, unknown>> = {
  string: '',
  bytes: '',
  time: '',
  microTime: '',
  quantity: '0',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  intOrString: 0,
};

/** As in Go; undefined for what may be anything. */
function zeroOf(schema: Schema): unknown {
  const view = viewSchema(schema);
  switch (view.kind) {
    case 'object':
      // With the defaults of what is in it.
      return v.safeParse(schema as v.GenericSchema, {}).output;
    case 'list':
      return [];
    case 'map':
      return {};
    case 'choice':
      return '';
    case 'scalar':
      return view.type.kind === 'scalar' ? zeroScalars[view.type.scalar] : undefined;
    case 'any':
      return undefined;
  }
}

/** One cause for a broken rule of a schema, in Kubernetes' words. */
function issueCause(issue: v.BaseIssue<unknown>): StatusCause {
  const path = issuePath(issue);
  if (issue.input === undefined) return requiredCause(path);
  if (isChoice(issue)) return notSupportedCause(path, issue.input, quoted(issue.expected ?? ''));
  return invalidCause(path, issue.input, issue.message);
}

function issuePath(issue: v.BaseIssue<unknown>): string {
  let path = '';
  for (const { key } of issue.path ?? [])
    path += typeof key === 'number' ? `[${key}]` : path ? `.${String(key)}` : String(key);
  return path;
}

/** The texts in valibot's `("A" | "B")`. */
const quoted = (expected: string) =>
  [...expected.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([text]) => text.slice(1, -1));
