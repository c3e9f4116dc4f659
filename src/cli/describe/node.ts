/** Nodes. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt } from '../objects/objects.ts';
import type { Describer, Found } from './describer.ts';
import {
  amountLines,
  conditionLines,
  createdLine,
  labelsAndAnnotations,
  none,
  optionalLine,
  shownAt,
  sorted,
  stringsAt,
  timeText,
  unset,
} from './lines.ts';
import { nodeResourceLines } from './node-resources.ts';
import { taintLines } from './placement.ts';

export const node: Describer = {
  needs(object) {
    const { name } = metadataOf(object);
    const fieldSelector = `spec.nodeName=${name},status.phase!=Failed,status.phase!=Succeeded`;
    return {
      pods: { apiVersion: 'v1', kind: 'Pod', namespace: '', fieldSelector },
      lease: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'kube-node-lease', name },
    };
  },
  lines: (object, related, now) => [
    `Name:\t${metadataOf(object).name}`,
    `Roles:\t${sorted(rolesOf(object)).join(',') || none}`,
    ...labelsAndAnnotations(object),
    createdLine(object),
    ...taintLines(recordsAt(object, 'spec', 'taints')),
    `Unschedulable:\t${shownAt(object, 'spec', 'unschedulable') || 'false'}`,
    ...leaseLines(related('lease')),
    ...conditionLines(
      object,
      [
        ['Type', 'type'],
        ['Status', 'status'],
        ['LastHeartbeatTime', 'lastHeartbeatTime'],
        ['LastTransitionTime', 'lastTransitionTime'],
        ['Reason', 'reason'],
        ['Message', 'message'],
      ],
      ' ',
    ),
    'Addresses:',
    ...recordsAt(object, 'status', 'addresses').map(
      (address) => `  ${textAt(address, 'type')}:\t${textAt(address, 'address')}`,
    ),
    ...amountSection('Capacity', recordAt(object, 'status', 'capacity')),
    ...amountSection('Allocatable', recordAt(object, 'status', 'allocatable')),
    ...systemLines(recordAt(object, 'status', 'nodeInfo')),
    ...optionalLine('PodCIDR', textAt(object, 'spec', 'podCIDR')),
    ...optionalLine('PodCIDRs', stringsAt(object, 'spec', 'podCIDRs').join(',')),
    ...optionalLine('ProviderID', textAt(object, 'spec', 'providerID')),
    ...nodeResourceLines(object, related('pods'), now),
  ],
};

const rolePrefix = 'node-role.kubernetes.io/';

function rolesOf(object: JsonObject): Set<string> {
  const labels = Object.entries(metadataOf(object).labels);
  return new Set(
    labels
      .map(([key, value]) =>
        key.startsWith(rolePrefix) ? key.slice(rolePrefix.length) : key === 'kubernetes.io/role' ? value : '',
      )
      .filter(Boolean),
  );
}

function leaseLines({ items, refused }: Found): string[] {
  if (refused) return [`Lease:\tFailed to get lease: ${refused}`];
  const spec = recordAt(items[0], 'spec');
  const timeOf = (field: string) => (spec[field] ? timeText(textAt(spec, field)) : unset);
  return [
    'Lease:',
    `  HolderIdentity:\t${textAt(spec, 'holderIdentity') || unset}`,
    `  AcquireTime:\t${timeOf('acquireTime')}`,
    `  RenewTime:\t${timeOf('renewTime')}`,
  ];
}

const amountSection = (title: string, amounts: JsonObject): string[] =>
  Object.keys(amounts).length === 0 ? [] : [`${title}:`, ...amountLines(amounts, '  ')];

const systemFields: readonly (readonly [title: string, field: string])[] = [
  ['Machine ID', 'machineID'],
  ['System UUID', 'systemUUID'],
  ['Boot ID', 'bootID'],
  ['Kernel Version', 'kernelVersion'],
  ['OS Image', 'osImage'],
  ['Operating System', 'operatingSystem'],
  ['Architecture', 'architecture'],
  ['Container Runtime Version', 'containerRuntimeVersion'],
  ['Kubelet Version', 'kubeletVersion'],
  ['Kube-Proxy Version', 'kubeProxyVersion'],
];

const systemLines = (info: JsonObject): string[] => [
  'System Info:',
  ...systemFields.map(([title, field]) => `  ${title}:\t${textAt(info, field)}`),
];
