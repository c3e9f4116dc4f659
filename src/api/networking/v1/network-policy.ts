import {
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import { formatSelector, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { checkPortName, checkPortNumber, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { maxCauses, type StatusCause } from '../../../apimachinery/status-error.ts';
import { strictSubrange } from '../../../base/addresses.ts';
import { ageColumn, nameColumn, none } from '../../columns.ts';
import { checkCIDR } from '../../ip.ts';
import { validateLabelSelector } from '../../meta/v1/label-selector.ts';
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from './types.gen.ts';

export type { NetworkPolicy } from './types.gen.ts';

const policyTypes = ['Ingress', 'Egress'];

/** Sets the default policy types: Ingress, and Egress if there are rules for it. */
function setDefaults({ spec }: NetworkPolicy): void {
  if (!spec.policyTypes?.length) spec.policyTypes = spec.egress?.length ? policyTypes.slice() : ['Ingress'];
}

function validatePolicy({ spec }: NetworkPolicy): StatusCause[] {
  const rules = [
    ...(spec.ingress ?? []).map(({ ports, from }, index) => ({
      ports,
      peers: from,
      at: `ingress[${index}]`,
      field: 'from',
    })),
    ...(spec.egress ?? []).map(({ ports, to }, index) => ({
      ports,
      peers: to,
      at: `egress[${index}]`,
      field: 'to',
    })),
  ];
  return [
    ...validateLabelSelector(spec.podSelector, 'spec.podSelector'),
    ...rules.flatMap(({ ports = [], peers = [], at, field }) => [
      ...ports.flatMap((port, index) => validatePort(port, `spec.${at}.ports[${index}]`)),
      ...peers.flatMap((peer, index) => validatePeer(peer, `spec.${at}.${field}[${index}]`)),
    ]),
    ...validateTypes(spec.policyTypes ?? [], 'spec.policyTypes'),
  ];
}

function validateTypes(given: readonly string[], path: string): StatusCause[] {
  if (given.length > policyTypes.length)
    return [invalidCause(path, given, 'may not specify more than two policyTypes')];
  return given.flatMap((type, index) =>
    policyTypes.includes(type) ? [] : [notSupportedCause(`${path}[${index}]`, type, policyTypes)],
  );
}

function validatePort({ port, endPort }: NetworkPolicyPort, path: string): StatusCause[] {
  const end = `${path}.endPort`;
  if (typeof port !== 'number') {
    const why = `may not be specified when \`port\` is ${port === undefined ? 'not specified' : 'non-numeric'}`;
    return [
      ...(endPort === undefined ? [] : [invalidCause(end, endPort, why)]),
      ...(port === undefined ? [] : nameCauses(`${path}.port`, port, checkPortName)),
    ];
  }
  const causes = checkPortNumber(port).map((why) => invalidCause(`${path}.port`, port, why));
  if (endPort === undefined) return causes;
  if (endPort < port) causes.push(invalidCause(end, endPort, 'must be greater than or equal to `port`'));
  return [...causes, ...checkPortNumber(endPort).map((why) => invalidCause(end, endPort, why))];
}

function validatePeer(
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  path: string,
): StatusCause[] {
  const causes = [
    ...(podSelector ? validateLabelSelector(podSelector, `${path}.podSelector`) : []),
    ...(namespaceSelector ? validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`) : []),
    ...(ipBlock ? validateBlock(ipBlock, `${path}.ipBlock`) : []),
  ];
  if (!podSelector && !namespaceSelector && !ipBlock) causes.push(requiredCause(path, 'must specify a peer'));
  if (ipBlock && (podSelector || namespaceSelector))
    causes.push(forbiddenCause(path, 'may not specify both ipBlock and another peer'));
  return causes;
}

/**
 * Validates a block. A policy may have thousands of exceptions: validation stops when there are more causes
 * than are reported.
 */
function validateBlock({ cidr, except = [] }: IPBlock, path: string): StatusCause[] {
  if (cidr === '') return [requiredCause(`${path}.cidr`)];
  const placeOf = strictSubrange(cidr);
  if (!placeOf) return nameCauses(`${path}.cidr`, cidr, checkCIDR);
  const causes: StatusCause[] = [];
  for (const [index, range] of except.entries()) {
    const place = placeOf(range);
    if (place === 'inside') continue;
    const at = `${path}.except[${index}]`;
    if (place === 'no range') causes.push(...nameCauses(at, range, checkCIDR));
    else causes.push(invalidCause(at, range, 'must be a strict subset of `cidr`'));
    if (causes.length > maxCauses) break;
  }
  return causes;
}

export const networkPolicyResource: ResourceDefinition<NetworkPolicy> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  singular: 'networkpolicy',
  shortNames: ['netpol'],
  categories: [],
  namespaced: true,
  typeName: 'networking.v1.NetworkPolicy',
  rules: {
    'networking.v1.NetworkPolicy': { defaults: { spec: {} } },
    'networking.v1.NetworkPolicySpec': { defaults: { podSelector: {} } },
    'networking.v1.NetworkPolicyIngressRule': {},
    'networking.v1.NetworkPolicyEgressRule': {},
    'networking.v1.NetworkPolicyPeer': {},
    'networking.v1.NetworkPolicyPort': { defaults: { protocol: 'TCP' } },
    'networking.v1.IPBlock': {},
  },
  strategy: {
    setDefaults,
    validate: validatePolicy,
    countsGenerations: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Pod-Selector',
      type: 'string',
      description: 'The label selector of the affected pods.',
      cell: ({ spec }) => formatSelector(selectorFromLabelSelector(spec.podSelector)) || none,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
