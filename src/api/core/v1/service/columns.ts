import type { Column } from '../../../../apimachinery/resource-definition.ts';
import { ageColumn, formatLabels, nameColumn, none } from '../../../columns.ts';
import type { Service, ServicePort } from '../types.gen.ts';

function externalIP({ spec, status }: Service): string {
  const external = spec.externalIPs ?? [];
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || none;
    case 'LoadBalancer': {
      const balancers = (status?.loadBalancer.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
      return [...balancers, ...external].filter(Boolean).join(',') || '<pending>';
    }
    case 'ExternalName':
      return spec.externalName ?? '';
  }
}

/** Returns `80/TCP`, or with a node port `80:30080/TCP`. */
const portText = ({ port, nodePort, protocol }: ServicePort) =>
  nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;

export const serviceColumns: readonly Column<Service>[] = [
  nameColumn,
  {
    name: 'Type',
    type: 'string',
    description: 'The type of the service.',
    cell: (service) => service.spec.type,
  },
  {
    name: 'Cluster-IP',
    type: 'string',
    description: 'The address inside the cluster; None for a headless service.',
    cell: (service) => service.spec.clusterIP || none,
  },
  {
    name: 'External-IP',
    type: 'string',
    description: 'Addresses from outside the cluster.',
    cell: externalIP,
  },
  {
    name: 'Port(s)',
    type: 'string',
    description: 'Port, node port and protocol of each port.',
    cell: (service) => (service.spec.ports ?? []).map(portText).join(',') || none,
  },
  ageColumn,
  {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description: 'Labels of the pods behind the service.',
    cell: (service) => formatLabels(service.spec.selector),
  },
];
