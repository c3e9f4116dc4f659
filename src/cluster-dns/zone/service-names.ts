/**
 * The names below a Service and their targets, from the Service and its EndpointSlices: the records of
 * Kubernetes' DNS-based service discovery, version 1.1.0 (kubernetes/dns docs/specification.md).
 */

import type { Service } from '../../api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts';
import { canonicalAddress } from '../../base/addresses.ts';
import { packKey } from '../../base/packed-key.ts';

export interface ServiceNames {
  /** Addresses of the Service's own name: its cluster IPs, or the endpoints of a headless Service. */
  readonly addresses: readonly string[];
  /** Target of an ExternalName Service. */
  readonly externalName: string | undefined;
  /** Addresses of endpoints by host name, which is the label below the Service's name. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  /** Named ports, whose targets are the Service itself, or each endpoint of a headless Service. */
  readonly ports: readonly NamedPort[];
}

export interface NamedPort {
  readonly name: string;
  /** Protocol: `tcp`, `udp` or `sctp`. */
  readonly protocol: string;
  readonly targets: readonly PortTarget[];
}

export interface PortTarget {
  readonly port: number;
  /** A key of `hosts`; undefined for the Service itself. */
  readonly host: string | undefined;
}

const noHosts: ReadonlyMap<string, readonly string[]> = new Map();

export function serviceNames(service: Service, slices: readonly EndpointSlice[]): ServiceNames {
  const { spec } = service;
  if (spec.type === 'ExternalName') {
    const externalName = spec.externalName?.replace(/\.$/, '').toLowerCase();
    return { addresses: [], externalName, hosts: noHosts, ports: [] };
  }
  const published = publishedEndpoints(service, slices);
  const hosts = new Map<string, string[]>();
  for (const { host, ip } of published) {
    const addresses = hosts.get(host);
    if (!addresses) hosts.set(host, [ip]);
    else if (!addresses.includes(ip)) addresses.push(ip);
  }
  const headless = spec.clusterIP === 'None';
  const own = headless ? [] : clusterIPsOf(service);
  return {
    addresses: headless ? [...new Set(published.map(({ ip }) => ip))] : own,
    externalName: undefined,
    hosts,
    ports: headless ? endpointPorts(published) : servicePorts(service),
  };
}

/** Returns the cluster IPs of a Service in canonical form. */
export const clusterIPsOf = ({ spec: { clusterIP = '', clusterIPs } }: Service): readonly string[] =>
  (clusterIPs?.length ? clusterIPs : [clusterIP]).flatMap((ip) => canonicalAddress(ip) ?? []);

interface PublishedEndpoint {
  readonly host: string;
  readonly ip: string;
  readonly ports: EndpointSlice['ports'];
}

/**
 * Returns the ready endpoints, or all when the Service publishes unready ones, in the order of their
 * addresses.
 */
function publishedEndpoints(
  service: Service,
  slices: readonly EndpointSlice[],
): readonly PublishedEndpoint[] {
  const all = service.spec.publishNotReadyAddresses === true;
  const found: PublishedEndpoint[] = [];
  for (const { endpoints, ports } of slices.filter(({ addressType }) => addressType !== 'FQDN')) {
    for (const { addresses, conditions, hostname } of endpoints) {
      const ip = canonicalAddress(addresses[0] ?? '');
      if (ip === undefined || (conditions.ready === false && !all)) continue;
      found.push({ ip, host: hostname?.toLowerCase() || ip.replaceAll(/[.:]/g, '-'), ports });
    }
  }
  return found.sort(byAddress);
}

function byAddress(a: PublishedEndpoint, b: PublishedEndpoint): number {
  if (a.ip === b.ip) return 0;
  return a.ip < b.ip ? -1 : 1;
}

function servicePorts({ spec }: Service): readonly NamedPort[] {
  return (spec.ports ?? [])
    .filter(({ name }) => name)
    .map(({ name = '', protocol, port }) => ({
      name,
      protocol: protocol.toLowerCase(),
      targets: [{ port, host: undefined }],
    }));
}

function endpointPorts(endpoints: readonly PublishedEndpoint[]): readonly NamedPort[] {
  const found = new Map<string, { name: string; protocol: string; targets: Map<string, PortTarget> }>();
  for (const { host, ports } of endpoints) {
    for (const { name, protocol, port } of ports) {
      if (!name || port === undefined) continue;
      const key = packKey(name, protocol);
      const named = found.get(key) ?? { name, protocol: protocol.toLowerCase(), targets: new Map() };
      named.targets.set(packKey(String(host), String(port)), { host, port });
      found.set(key, named);
    }
  }
  return [...found.values()].map((named) => ({ ...named, targets: [...named.targets.values()] }));
}
