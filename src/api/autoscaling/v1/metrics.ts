/**
 * Conversion of metrics to and from the form that autoscaling/v1 writes into annotations: the same data under
 * other names.
 */
import { decodeFields, noFindings } from '../../../apimachinery/decode-fields.ts';
import { deepEqual, isRecord, type JsonObject } from '../../../apimachinery/equality.ts';
import { type ObjectType, requiredType } from '../../../apimachinery/field-types.ts';
import { autoscalingFields } from '../v2/rules.ts';
import type { MetricSpec, MetricStatus } from '../v2/types.gen.ts';

/**
 * Field names of a metric: for each source field, which is the same in v2, the path in v2 for each name in
 * v1.
 */
interface Spelling {
  readonly sources: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Quantities that v1 always has. */
  readonly always: readonly string[];
  /** Fills in data that v1 does not have. */
  complete(source: string, metric: JsonObject): void;
  readonly typeName: string;
}

interface Name {
  readonly v1: string;
  /** The field of v2, and the field inside it, if any. */
  readonly field: string;
  readonly below: string | undefined;
  readonly always: boolean;
}

/** A spelling in precomputed form, since it is used for thousands of metrics. */
interface Form extends Pick<Spelling, 'complete'> {
  readonly sources: readonly { readonly source: string; readonly names: readonly Name[] }[];
  readonly type: ObjectType;
}

function formOf({ sources, always, complete, typeName }: Spelling): Form {
  return {
    complete,
    type: requiredType(autoscalingFields, typeName),
    sources: Object.entries(sources).map(([source, names]) => ({
      source,
      names: Object.entries(names).map(([v1, path]) => {
        const [field = '', below] = path.split('.');
        return { v1, field, below, always: always.includes(`${source}.${v1}`) };
      }),
    })),
  };
}

const ofResource = {
  name: 'name',
  targetAverageUtilization: 'target.averageUtilization',
  targetAverageValue: 'target.averageValue',
};
const resourceNow = {
  name: 'name',
  currentAverageUtilization: 'current.averageUtilization',
  currentAverageValue: 'current.averageValue',
};

const specs = formOf({
  sources: {
    object: {
      target: 'describedObject',
      metricName: 'metric.name',
      targetValue: 'target.value',
      selector: 'metric.selector',
      averageValue: 'target.averageValue',
    },
    pods: {
      metricName: 'metric.name',
      targetAverageValue: 'target.averageValue',
      selector: 'metric.selector',
    },
    resource: ofResource,
    containerResource: { ...ofResource, container: 'container' },
    external: {
      metricName: 'metric.name',
      metricSelector: 'metric.selector',
      targetValue: 'target.value',
      targetAverageValue: 'target.averageValue',
    },
  },
  always: ['object.targetValue', 'pods.targetAverageValue'],
  complete(source, { target }) {
    if (!isRecord(target)) return;
    // v1 cannot omit the value of an object; it is zero where only the average counts.
    if (source === 'object' && target.averageValue !== undefined && Number(target.value) === 0)
      delete target.value;
    target.type = targetType(source, target);
  },
  typeName: 'autoscaling.v2.MetricSpec',
});

function targetType(source: string, target: JsonObject): string {
  if (source === 'object') return target.averageValue === undefined ? 'Value' : 'AverageValue';
  if (source === 'external') return target.value === undefined ? 'AverageValue' : 'Value';
  return target.averageUtilization === undefined ? 'AverageValue' : 'Utilization';
}

const statuses = formOf({
  sources: {
    object: {
      target: 'describedObject',
      metricName: 'metric.name',
      currentValue: 'current.value',
      selector: 'metric.selector',
      averageValue: 'current.averageValue',
    },
    pods: {
      metricName: 'metric.name',
      currentAverageValue: 'current.averageValue',
      selector: 'metric.selector',
    },
    resource: resourceNow,
    containerResource: { ...resourceNow, container: 'container' },
    external: {
      metricName: 'metric.name',
      metricSelector: 'metric.selector',
      currentValue: 'current.value',
      currentAverageValue: 'current.averageValue',
    },
  },
  always: [
    'object.currentValue',
    'pods.currentAverageValue',
    'resource.currentAverageValue',
    'containerResource.currentAverageValue',
    'external.currentValue',
  ],
  complete() {},
  typeName: 'autoscaling.v2.MetricStatus',
});

export const metricToV1 = (metric: MetricSpec) => written(metric, specs);
export const metricStatusToV1 = (status: MetricStatus) => written(status, statuses);

/** Both functions throw a TypeMismatch for a field of another type. */
export const metricFromV1 = (entry: unknown) => read(entry, specs) as unknown as MetricSpec;
export const metricStatusFromV1 = (entry: unknown) => read(entry, statuses) as unknown as MetricStatus;

/**
 * Returns the entry for a metric. If v1 cannot represent all of it, the entry includes the v2 metric in a
 * field that other v1 readers ignore.
 */
function written(metric: object, form: Form): JsonObject {
  const entry = plainlyWritten(metric, form);
  return deepEqual(plainlyRead(entry, form), metric) ? entry : { ...entry, v2: metric };
}

/**
 * Returns the metric of an entry. The included v2 metric counts only if the rest of the entry is unchanged.
 */
function read(entry: unknown, form: Form): JsonObject {
  const { v2, ...plain } = isRecord(entry) ? entry : {};
  if (v2 === undefined) return plainlyRead(entry, form);
  const metric = decoded(v2, form);
  return deepEqual(plainlyWritten(metric, form), plain) ? metric : plainlyRead(plain, form);
}

function plainlyWritten(metric: object, form: Form): JsonObject {
  const present = metric as JsonObject;
  const entry: JsonObject = { type: present.type ?? '' };
  for (const { source, names } of form.sources) {
    const inner = present[source];
    if (isRecord(inner)) entry[source] = namedAsV1(inner, names);
  }
  return entry;
}

function namedAsV1(inner: JsonObject, names: readonly Name[]): JsonObject {
  const result: JsonObject = {};
  for (const name of names) {
    const value = fieldOf(inner, name);
    if (value !== undefined && value !== null) result[name.v1] = value;
    else if (name.always) result[name.v1] = '0';
  }
  return result;
}

function fieldOf(inner: JsonObject, { field, below }: Name): unknown {
  const found = inner[field];
  if (below === undefined) return found;
  return isRecord(found) ? found[below] : undefined;
}

function plainlyRead(entry: unknown, form: Form): JsonObject {
  if (!isRecord(entry)) return decoded(entry, form);
  const metric: JsonObject = { type: entry.type };
  for (const { source, names } of form.sources) {
    const inner = entry[source];
    if (inner === undefined || inner === null) continue;
    const named = isRecord(inner) ? namedAsV2(inner, names) : undefined;
    if (named) form.complete(source, named);
    metric[source] = named ?? inner;
  }
  return decoded(metric, form);
}

/** Renames fields to v2. A struct of v2 is present even if v1 has none of its fields. */
function namedAsV2(inner: JsonObject, names: readonly Name[]): JsonObject {
  const result: JsonObject = {};
  for (const { v1, field, below } of names) {
    const value = inner[v1] ?? undefined;
    if (below === undefined) {
      result[field] = value;
      continue;
    }
    const struct = result[field];
    const fields = isRecord(struct) ? struct : {};
    if (value !== undefined) fields[below] = value;
    result[field] = fields;
  }
  return result;
}

const decoded = (value: unknown, { type }: Form): JsonObject => decodeFields(value, type, noFindings());
