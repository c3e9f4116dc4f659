/**
 * Creates the objects that every cluster has from the beginning, before any request is served. Idempotent:
 * existing objects stay as they are until controllers/masters/system-objects.ts and fixed-objects.ts
 * reconcile them. The masters themselves write the endpoints of the API's Service
 * (controllers/masters/masters.ts).
 */
import { namespaceResource } from '../api/core/v1/namespace.ts';
import { serviceResource } from '../api/core/v1/service/service.ts';
import {
  apiService,
  dnsService,
  type SystemObjects,
  type SystemPlaces,
} from '../api/core/v1/system-objects.ts';
import { fixedObjects } from '../api/fixed-objects.ts';
import type { Draft, KubeObject } from '../apimachinery/meta.ts';
import { apiVersionOf, type ResourceRef } from '../apimachinery/resource-definition.ts';
import { StatusError } from '../apimachinery/status-error.ts';
import { systemUser, type UserInfo } from '../apiserver/request/user.ts';
import { familyRanges } from '../base/address-families.ts';
import { addressAt, parseRange } from './claims/address-range.ts';

/** The part of the API server that bootstrapping uses. */
export interface BootstrapTarget {
  handlerFor(user: UserInfo): (request: Request) => Promise<Response>;
}

/** Component that creates the objects. */
const component = 'kube-apiserver';

type Handle = (request: Request) => Promise<Response>;

/** Parses the range of the first family of the cluster's Services. */
const firstRange = (serviceCIDR: string) => parseRange(familyRanges(serviceCIDR).IPv4);

/** Returns the first address of the range, which is the API's, as certificates and clients in pods expect. */
export const apiServiceIP = (serviceCIDR: string) => addressAt(firstRange(serviceCIDR), 0);

/** Returns the tenth address of the range, which is cluster DNS's unless it is set otherwise. */
export const clusterDnsIP = (serviceCIDR: string) => addressAt(firstRange(serviceCIDR), 9);

/** Returns the default addresses of the API and of cluster DNS. */
export const defaultPlaces = (serviceCIDR: string, apiPort: number): SystemPlaces => ({
  apiAddress: apiServiceIP(serviceCIDR),
  apiPort,
  serviceRangeIPv6: familyRanges(serviceCIDR).IPv6,
  dnsAddress: clusterDnsIP(serviceCIDR),
  dnsDomain: 'cluster.local',
});

/**
 * Rejects with the StatusError of the first object that cannot be created. If the store is full, controllers
 * create the object later: the server must start, so that an administrator can make room through it.
 */
export async function bootstrapObjects(
  server: BootstrapTarget,
  { namespaces, api, dns }: SystemObjects,
): Promise<void> {
  const handle = server.handlerFor(systemUser(component));
  for (const namespace of namespaces) await ensure(handle, namespaceResource, '', namespace);
  await ensure(handle, serviceResource, apiService.namespace, api);
  await ensure(handle, serviceResource, dnsService.namespace, dns);
  await Promise.all(fixedObjects.map(({ ref, draft }) => ensure(handle, ref, '', draft)));
}

async function ensure<T extends KubeObject>(
  handle: Handle,
  ref: ResourceRef<T>,
  namespace: string,
  object: Draft<T>,
): Promise<void> {
  const version = ref.group ? `apis/${apiVersionOf(ref)}` : `api/${ref.version}`;
  const collection = `http://apiserver/${version}${namespace && `/namespaces/${namespace}`}/${ref.plural}`;
  const headers = { 'content-type': 'application/json', 'user-agent': component };
  const body = JSON.stringify(object);
  const created = await handle(new Request(collection, { method: 'POST', headers, body }));
  if (!created.ok && created.status !== 409 && created.status !== 429) throw await failureOf(created);
  await discard(created);
}

async function discard(response: Response): Promise<void> {
  await response.body?.cancel();
}

async function failureOf(response: Response): Promise<StatusError> {
  return new StatusError((await response.json()) as StatusError['status']);
}
