/** Objects of every cluster: the system's namespaces, the Services of the API and of cluster DNS. */

import type { Draft } from '../../../apimachinery/meta.ts';
import type { Namespace, Service } from './types.gen.ts';

export const systemNamespaces: readonly string[] = [
  'default',
  'kube-system',
  'kube-public',
  'kube-node-lease',
];

/** Services of the API itself and of cluster DNS. */
export const apiService = { namespace: 'default', name: 'kubernetes' };
export const dnsService = { namespace: 'kube-system', name: 'kube-dns' };

/** Annotation of the Service of cluster DNS; joining machines compare it with their own setting. */
export const domainAnnotation = 'minik8s.io/cluster-domain';

/** Annotation of the Service of the API with the range of IPv6 of Services; joining machines compare it. */
export const rangeAnnotation = 'minik8s.io/service-cidr-ipv6';

export interface SystemPlaces {
  /** Address of the Service of the API. */
  readonly apiAddress: string;
  /** Port of the first API server of the cluster. */
  readonly apiPort: number;
  /** Range of IPv6 of the cluster's Services; absent in a cluster of IPv4. */
  readonly serviceRangeIPv6?: string | undefined;
  /** Address of cluster DNS on every node, and the domain of the cluster's own names. */
  readonly dnsAddress: string;
  readonly dnsDomain: string;
}

export interface SystemObjects {
  readonly namespaces: readonly Draft<Namespace>[];
  readonly api: Draft<Service>;
  readonly dns: Draft<Service>;
}

export const systemObjects = ({
  apiAddress,
  apiPort,
  serviceRangeIPv6,
  dnsAddress,
  dnsDomain,
}: SystemPlaces): SystemObjects => ({
  namespaces: systemNamespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  api: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...apiService,
      labels: { component: 'apiserver', provider: 'kubernetes' },
      ...(serviceRangeIPv6 !== undefined && { annotations: { [rangeAnnotation]: serviceRangeIPv6 } }),
    },
    spec: {
      type: 'ClusterIP',
      sessionAffinity: 'None',
      clusterIP: apiAddress,
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: apiPort }],
    },
  },
  // The Service has no endpoints: the DNS server of each node responds at that address itself.
  dns: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...dnsService,
      labels: {
        'k8s-app': 'kube-dns',
        'kubernetes.io/cluster-service': 'true',
        'kubernetes.io/name': 'KubeDNS',
      },
      annotations: { [domainAnnotation]: dnsDomain },
    },
    spec: {
      type: 'ClusterIP',
      sessionAffinity: 'None',
      clusterIP: dnsAddress,
      ports: [
        { name: 'dns', protocol: 'UDP', port: 53, targetPort: 53 },
        { name: 'dns-tcp', protocol: 'TCP', port: 53, targetPort: 53 },
      ],
    },
  },
});
