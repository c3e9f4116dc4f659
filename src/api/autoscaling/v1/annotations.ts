/** The data that autoscaling/v1 represents as annotations, formatted as text and parsed. */
import { decodeFields, noFindings } from '../../../apimachinery/decode-fields.ts';
import { isRecord, type JsonObject } from '../../../apimachinery/equality.ts';
import { invalidCause } from '../../../apimachinery/field-error.ts';
import { requiredType } from '../../../apimachinery/field-types.ts';
import { parseJson } from '../../../apimachinery/json-decode.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { TypeMismatch } from '../../../apimachinery/scalars.ts';
import { newInvalid } from '../../../apimachinery/status-error.ts';
import { TextError } from '../../../apimachinery/value-limit.ts';
import { roundTripAnnotations as names, otherAnnotations } from '../round-trip-annotations.ts';
import { autoscalingFields } from '../v2/rules.ts';
import type {
  HorizontalPodAutoscalerBehavior as Behavior,
  HorizontalPodAutoscalerCondition as Condition,
  MetricSpec,
  MetricStatus,
} from '../v2/types.gen.ts';
import { metricFromV1, metricStatusFromV1, metricStatusToV1, metricToV1 } from './metrics.ts';

/** Data for which v1 has no fields. */
export interface Carried {
  /** Metrics other than the one for which v1 has a field. */
  readonly metrics?: MetricSpec[] | undefined;
  readonly behavior?: Behavior | undefined;
  readonly currentMetrics?: MetricStatus[] | undefined;
  readonly conditions?: Condition[] | undefined;
}

/**
 * Parses the annotations; a missing annotation is undefined. Throws Invalid (422) for one that cannot be
 * parsed.
 */
export const readCarried = (object: KubeObject): Carried => ({
  metrics: readAnnotation(object, names.metrics, listOf(metricFromV1)),
  behavior: readAnnotation(object, names.behavior, behaviorFrom),
  currentMetrics: readAnnotation(object, names.currentMetrics, listOf(metricStatusFromV1)),
  conditions: readAnnotation(object, names.conditions, listOf(conditionFrom)),
});

/** Returns all annotations of the object in v1. */
export function withCarried(object: KubeObject, carried: Carried): Record<string, string> {
  const { metrics = [], behavior, currentMetrics = [], conditions = [] } = carried;
  return {
    ...otherAnnotations(object),
    ...(metrics.length > 0 && { [names.metrics]: JSON.stringify(metrics.map(metricToV1)) }),
    ...(currentMetrics.length > 0 && {
      [names.currentMetrics]: JSON.stringify(currentMetrics.map(metricStatusToV1)),
    }),
    ...(behavior && { [names.behavior]: JSON.stringify(withKeys(behavior, capital)) }),
    ...(conditions.length > 0 && { [names.conditions]: JSON.stringify(conditions) }),
  };
}

function readAnnotation<T>(
  { kind, metadata }: KubeObject,
  name: string,
  read: (value: unknown) => T,
): T | undefined {
  const text = metadata.annotations?.[name];
  if (text === undefined) return undefined;
  try {
    return read(parseJson(text, false).value);
  } catch (error) {
    if (!(error instanceof TypeMismatch || error instanceof TextError)) throw error;
    // Upstream ignores the annotation, and scales by another metric than requested.
    throw newInvalid({ group: 'autoscaling', kind }, metadata.name, [
      invalidCause(`metadata.annotations[${name}]`, text, error.message),
    ]);
  }
}

const listOf =
  <T>(read: (item: unknown) => T) =>
  (value: unknown): T[] => {
    if (value === null) return [];
    if (!Array.isArray(value)) throw new TypeMismatch('a list was expected');
    return value.map(read);
  };

const decoded = (value: unknown, name: string): unknown =>
  decodeFields(value, requiredType(autoscalingFields, `autoscaling.v2.${name}`), noFindings());

const conditionFrom = (value: unknown) => decoded(value, 'HorizontalPodAutoscalerCondition') as Condition;

/**
 * Parses the behavior. Upstream writes its internal type here, whose field names begin with capitals, and
 * reads them in any case.
 */
function behaviorFrom(value: unknown): Behavior | undefined {
  const { scaleUp, scaleDown } = decoded(
    withKeys(value ?? {}, small),
    'HorizontalPodAutoscalerBehavior',
  ) as Behavior;
  return scaleUp || scaleDown ? { scaleUp, scaleDown } : undefined;
}

const capital = (key: string) => key.charAt(0).toUpperCase() + key.slice(1);
const small = (key: string) => key.charAt(0).toLowerCase() + key.slice(1);

/** Returns a copy in which all fields are renamed. */
function withKeys(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => withKeys(item, rename));
  if (!isRecord(value)) return value;
  const result: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) result[rename(key)] = withKeys(inner, rename);
  return result;
}
