/** Rules of a metric: one source, of the type that it names, with a suitable target. */
import {
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import { checkDns1123Label, checkPathSegment, nameCauses } from '../../../apimachinery/names.ts';
import { tryParseQuantity } from '../../../apimachinery/quantity.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateContainerResourceName } from '../../core/v1/container/resource-names.ts';
import type {
  ContainerResourceMetricSource,
  CrossVersionObjectReference,
  ExternalMetricSource,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
  ResourceMetricSource,
} from './types.gen.ts';

/** The field of each type, in the order in which they are checked. */
const sources = {
  Object: 'object',
  External: 'external',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
} as const;

const targetTypes: ReadonlySet<string> = new Set(['Utilization', 'Value', 'AverageValue']);

type Source = (typeof sources)[keyof typeof sources];

export function validateMetric(metric: MetricSpec, path: string): StatusCause[] {
  const { type } = metric;
  const causes = type === '' ? [requiredCause(`${path}.type`, 'must specify a metric source type')] : [];
  const expected = new Map<string, Source>(Object.entries(sources)).get(type);
  if (!expected) causes.push(notSupportedCause(`${path}.type`, type, Object.keys(sources).sort()));
  const present = Object.values(sources).filter((source) => metric[source] !== undefined);
  const [first] = present;
  // Further sources are not validated, as upstream.
  if (first) causes.push(...validateSource(metric, first, `${path}.${first}`));
  if (expected && !metric[expected])
    causes.push(
      requiredCause(`${path}.${expected}`, 'must populate information for the given metric source'),
    );
  if (present.length < 2) return causes;
  const others = present.filter((source) => source !== expected);
  return [
    ...causes,
    ...others.map((source) =>
      forbiddenCause(`${path}.${source}`, 'must populate the given metric source only'),
    ),
  ];
}

const sourceRules: {
  readonly [S in Source]: (source: NonNullable<MetricSpec[S]>, path: string) => StatusCause[];
} = {
  object: validateObject,
  external: validateExternal,
  pods: validatePods,
  resource: validateResource,
  containerResource: validateOfContainer,
};

function validateSource<S extends Source>(metric: MetricSpec, source: S, path: string): StatusCause[] {
  const found = metric[source];
  return found ? sourceRules[source](found, path) : [];
}

function validateObject(source: ObjectMetricSource, path: string): StatusCause[] {
  return [
    ...validateReference(source.describedObject, `${path}.describedObject`),
    ...validateNamed(source, path),
    ...needsValue(source.target, path, 'must set either a target value or averageValue'),
  ];
}

function validateExternal(source: ExternalMetricSource, path: string): StatusCause[] {
  const noTarget = 'must set either a target value for metric or a per-pod target';
  return [
    ...validateNamed(source, path),
    ...needsValue(source.target, path, noTarget),
    ...oneValue(source.target, path),
  ];
}

function validatePods(source: PodsMetricSource, path: string): StatusCause[] {
  const causes = validateNamed(source, path);
  if (source.target.averageValue !== undefined) return causes;
  const why = 'must specify a positive target averageValue';
  return [...causes, requiredCause(`${path}.target.averageValue`, why)];
}

function validateResource({ name, target }: ResourceMetricSource, path: string): StatusCause[] {
  return [...requiredName(name, path), ...validateUsage(target, `${path}.target`)];
}

function validateOfContainer(
  { name, container, target }: ContainerResourceMetricSource,
  path: string,
): StatusCause[] {
  return [
    ...(name === '' ? requiredName(name, path) : validateContainerResourceName(name, `${path}.name`)),
    ...(container === ''
      ? [requiredCause(`${path}.container`, 'must specify a container')]
      : nameCauses(`${path}.container`, container, checkDns1123Label)),
    ...validateUsage(target, `${path}.target`),
  ];
}

const requiredName = (name: string, path: string) =>
  name === '' ? [requiredCause(`${path}.name`, 'must specify a resource name')] : [];

/** Validates a metric that has a name. */
const validateNamed = (
  { metric, target }: { metric: MetricIdentifier; target: MetricTarget },
  path: string,
): StatusCause[] => [
  ...requiredSegment(metric.name, `${path}.metric.name`, 'must specify a metric name'),
  ...validateTarget(target, `${path}.target`),
];

const needsValue = ({ value, averageValue }: MetricTarget, path: string, why: string): StatusCause[] =>
  value === undefined && averageValue === undefined
    ? [requiredCause(`${path}.target.averageValue`, why)]
    : [];

const oneValue = ({ value, averageValue }: MetricTarget, path: string): StatusCause[] =>
  value !== undefined && averageValue !== undefined
    ? [
        forbiddenCause(
          `${path}.target.value`,
          'may not set both a target value for metric and a per-pod target',
        ),
      ]
    : [];

/** Validates the target of a resource: an amount, or a utilization of the request. */
function validateUsage(target: MetricTarget, path: string): StatusCause[] {
  const { averageUtilization, averageValue } = target;
  const causes = validateTarget(target, path);
  if (averageUtilization === undefined && averageValue === undefined)
    causes.push(
      requiredCause(
        `${path}.averageUtilization`,
        'must set either a target raw value or a target utilization',
      ),
    );
  if (averageUtilization !== undefined && averageValue !== undefined)
    causes.push(
      forbiddenCause(`${path}.averageValue`, 'may not set both a target raw value and a target utilization'),
    );
  return causes;
}

function validateTarget(target: MetricTarget, path: string): StatusCause[] {
  const { type, averageUtilization } = target;
  const causes = type === '' ? [requiredCause(`${path}.type`, 'must specify a metric target type')] : [];
  if (!targetTypes.has(type))
    causes.push(invalidCause(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue'));
  for (const field of ['value', 'averageValue'] as const) {
    const amount = target[field];
    if (amount !== undefined && (tryParseQuantity(amount)?.nano ?? 0n) <= 0n)
      causes.push(invalidCause(`${path}.${field}`, amount, 'must be positive'));
  }
  if (averageUtilization !== undefined && averageUtilization < 1)
    causes.push(invalidCause(`${path}.averageUtilization`, averageUtilization, 'must be greater than 0'));
  return causes;
}

export const validateReference = (
  { kind, name }: CrossVersionObjectReference,
  path: string,
): StatusCause[] => [...requiredSegment(kind, `${path}.kind`), ...requiredSegment(name, `${path}.name`)];

/** Validates a required text that becomes a URL segment. */
const requiredSegment = (value: string, path: string, detail = ''): StatusCause[] =>
  value === '' ? [requiredCause(path, detail)] : nameCauses(path, value, checkPathSegment);
