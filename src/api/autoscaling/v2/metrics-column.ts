/** The Targets column: current and target values of the first two metrics (upstream: formatHPAMetrics). */
import { none, unknown } from '../../columns.ts';
import type { MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from './types.gen.ts';

const maxShown = 2;

/** Go's output for a missing quantity. */
const nil = '<nil>';

export function formatMetrics(specs: readonly MetricSpec[], statuses: readonly MetricStatus[]): string {
  if (specs.length === 0) return none;
  const texts = specs.slice(0, maxShown).map((spec, index) => formatMetric(spec, statuses[index]));
  const more = specs.length > maxShown ? ` + ${specs.length - maxShown} more...` : '';
  return `${texts.join(', ')}${more}`;
}

/** Formats a metric. The status at the same index belongs to it if it has the same type. */
function formatMetric(spec: MetricSpec, status: MetricStatus | undefined): string {
  switch (spec.type) {
    case 'External':
      return perPodOrWhole(spec.external?.target, status?.external?.current);
    case 'Object':
      return perPodOrWhole(spec.object?.target, status?.object?.current);
    case 'Pods': {
      const current = status?.pods ? (status.pods.current.averageValue ?? nil) : unknown;
      return `${current}/${spec.pods?.target.averageValue ?? nil}`;
    }
    case 'Resource':
      return ofResource(spec.resource, status?.resource?.current);
    case 'ContainerResource':
      return ofResource(spec.containerResource, status?.containerResource?.current);
    default:
      return '<unknown type>';
  }
}

function perPodOrWhole(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined)
    return `${current?.averageValue ?? unknown}/${target.averageValue} (avg)`;
  return `${current ? (current.value ?? nil) : unknown}/${target?.value ?? nil}`;
}

function ofResource(
  source: { readonly name: string; readonly target: MetricTarget } | undefined,
  current: MetricValueStatus | undefined,
): string {
  const { name = '', target } = source ?? {};
  if (target?.averageValue !== undefined)
    return `${name}: ${current ? (current.averageValue ?? nil) : unknown}/${target.averageValue}`;
  return `${name}: ${percent(current?.averageUtilization, unknown)}/${percent(target?.averageUtilization, '<auto>')}`;
}

const percent = (value: number | undefined, otherwise: string) =>
  value === undefined ? otherwise : `${value}%`;
