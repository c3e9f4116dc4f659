/** Checks the host name of a Dns object, which all pods and nodes of the cluster resolve. Pure. */

/** Open unless an administrator names others: top-level domains that nobody has (RFC 2606). */
export const defaultDnsDomains: readonly string[] = ['example', 'test'];

export interface DnsNames {
  /** The domains that an administrator has opened for Dns objects, in lower case, without a dot at the end. */
  readonly domains: readonly string[];
  /** Domain of the cluster's own names, such as cluster.local. */
  readonly clusterDomain: string;
  /** Host names of nodes and masters, in any case, with or without a dot at the end. */
  readonly machines: readonly string[];
}

/** Returns why an object may not have the host, as a sentence without its subject; undefined where it may. */
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
