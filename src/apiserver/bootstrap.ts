/**
 * What every cluster has from the beginning: the system's namespaces, and the Service through which pods reach
 * the API. Idempotent: what is there already stays as it is. The Service's endpoints are the masters' own business
 * (controllers/masters.ts).
 */
import type { Namespace } from '../api/core/v1/namespace.ts';
import { namespaceResource } from '../api/core/v1/namespace.ts';
import { type Service, serviceResource } from '../api/core/v1/service.ts';
import type { Draft, KubeObject } from '../apimachinery/meta.ts';
import { apiVersionOf, type ResourceRef } from '../apimachinery/resource-definition.ts';
import { StatusError } from '../apimachinery/status-error.ts';
import { systemNamespaces } from './admission/namespace-lifecycle.ts';
import { addressAt, parseRange } from './registry/address-range.ts';
import { systemUser, type UserInfo } from './user.ts';

/** The part of the API server that this needs. */
export interface BootstrapTarget {
  readonly serviceCIDR: string;
  handlerFor(user: UserInfo): (request: Request) => Promise<Response>;
}

/** Where the first API server of the cluster is reached. */
export interface ApiEndpoint {
  readonly port: number;
}

/** Where cluster DNS is on every node, and the domain of the names that it knows itself. */
export interface ClusterDnsPlace {
  readonly address?: string;
  readonly domain?: string;
}

type Handle = (request: Request) => Promise<Response>;

/** The API itself, and cluster DNS, as Services. */
export const apiService = { namespace: 'default', name: 'kubernetes' };
export const dnsService = { namespace: 'kube-system', name: 'kube-dns' };

/** On the Service of cluster DNS, for machines that join to compare with what they were told. */
export const domainAnnotation = 'minik8s.io/cluster-domain';

/** The first address of the range is the API's, as certificates and clients in pods expect. */
export const apiServiceIP = (serviceCIDR: string) => addressAt(parseRange(serviceCIDR), 0);

/** The tenth address of the range is cluster DNS's, unless it is set otherwise. */
export const clusterDnsIP = (serviceCIDR: string) => addressAt(parseRange(serviceCIDR), 9);

/** Rejects with the StatusError of the first object that can not be made. */
export async function bootstrapObjects(
  server: BootstrapTarget,
  endpoint: ApiEndpoint,
  { address = clusterDnsIP(server.serviceCIDR), domain = 'cluster.local' }: ClusterDnsPlace = {},
): Promise<void> {
  const handle = server.handlerFor(systemUser('apiserver'));
  for (const name of systemNamespaces) {
    const namespace: Draft<Namespace> = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await ensure(handle, namespaceResource, '', namespace);
  }
  const service: Draft<Service> = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: apiService.name, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      type: 'ClusterIP',
      sessionAffinity: 'None',
      clusterIP: apiServiceIP(server.serviceCIDR),
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: endpoint.port }],
    },
  };
  await ensure(handle, serviceResource, apiService.namespace, service);
  await ensure(handle, serviceResource, dnsService.namespace, dnsAt(address, domain));
}

/**
 * Says at which address pods find cluster DNS, and of which domain their names are. It has no endpoints: the server of
 * each node answers at that address itself.
 */
const dnsAt = (clusterIP: string, domain: string): Draft<Service> => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: dnsService.name,
    labels: {
      'k8s-app': 'kube-dns',
      'kubernetes.io/cluster-service': 'true',
      'kubernetes.io/name': 'KubeDNS',
    },
    annotations: { [domainAnnotation]: domain },
  },
  spec: {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    clusterIP,
    ports: [
      { name: 'dns', protocol: 'UDP', port: 53, targetPort: 53 },
      { name: 'dns-tcp', protocol: 'TCP', port: 53, targetPort: 53 },
    ],
  },
});

async function ensure<T extends KubeObject>(
  handle: Handle,
  ref: ResourceRef<T>,
  namespace: string,
  object: Draft<T>,
): Promise<void> {
  const version = ref.group ? `apis/${apiVersionOf(ref)}` : `api/${ref.version}`;
  const collection = `http://apiserver/${version}${namespace && `/namespaces/${namespace}`}/${ref.plural}`;
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(object);
  const created = await handle(new Request(collection, { method: 'POST', headers, body }));
  if (!created.ok && created.status !== 409) throw await failureOf(created);
  await discard(created);
}

async function discard(response: Response): Promise<void> {
  await response.body?.cancel();
}

async function failureOf(response: Response): Promise<StatusError> {
  return new StatusError((await response.json()) as StatusError['status']);
}
