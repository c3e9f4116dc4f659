/** Checks of the host name of a Dns object, which all pods and nodes of the cluster resolve. Pure. */

/** Default domains: reserved top-level domains (RFC 2606). */
export const defaultDnsDomains: readonly string[] = ['example', 'test'];

export interface DnsNames {
  /** Domains that an administrator has opened for Dns objects, in lower case, without a trailing dot. */
  readonly domains: readonly string[];
  /** Domain of the cluster's own names, such as cluster.local. */
  readonly clusterDomain: string;
  /** Host names of nodes and masters, in any case, with or without a trailing dot. */
  readonly machines: readonly string[];
}

/**
 * Returns the reason why an object may not have the host, as a sentence without its subject; undefined for
 * none.
 */
export function dnsHostProblem(
  host: string,
  { domains, clusterDomain, machines }: DnsNames,
): string | undefined {
  const name = plain(host);
  if (name === plain(clusterDomain) || isBelow(name, plain(clusterDomain)))
    return `must not be a name of the cluster's own domain ${clusterDomain}`;
  if (machines.some((machine) => plain(machine) === name))
    return 'must not be the name of a node or a master of this cluster';
  if (domains.some((domain) => isBelow(name, plain(domain)))) return undefined;
  const places = domains.map((domain) => `*.${domain}`).join(', ');
  return `must be below a domain that is open for Dns objects (${places}): an administrator names them by --dns-domains of the master`;
}

const plain = (name: string) => name.toLowerCase().replace(/\.$/, '');
const isBelow = (name: string, domain: string) => name.endsWith(`.${domain}`);
