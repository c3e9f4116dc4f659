/**
 * The external addresses of Services. If several Services request an address, the oldest one gets it
 * (creation time, then an address of a load balancer, then uid), so that no namespace can take an address
 * from another by the name of its Service. Pure.
 */

import { type ObjectKey, objectKey } from '../../../../apimachinery/meta.ts';
import { type AddressFamily, familyOf } from '../../../../base/address-families.ts';
import { canonicalAddress } from '../../../../base/addresses.ts';
import type { Service, ServicePort } from '../types.gen.ts';

/**
 * Returns the addresses of the Service's families, in canonical form, that nodes deliver to it in addition to
 * its cluster IPs: its external IPs, and those that a load balancer has assigned and forwards unchanged to
 * nodes (KEP-1860).
 */
export function externalAddresses({ spec, status }: Service): readonly string[] {
  const taken = spec.type === 'LoadBalancer' ? (status?.loadBalancer.ingress ?? []) : [];
  const delivered = taken.flatMap(({ ip, ipMode }) => (ip && ipMode !== 'Proxy' ? [ip] : []));
  const all = [...(spec.externalIPs ?? []), ...delivered].flatMap((ip) => canonicalAddress(ip) ?? []);
  // With a single element of another family, the kernel would reject the whole transaction of a table.
  const families = servedFamilies(spec);
  return [...new Set(all)].filter((address) => families.some((family) => family === familyOf(address)));
}

/** Returns the families of the Service's addresses; IPv4 for a Service that has been given none yet. */
export const servedFamilies = ({ ipFamilies }: Service['spec']): readonly AddressFamily[] =>
  ipFamilies?.length ? (ipFamilies as readonly AddressFamily[]) : ['IPv4'];

/** Returns the cluster IP of a family, in canonical form; undefined without one. */
export const clusterIPOf = (
  { clusterIP = '', clusterIPs }: Service['spec'],
  family: AddressFamily,
): string | undefined =>
  (clusterIPs?.length ? clusterIPs : [clusterIP])
    .flatMap((ip) => canonicalAddress(ip) ?? [])
    .find((ip) => familyOf(ip) === family);

/** Returns the text of an address with a protocol and port, such as `203.0.113.8 TCP 80`. */
export const externalPort = (address: string, { protocol, port }: Pick<ServicePort, 'protocol' | 'port'>) =>
  `${address} ${protocol} ${port}`;

/**
 * Maximum pairs of an external address and a port of a Service. Each node has a rule for each pair; some
 * thousand addresses with as many ports would be millions of rules.
 */
export const maxExternalPorts = 1000;

/** Returns the number of pairs of an external address and a port of the Service, without parsing them. */
export const externalPortCount = ({ spec, status }: Service): number =>
  ((spec.externalIPs?.length ?? 0) + (status?.loadBalancer.ingress?.length ?? 0)) * (spec.ports?.length ?? 0);

/** Returns true if nodes deliver traffic to the Service. */
export const isDelivered = ({ spec }: Service): boolean =>
  Boolean(spec.clusterIP) && spec.clusterIP !== 'None' && spec.type !== 'ExternalName';

/**
 * Returns the external addresses of the Service with each of its ports, even if nothing is delivered to it.
 */
export const externalPortsOf = (service: Service): readonly string[] =>
  externalAddresses(service).flatMap((address) =>
    (service.spec.ports ?? []).map((port) => externalPort(address, port)),
  );

interface Rivals {
  holder: Service;
  readonly all: Map<ObjectKey, Service>;
}

const deliveredPortsOf = (service: Service | undefined): readonly string[] =>
  service && isDelivered(service) ? externalPortsOf(service) : [];

/** Tracks the holders of ports as Services are added, changed and removed: the oldest that requests one. */
export class ExternalHolders {
  readonly #requested: (service: Service | undefined) => readonly string[];
  readonly #rivals = new Map<string, Rivals>();
  readonly #portsOf = new Map<ObjectKey, readonly string[]>();

  /** `requested` returns the ports that a Service requests. */
  constructor(requested = deliveredPortsOf) {
    this.#requested = requested;
  }

  /**
   * Sets the current Service, or undefined after its deletion. Returns the keys of the Services that lost or
   * gained a port.
   */
  replace(key: ObjectKey, service: Service | undefined): ReadonlySet<ObjectKey> {
    const before = this.#portsOf.get(key) ?? [];
    const now = this.#requested(service);
    const changed = new Set<ObjectKey>();
    for (const port of new Set([...before, ...now])) {
      for (const one of this.#replaceAt(port, key, now.includes(port) ? service : undefined))
        changed.add(one);
    }
    if (now.length > 0) this.#portsOf.set(key, now);
    else this.#portsOf.delete(key);
    return changed;
  }

  /**
   * Returns the key of the Service that holds the port (see `externalPort`); undefined if no Service requests
   * it.
   */
  holder(port: string): ObjectKey | undefined {
    const rivals = this.#rivals.get(port);
    return rivals && objectKey(rivals.holder);
  }

  /** Returns the keys of the Services that request any port. */
  services(): Iterable<ObjectKey> {
    return this.#portsOf.keys();
  }

  /** Returns the keys of the Services that lost and gained the port. */
  #replaceAt(port: string, key: ObjectKey, service: Service | undefined): readonly ObjectKey[] {
    const old = this.holder(port);
    this.#replaceIn(port, key, service);
    const next = this.holder(port);
    return old === next ? [] : [old, next].filter((one) => one !== undefined);
  }

  #replaceIn(port: string, key: ObjectKey, service: Service | undefined): void {
    const rivals = this.#rivals.get(port);
    if (!rivals) {
      if (service) this.#rivals.set(port, { holder: service, all: new Map([[key, service]]) });
      return;
    }
    if (service) rivals.all.set(key, service);
    else rivals.all.delete(key);
    const oldest = holderAfter(rivals, key, service);
    if (oldest) rivals.holder = oldest;
    else this.#rivals.delete(port);
  }
}

/**
 * Returns the holder after the rival of a key has become `service`; undefined without a rival. All rivals are
 * compared only if the holder itself changes.
 */
function holderAfter(
  { holder, all }: Rivals,
  key: ObjectKey,
  service: Service | undefined,
): Service | undefined {
  if (objectKey(holder) !== key) return service && isOlder(service, holder) ? service : holder;
  let oldest: Service | undefined;
  for (const one of all.values()) if (!oldest || isOlder(one, oldest)) oldest = one;
  return oldest;
}

/**
 * Compares by creation time. If two Services were created in the same second, the one with an address of a
 * load balancer counts as older, since it may have clients; otherwise the uids decide, which nobody chooses.
 */
function isOlder(one: Service, other: Service): boolean {
  const { metadata: a } = one;
  const { metadata: b } = other;
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp;
  if (isBalanced(one) !== isBalanced(other)) return isBalanced(one);
  return a.uid < b.uid;
}

const isBalanced = ({ spec, status }: Service): boolean =>
  spec.type === 'LoadBalancer' && (status?.loadBalancer.ingress?.length ?? 0) > 0;
