/** A metric as autoscaling/v1 writes it into annotations, and back: the same facts, under other names. */
import { decodeFields, noFindings } from '../../../apimachinery/decode-fields.ts';
import { deepEqual, isRecord, type JsonObject } from '../../../apimachinery/equality.ts';
import { requiredType } from '../../../apimachinery/field-types.ts';
import { autoscalingFields } from '../v2/rules.ts';
import type { MetricSpec, MetricStatus } from '../v2/types.gen.ts';

/** How one kind of metric is written: by the name in v1 the path in v2. */
type Names = Readonly<Record<string, string>>;

interface Form {
  /** By the field of the source; those of v2 have the same. */
  readonly sources: Readonly<Record<string, Names>>;
  /** Quantities that v1 always has. */
  readonly always: ReadonlySet<string>;
  /** Completes what v1 does not say. */
  complete(source: string, metric: JsonObject): void;
  readonly typeName: string;
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

const specs: Form = {
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
  always: new Set(['object.targetValue', 'pods.targetAverageValue']),
  complete(source, { target }) {
    if (!isRecord(target)) return;
    // v1 cannot leave the value of an object out, and has zero where only the average counts.
    if (source === 'object' && target.averageValue !== undefined && Number(target.value) === 0)
      delete target.value;
    target.type = targetType(source, target);
  },
  typeName: 'autoscaling.v2.MetricSpec',
};

function targetType(source: string, target: JsonObject): string {
  if (source === 'object') return target.averageValue === undefined ? 'Value' : 'AverageValue';
  if (source === 'external') return target.value === undefined ? 'AverageValue' : 'Value';
  return target.averageUtilization === undefined ? 'AverageValue' : 'Utilization';
}

const statuses: Form = {
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
  always: new Set([
    'object.currentValue',
    'pods.currentAverageValue',
    'resource.currentAverageValue',
    'containerResource.currentAverageValue',
    'external.currentValue',
  ]),
  complete() {},
  typeName: 'autoscaling.v2.MetricStatus',
};

export const metricToV1 = (metric: MetricSpec) => written(metric, specs);
export const metricStatusToV1 = (status: MetricStatus) => written(status, statuses);

/** Both throw a TypeMismatch for a field of another type. */
export const metricFromV1 = (entry: unknown) => read(entry, specs) as unknown as MetricSpec;
export const metricStatusFromV1 = (entry: unknown) => read(entry, statuses) as unknown as MetricStatus;

/** Where v1 cannot say all of it, the metric itself stands beside, in a field that other readers of v1 pass over. */
function written(metric: object, form: Form): JsonObject {
  const entry = plainlyWritten(metric, form);
  return deepEqual(plainlyRead(entry, form), metric) ? entry : { ...entry, v2: metric };
}

/** The metric beside counts while the entry still says the same. */
function read(entry: unknown, form: Form): JsonObject {
  const { v2, ...plain } = isRecord(entry) ? entry : {};
  if (v2 === undefined) return plainlyRead(entry, form);
  const metric = decoded(v2, form);
  return deepEqual(plainlyWritten(metric, form), plain) ? metric : plainlyRead(plain, form);
}

function plainlyWritten(metric: object, form: Form): JsonObject {
  const { type, ...present } = { type: '', ...metric } as JsonObject;
  const entry: JsonObject = { type };
  for (const [source, names] of Object.entries(form.sources)) {
    const inner = present[source];
    if (!isRecord(inner)) continue;
    const pairs = Object.entries(names).map(([name, path]): [string, unknown] => [
      name,
      valueAt(inner, path) ?? (form.always.has(`${source}.${name}`) ? '0' : undefined),
    ]);
    entry[source] = Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
  }
  return entry;
}

function plainlyRead(entry: unknown, form: Form): JsonObject {
  if (!isRecord(entry)) return decoded(entry, form);
  const metric: JsonObject = { type: entry.type };
  for (const [source, names] of Object.entries(form.sources)) {
    const inner = entry[source];
    if (inner === undefined || inner === null) continue;
    metric[source] = isRecord(inner) ? renamed(inner, names) : inner;
    if (isRecord(metric[source])) form.complete(source, metric[source]);
  }
  return decoded(metric, form);
}

function renamed(inner: JsonObject, names: Names): JsonObject {
  const result: JsonObject = {};
  for (const [name, path] of Object.entries(names)) {
    const value = inner[name] ?? undefined;
    const [field = '', below] = path.split('.');
    if (below === undefined) result[field] = value;
    else
      result[field] = {
        ...(isRecord(result[field]) && result[field]),
        ...(value !== undefined && { [below]: value }),
      };
  }
  return result;
}

const decoded = (value: unknown, { typeName }: Form): JsonObject =>
  decodeFields(value, requiredType(autoscalingFields, typeName), noFindings());

function valueAt(object: JsonObject, path: string): unknown {
  const [field = '', below] = path.split('.');
  const value = object[field];
  if (below === undefined) return value;
  return isRecord(value) ? value[below] : undefined;
}
