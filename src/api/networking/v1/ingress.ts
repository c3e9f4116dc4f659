import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkHost,
  checkPortName,
  checkPortNumber,
  nameCauses,
} from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { isAddress } from '../../../base/addresses.ts';
import { checkIPAddress } from '../../ip.ts';
import { ingressColumns } from './ingress-columns.ts';
import { validateReference } from './references.ts';
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressServiceBackend,
  IngressTLS,
} from './types.gen.ts';

export type { Ingress } from './types.gen.ts';

const classAnnotation = 'kubernetes.io/ingress.class';
const notAnIP = 'must be a DNS name, not an IP address';
/** Parts of a path that servers may interpret differently. */
const badParts = ['//', '/./', '/../', '%2f', '%2F'];
const badEnds = ['/..', '/.'];

function validateIngress({ metadata, spec }: Ingress): StatusCause[] {
  const { rules = [], tls = [], defaultBackend } = spec;
  const causes: StatusCause[] = [];
  if (rules.length === 0 && !defaultBackend)
    causes.push(invalidCause('spec', rules, 'either `defaultBackend` or `rules` must be specified'));
  if (defaultBackend) causes.push(...validateBackend(defaultBackend, 'spec.defaultBackend'));
  return [
    ...causes,
    ...rules.flatMap((rule, index) => validateRule(rule, `spec.rules[${index}]`)),
    ...tls.flatMap((entry, index) => validateTls(entry, `spec.tls[${index}]`)),
    ...validateClassName(spec.ingressClassName, metadata.annotations?.[classAnnotation]),
  ];
}

function validateRule({ host, http }: IngressRule, path: string): StatusCause[] {
  const causes = host ? validateHost(host, `${path}.host`) : [];
  return http ? [...causes, ...validatePaths(http.paths, `${path}.http.paths`)] : causes;
}

function validateTls({ hosts = [], secretName }: IngressTLS, path: string): StatusCause[] {
  const causes = hosts.flatMap((host, at) => nameCauses(`${path}.hosts[${at}]`, host, checkHost));
  if (secretName) causes.push(...nameCauses(`${path}.secretName`, secretName, checkDns1123Subdomain));
  return causes;
}

function validateClassName(className: string | undefined, annotated: string | undefined): StatusCause[] {
  if (className === undefined) return [];
  const causes = nameCauses('spec.ingressClassName', className, checkDns1123Subdomain);
  if (annotated === undefined || annotated === className) return causes;
  const why = 'must match `ingressClassName` when both are specified';
  return [...causes, invalidCause(`annotations.${classAnnotation}`, annotated, why)];
}

const validateHost = (host: string, path: string): StatusCause[] => [
  ...(isAddress(host) ? [invalidCause(path, host, notAnIP)] : []),
  ...nameCauses(path, host, checkHost),
];

const validatePaths = (paths: readonly HTTPIngressPath[], path: string): StatusCause[] =>
  paths.length === 0
    ? [requiredCause(path)]
    : paths.flatMap((one, index) => validatePath(one, `${path}[${index}]`));

function validatePath({ path = '', pathType, backend }: HTTPIngressPath, at: string): StatusCause[] {
  const isExact = pathType === 'Exact' || pathType === 'Prefix';
  const faults: string[] = [];
  if (!path.startsWith('/') && (isExact || path !== '')) faults.push('must be an absolute path');
  if (isExact) faults.push(...segmentFaults(path));
  return [
    ...faults.map((fault) => invalidCause(`${at}.path`, path, fault)),
    ...validateBackend(backend, `${at}.backend`),
  ];
}

/** Returns why the path is not normalized. */
const segmentFaults = (path: string): string[] => [
  ...badParts.filter((part) => path.includes(part)).map((part) => `must not contain '${part}'`),
  ...badEnds.filter((end) => path.endsWith(end)).map((end) => `cannot end with '${end}'`),
];

function validateBackend({ service, resource }: IngressBackend, path: string): StatusCause[] {
  if (resource && service) return [invalidCause(path, '', 'cannot set both resource and service backends')];
  if (resource) return validateReference(resource, `${path}.resource`);
  if (service) return validateServiceBackend(service, path);
  return [invalidCause(path, '', 'resource or service backend is required')];
}

function validateServiceBackend({ name, port }: IngressServiceBackend, path: string): StatusCause[] {
  const at = `${path}.service`;
  const causes =
    name === '' ? [requiredCause(`${at}.name`)] : nameCauses(`${at}.name`, name, checkDns1035Label);
  if (port.name && port.number)
    return [...causes, invalidCause(path, '', 'cannot set both port name & port number')];
  if (port.name) return [...causes, ...nameCauses(`${at}.port.name`, port.name, checkPortName)];
  if (!port.number) return [...causes, requiredCause(path, 'port name or number is required')];
  const { number } = port;
  return [...causes, ...checkPortNumber(number).map((why) => invalidCause(`${at}.port.number`, number, why))];
}

function validateStatus({ status }: Ingress): StatusCause[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }, index) => {
    const at = `status.loadBalancer.ingress[${index}]`;
    return [
      ...(ip ? nameCauses(`${at}.ip`, ip, checkIPAddress) : []),
      ...(hostname ? nameCauses(`${at}.hostname`, hostname, checkDns1123Subdomain) : []),
      ...(hostname && isAddress(hostname) ? [invalidCause(`${at}.hostname`, hostname, notAnIP)] : []),
    ];
  });
}

function deprecatedClass({ metadata, spec }: Ingress, old: Ingress | undefined): string[] {
  const isOld = metadata.annotations?.[classAnnotation] !== undefined && spec.ingressClassName === undefined;
  return !old && isOld
    ? [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
    : [];
}

export const ingressResource: ResourceDefinition<Ingress> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  plural: 'ingresses',
  singular: 'ingress',
  shortNames: ['ing'],
  categories: [],
  namespaced: true,
  typeName: 'networking.v1.Ingress',
  rules: {
    'networking.v1.Ingress': { defaults: { spec: {} } },
    'networking.v1.IngressSpec': {},
    'networking.v1.IngressRule': {},
    'networking.v1.HTTPIngressRuleValue': {},
    'networking.v1.HTTPIngressPath': {
      defaults: { backend: {} },
      choices: { pathType: ['Exact', 'ImplementationSpecific', 'Prefix'] },
    },
    'networking.v1.IngressBackend': {},
    'networking.v1.IngressServiceBackend': { defaults: { port: {} } },
    'networking.v1.ServiceBackendPort': {},
    'networking.v1.IngressTLS': {},
    'networking.v1.IngressStatus': { defaults: { loadBalancer: {} } },
    'networking.v1.IngressLoadBalancerStatus': {},
    'networking.v1.IngressLoadBalancerIngress': {},
    'networking.v1.IngressPortStatus': {},
  },
  strategy: {
    validate: validateIngress,
    validateStatus,
    warnings: deprecatedClass,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: ingressColumns,
  selectableFields: {},
  deleteAnswers: 'status',
};
