/** What every cluster has from the beginning: the system's namespaces, the Services of the API and of cluster DNS. */
import type { Draft } from '../../../apimachinery/meta.ts';
import type { Namespace } from './namespace.ts';
import type { Service } from './service.ts';

export const systemNamespaces: readonly string[] = [
  'default',
  'kube-system',
  'kube-public',
  'kube-node-lease',
];

/** The API itself, and cluster DNS, as Services. */
export const apiService = { namespace: 'default', name: 'kubernetes' };
export const dnsService = { namespace: 'kube-system', name: 'kube-dns' };

/** On the Service of cluster DNS, for machines that join to compare with what they were told. */
export const domainAnnotation = 'minik8s.io/cluster-domain';

export interface SystemPlaces {
  /** The address of the Service of the API. */
  readonly apiAddress: string;
  /** Where the first API server of the cluster listens. */
  readonly apiPort: number;
  /** Where cluster DNS is on every node, and the domain of the names that it knows itself. */
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
  dnsAddress,
  dnsDomain,
}: SystemPlaces): SystemObjects => ({
  namespaces: systemNamespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  api: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...apiService, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      type: 'ClusterIP',
      sessionAffinity: 'None',
      clusterIP: apiAddress,
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: apiPort }],
    },
  },
  // It has no endpoints: the server of each node answers at that address itself.
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
