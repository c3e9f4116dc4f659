/** Rules of services (upstream: ValidateService, ValidateServiceUpdate). */

import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../../apimachinery/field-error.ts';
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkPortName,
  checkPortNumber,
  nameCauses,
} from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { validateLabels } from '../../../../apimachinery/validate-meta.ts';
import { checkNonSpecialIP } from '../../../ip.ts';
import type { Service, ServicePort } from '../types.gen.ts';
import { validateClusterIPs, validateClusterIPsUpdate, validateFamiliesUpdate } from './cluster-ips.ts';
import { isExternallyAccessible, isHeadless } from './defaults.ts';
import { appProtocolCauses } from './endpoints-validation.ts';
import { validateLoadBalancerFields, validateLoadBalancerUpdate } from './load-balancer-validation.ts';

type Spec = Service['spec'];

const maxAffinitySeconds = 86400;
const notForExternalName = 'may not be set for ExternalName services';
const trafficDistributions = ['PreferClose'];
const topologyMode = 'service.kubernetes.io/topology-mode';
const topologyHints = 'service.kubernetes.io/topology-aware-hints';

export function validateService(service: Service): StatusCause[] {
  const { spec } = service;
  return [
    ...validateTopologyAnnotations(service),
    ...validatePortsGiven(spec),
    ...validatePorts(spec, 'spec.ports'),
    ...validateLabels(spec.selector ?? {}, 'spec.selector'),
    ...(spec.type === 'ExternalName' ? validateExternalName(spec) : validateClusterIPs(spec)),
    ...validateAffinity(spec),
    ...(spec.externalIPs ?? []).flatMap((ip, index) =>
      nameCauses(`spec.externalIPs[${index}]`, ip, checkNonSpecialIP),
    ),
    ...validateLoadBalancerFields(service),
    ...validateExternalTraffic(spec),
    ...validateTrafficDistribution(spec),
  ];
}

export const validateServiceUpdate = (service: Service, old: Service): StatusCause[] => [
  ...validateClusterIPsUpdate(service.spec, old.spec),
  ...validateFamiliesUpdate(service.spec, old.spec),
  ...validateLoadBalancerUpdate(service, old),
];

/** Rejects two annotations of one meaning, the older of which is deprecated, with different values. */
function validateTopologyAnnotations({ metadata: { annotations = {} } }: Service): StatusCause[] {
  const [mode, hints] = [annotations[topologyMode], annotations[topologyHints]];
  if (mode === undefined || hints === undefined || mode === hints) return [];
  const why = `must match annotations[${topologyHints}] when both are specified`;
  return [invalidCause(`metadata.annotations[${topologyMode}]`, mode, why)];
}

/** Requires ports. A headless service may have only names, and an ExternalName always has only a name. */
function validatePortsGiven(spec: Spec): StatusCause[] {
  const needed = !isHeadless(spec) && spec.type !== 'ExternalName';
  return needed && !spec.ports?.length ? [requiredCause('spec.ports')] : [];
}

function validatePorts(spec: Spec, path: string): StatusCause[] {
  const ports = spec.ports ?? [];
  const names = new Set<string>();
  const numbers = new Set<string>();
  const nodePorts = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `${path}[${index}]`;
    const { protocol } = port;
    return [
      ...validatePortName(port.name ?? '', ports.length > 1, names, `${at}.name`),
      ...validatePortNumbers(port, at),
      ...unique(numbers, `${protocol}/${port.port}`, duplicateCause(at, { protocol, port: port.port })),
      ...validateNodePort(spec, port, nodePorts, `${at}.nodePort`),
      ...appProtocolCauses(port.appProtocol, `${at}.appProtocol`),
    ];
  });
}

function validatePortName(name: string, needed: boolean, seen: Set<string>, path: string): StatusCause[] {
  if (!name) return needed ? [requiredCause(path)] : [];
  return [...nameCauses(path, name, checkDns1123Label), ...unique(seen, name, duplicateCause(path, name))];
}

function unique(seen: Set<string>, key: string, cause: StatusCause): StatusCause[] {
  if (seen.has(key)) return [cause];
  seen.add(key);
  return [];
}

function validatePortNumbers({ port, targetPort }: ServicePort, path: string): StatusCause[] {
  const causes = portNumberCauses(port, `${path}.port`);
  if (typeof targetPort === 'number') causes.push(...portNumberCauses(targetPort, `${path}.targetPort`));
  if (typeof targetPort === 'string')
    causes.push(...nameCauses(`${path}.targetPort`, targetPort, checkPortName));
  return causes;
}

const portNumberCauses = (port: number, path: string) =>
  checkPortNumber(port).map((problem) => invalidCause(path, port, problem));

function validateNodePort(spec: Spec, port: ServicePort, seen: Set<string>, path: string): StatusCause[] {
  if (!port.nodePort) return [];
  const withoutNodePorts = spec.type === 'ClusterIP' || spec.type === 'ExternalName';
  if (withoutNodePorts) return [forbiddenCause(path, `may not be used when \`type\` is '${spec.type}'`)];
  return [
    ...portNumberCauses(port.nodePort, path),
    ...unique(seen, `${port.protocol}/${port.nodePort}`, duplicateCause(path, port.nodePort)),
  ];
}

function validateExternalName(spec: Spec): StatusCause[] {
  const causes: StatusCause[] = [];
  if (spec.clusterIP || spec.clusterIPs?.length)
    causes.push(forbiddenCause('spec.clusterIPs', notForExternalName));
  if (spec.ipFamilies?.length) causes.push(forbiddenCause('spec.ipFamilies', notForExternalName));
  if (spec.ipFamilyPolicy) causes.push(forbiddenCause('spec.ipFamilyPolicy', notForExternalName));
  // A trailing dot marks an absolute name.
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  if (!name) causes.push(requiredCause('spec.externalName'));
  else causes.push(...nameCauses('spec.externalName', name, checkDns1123Subdomain));
  return causes;
}

function validateAffinity({ sessionAffinity, sessionAffinityConfig }: Spec): StatusCause[] {
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (sessionAffinity !== 'ClientIP' || seconds === undefined) return [];
  if (seconds > 0 && seconds <= maxAffinitySeconds) return [];
  const why = `must be greater than 0 and less than ${maxAffinitySeconds}`;
  return [invalidCause('spec.sessionAffinityConfig.clientIP.timeoutSeconds', seconds, why)];
}

function validateExternalTraffic(spec: Spec): StatusCause[] {
  if (spec.externalTrafficPolicy === undefined || isExternallyAccessible(spec)) return [];
  const why = 'may only be set for externally-accessible services';
  return [invalidCause('spec.externalTrafficPolicy', spec.externalTrafficPolicy, why)];
}

const validateTrafficDistribution = ({ trafficDistribution: value }: Spec): StatusCause[] =>
  value === undefined || trafficDistributions.includes(value)
    ? []
    : [notSupportedCause('spec.trafficDistribution', value, trafficDistributions)];
