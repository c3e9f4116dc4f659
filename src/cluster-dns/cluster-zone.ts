/**
 * The zone made from Services, EndpointSlices and Namespaces. It is read from the informers' caches. The
 * names of a Service are computed at the first query for them, and again after the Service has changed.
 */
import { namespaceResource } from '../api/core/v1/namespace.ts';
import { type Service, serviceResource } from '../api/core/v1/service/service.ts';
import {
  type EndpointSlice,
  endpointSliceResource,
  serviceNameLabel,
} from '../api/discovery/v1/endpoint-slice.ts';
import type { FurtherRanges } from '../api/networking/v1/service-cidr.ts';
import { type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import { insideBlock } from '../base/address-ranges.ts';
import { canonicalAddress } from '../base/addresses.ts';
import type { InformerFactory } from '../client/informer.ts';
import { clusterIPsOf, type ServiceNames, serviceNames } from './zone/service-names.ts';
import type { Zone } from './zone/zone.ts';

export interface ClusterZoneOptions {
  /** Informers that have not been started yet. */
  readonly informers: InformerFactory;
  /** Domain such as `cluster.local`. */
  readonly domain: string;
  readonly nameServer: string;
  /** The networks of Services and pods, such as `10.96.0.0/16`. */
  readonly networks: readonly string[];
  /** Further networks of Services. */
  readonly furtherRanges?: FurtherRanges;
  readonly hostAddresses: Zone['hostAddresses'];
}

export interface ClusterZone extends Zone {
  /** False until everything has been read once. */
  readonly complete: boolean;
}

const slicesOfService = 'dns/service';
const slicesOfAddress = 'dns/address';
const servicesOfAddress = 'dns/cluster-ip';

const sliceOwners = (slice: EndpointSlice) => {
  const name = slice.metadata.labels?.[serviceNameLabel];
  return name ? [`${slice.metadata.namespace}/${name}`] : [];
};
const sliceAddresses = ({ endpoints }: EndpointSlice) =>
  endpoints.flatMap(({ addresses }) => addresses.flatMap((address) => canonicalAddress(address) ?? []));

/** Returns a function that returns true for an address in one of the cluster's networks. */
function networksOf({ networks, furtherRanges }: ClusterZoneOptions): Zone['ownsAddress'] {
  const read = () =>
    [...networks, ...(furtherRanges?.current() ?? [])].map((cidr) => insideBlock({ cidr, except: [] }));
  let known = read();
  furtherRanges?.onChange(() => {
    known = read();
  });
  return (ip) => known.some((includes) => includes(ip));
}

export function createClusterZone(options: ClusterZoneOptions): ClusterZone {
  const { informers, nameServer, hostAddresses } = options;
  const domain = options.domain.toLowerCase();
  const services = informers.informerFor(serviceResource);
  const slices = informers.informerFor(endpointSliceResource);
  const namespaces = informers.informerFor(namespaceResource);
  services.addIndex(servicesOfAddress, clusterIPsOf);
  slices.addIndex(slicesOfService, sliceOwners);
  slices.addIndex(slicesOfAddress, sliceAddresses);

  const known = new Map<ObjectKey, ServiceNames>();
  let serial = 1;
  const forget = (keys: readonly ObjectKey[]) => {
    serial = (serial + 1) >>> 0;
    for (const key of keys) known.delete(key);
  };
  const forgetService = (service: Service) => forget([objectKey(service)]);
  services.addEventHandler({ onAdd: forgetService, onUpdate: forgetService, onDelete: forgetService });
  const forgetOwner = (slice: EndpointSlice) => forget(sliceOwners(slice));
  slices.addEventHandler({
    onAdd: forgetOwner,
    onUpdate: (slice, old) => {
      forgetOwner(old);
      forgetOwner(slice);
    },
    onDelete: forgetOwner,
  });

  function namesOfKey(key: ObjectKey): ServiceNames | undefined {
    const present = known.get(key);
    if (present) return present;
    const service = services.lister.get(key);
    if (!service) return undefined;
    const names = serviceNames(service, slices.lister.byIndex(slicesOfService, key));
    known.set(key, names);
    return names;
  }

  const nameOf = ({ metadata }: Service) => `${metadata.name}.${metadata.namespace}.svc`;

  function endpointNames(ip: string): string[] {
    const owners = new Set(slices.lister.byIndex(slicesOfAddress, ip).flatMap(sliceOwners));
    return [...owners].sort().flatMap((key) => {
      const service = services.lister.get(key);
      if (service?.spec.clusterIP !== 'None') return [];
      const hosts = [...(namesOfKey(key)?.hosts ?? [])].filter(([, addresses]) => addresses.includes(ip));
      return hosts.map(([host]) => `${host}.${nameOf(service)}`);
    });
  }

  return {
    domain,
    nameServer,
    hostAddresses,
    get serial() {
      return serial;
    },
    get complete() {
      return services.hasSynced && slices.hasSynced && namespaces.hasSynced;
    },
    hasNamespace: (name) => namespaces.lister.get(name) !== undefined,
    service: (namespace, name) => namesOfKey(`${namespace}/${name}`),
    namesOf(ip) {
      const owners = services.lister.byIndex(servicesOfAddress, ip).map(nameOf);
      return owners.length > 0 ? owners : endpointNames(ip);
    },
    ownsAddress: networksOf(options),
  };
}
