/**
 * Rules of the fields that only a Service of type LoadBalancer has, also across an update (upstream:
 * ValidateService and ValidateServiceUpdate of pkg/apis/core/validation, 1.32). Pure.
 */
import { forbiddenCause, invalidCause } from '../../../../apimachinery/field-error.ts';
import { checkPortNumber, checkQualifiedName, nameCauses } from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { checkCIDR } from '../../../ip.ts';
import type { Service } from '../types.gen.ts';
import { needsHealthCheck } from './defaults.ts';

type Spec = Service['spec'];

const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const onlyForLoadBalancer = "may only be used when `type` is 'LoadBalancer'";
const isLoadBalancer = (spec: Spec) => spec.type === 'LoadBalancer';

export function validateLoadBalancerFields(service: Service): StatusCause[] {
  const { spec } = service;
  return [
    ...validateSourceRanges(service),
    ...(spec.allocateLoadBalancerNodePorts === undefined || isLoadBalancer(spec)
      ? []
      : [forbiddenCause('spec.allocateLoadBalancerNodePorts', onlyForLoadBalancer)]),
    ...validateClass(spec),
    ...validateHealthCheckPort(spec),
  ];
}

/**
 * Rejects another class or health check port for a load balancer that stays one: its controller may use both.
 */
export function validateLoadBalancerUpdate({ spec }: Service, { spec: old }: Service): StatusCause[] {
  const causes: StatusCause[] = [];
  const classChanged = spec.loadBalancerClass !== old.loadBalancerClass;
  if (isLoadBalancer(old) && isLoadBalancer(spec) && classChanged)
    causes.push(invalidCause('spec.loadBalancerClass', spec.loadBalancerClass, 'may not change once set'));
  const portChanged = old.healthCheckNodePort && spec.healthCheckNodePort !== old.healthCheckNodePort;
  if (needsHealthCheck(old) && needsHealthCheck(spec) && portChanged)
    causes.push(forbiddenCause('spec.healthCheckNodePort', 'field is immutable'));
  return causes;
}

/**
 * Validates the clients that the load balancer accepts: a list of ranges, or an annotation with commas
 * between them, which only counts without the list. Spaces around a range are allowed. Upstream's path of the
 * field begins with a capital letter.
 */
function validateSourceRanges({ metadata, spec }: Service): StatusCause[] {
  const ranges = spec.loadBalancerSourceRanges ?? [];
  const annotation = metadata.annotations?.[sourceRangesAnnotation];
  if (ranges.length > 0) {
    const path = 'spec.LoadBalancerSourceRanges';
    return [
      ...(isLoadBalancer(spec) ? [] : [forbiddenCause(path, onlyForLoadBalancer)]),
      ...ranges.flatMap((range, index) => nameCauses(`${path}[${index}]`, range.trim(), checkCIDR)),
    ];
  }
  if (annotation === undefined) return [];
  const path = `metadata.annotations[${sourceRangesAnnotation}]`;
  const texts = annotation.trim() === '' ? [] : annotation.split(',');
  return [
    ...(isLoadBalancer(spec) ? [] : [forbiddenCause(path, onlyForLoadBalancer)]),
    ...texts.flatMap((text) => nameCauses(path, text.trim(), checkCIDR)),
  ];
}

function validateClass(spec: Spec): StatusCause[] {
  const path = 'spec.loadBalancerClass';
  if (spec.loadBalancerClass === undefined) return [];
  return isLoadBalancer(spec)
    ? nameCauses(path, spec.loadBalancerClass, checkQualifiedName)
    : [forbiddenCause(path, onlyForLoadBalancer)];
}

/** Validates the port on which nodes report whether they have pods of the Service; 0 means none. */
function validateHealthCheckPort(spec: Spec): StatusCause[] {
  const path = 'spec.healthCheckNodePort';
  const port = spec.healthCheckNodePort ?? 0;
  if (port === 0) return [];
  if (needsHealthCheck(spec)) return checkPortNumber(port).map((why) => invalidCause(path, port, why));
  const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  return [invalidCause(path, port, why)];
}
