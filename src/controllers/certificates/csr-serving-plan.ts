/**
 * Decides under which names and addresses a node may serve: under its own, but never under names or addresses
 * of the API server or under those that the cluster reserves for Services and pods. The addresses in a Node
 * are reported by the node itself and prove nothing. Clients accept a certificate for every spelling of a
 * name or an address, so names and addresses are compared in canonical form.
 */

import type { MasterPlace } from '../../api/coordination/v1/master-lease.ts';
import type { Node } from '../../api/core/v1/node/node.ts';
import { insideBlock } from '../../base/address-ranges.ts';
import { addressKind, canonicalAddress, sameAddress } from '../../base/addresses.ts';
import type { CertificateRequestContent } from '../../formats/certificate-request.ts';

/** Ranges and names that are reserved for the cluster. */
export interface ClusterPlaces {
  /** Domain of the cluster, such as `cluster.local`. */
  readonly clusterDomain: string;
  /** Ranges of Services and of pods, such as `10.96.0.0/16`. */
  readonly ranges: readonly string[];
  /** Addresses of the Services of the API and of cluster DNS, in whatever range they are. */
  readonly serviceAddresses: readonly string[];
  /**
   * Known masters. An empty list means that they are not known yet, since one of them handles this request.
   */
  readonly masters: readonly MasterPlace[];
}

export interface ServingSituation {
  readonly name: string;
  readonly node: Node | undefined;
  readonly otherNodes: readonly Node[];
  readonly places: ClusterPlaces;
  /** Address from which the API server received the request. */
  readonly from: string | undefined;
}

export type ServingVerdict =
  | { readonly type: 'granted' }
  /** The masters are not known yet. */
  | { readonly type: 'wait' }
  | { readonly type: 'refused'; readonly reason: 'NotItsName' | 'NotItsAddress'; readonly message: string };

export function judgeServing(
  content: CertificateRequestContent,
  situation: ServingSituation,
): ServingVerdict {
  for (const dnsName of content.dnsNames) {
    const message = nameProblem(dnsName, situation);
    if (message !== undefined) return { type: 'refused', reason: 'NotItsName', message };
  }
  for (const ip of content.ipAddresses) {
    const message = addressProblem(ip, situation);
    if (message !== undefined) return { type: 'refused', reason: 'NotItsAddress', message };
  }
  return situation.places.masters.length > 0 ? { type: 'granted' } : { type: 'wait' };
}

/**
 * Returns the fault of a DNS name, or undefined. The name must be the name of the Node, which is unique; host
 * names are not, because a machine can choose any host name.
 */
function nameProblem(dnsName: string, { name, places, from }: ServingSituation): string | undefined {
  if (dnsName !== name) return `DNS name ${dnsName} does not belong to node ${name}: request ${name}`;
  if (isReservedName(dnsName, places.clusterDomain))
    return `DNS name ${dnsName} is reserved for the API server or for Services: give the machine another node-name`;
  const master = places.masters.find(
    ({ hostname }) => hostname !== undefined && plainName(hostname) === dnsName,
  );
  if (!master || comesFrom(master, from)) return undefined;
  return `DNS name ${dnsName} belongs to the master at ${master.address}, but the request comes from ${from ?? 'an unknown address'}`;
}

/**
 * Returns a name in the form in which names are compared: lower case, without the dot of an absolute name.
 */
const plainName = (name: string) => name.toLowerCase().replace(/\.$/, '');

/**
 * Returns true for a request from a master's machine; root on that machine can read the authority's key
 * anyway.
 */
const comesFrom = ({ address }: MasterPlace, from: string | undefined) =>
  from !== undefined && (sameAddress(address, from) || addressKind(from) === 'loopback');

/** Names for the machine itself in the hosts files of distributions (RFC 6761 §6.3, Debian). */
const ownNames = new Set<string | undefined>([
  'localhost',
  'localhost4',
  'localhost6',
  'ip6-localhost',
  'ip6-loopback',
  'broadcasthost',
]);

/**
 * Returns true for names by which a client reaches the API server, as they are or after a resolver has
 * appended the end of its search list (`kubernetes`, `kubernetes.default`, `kubernetes.default.svc`), and for
 * names in the form of a Service's name. A node may still be called `web` or `web.default` if such a Service
 * exists, because the name alone does not show the difference.
 */
export function isReservedName(dnsName: string, clusterDomain: string): boolean {
  const name = plainName(dnsName);
  const domain = plainName(clusterDomain);
  const [first, ...rest] = name.split('.');
  return (
    ownNames.has(first) ||
    name === domain ||
    name.endsWith('.localhost') ||
    name.endsWith(`.${domain}`) ||
    rest.includes('svc') ||
    (first === 'kubernetes' && (rest.length === 0 || rest[0] === 'default'))
  );
}

function addressProblem(ip: string, situation: ServingSituation): string | undefined {
  const { name, node, otherNodes, places, from } = situation;
  const kind = addressKind(ip);
  if (kind !== 'unicast')
    return `address ${ip} is ${kind ?? 'not an IP address'}: other machines cannot reach a node at it`;
  const kept = places.ranges.find((cidr) => insideBlock({ cidr, except: [] })(canonicalAddress(ip) ?? ''));
  if (kept) return `address ${ip} is in ${kept}, which is reserved for Services or pods`;
  if (places.serviceAddresses.some((address) => sameAddress(address, ip)))
    return `address ${ip} belongs to a Service of the control plane`;
  const own = addressesOf(node);
  if (own.length > 0 && !own.some((address) => sameAddress(address, ip)))
    return `address ${ip} does not belong to node ${name}, which has ${own.join(', ')}`;
  const master = places.masters.find(({ address }) => sameAddress(address, ip));
  if (master && !comesFrom(master, from))
    return `address ${ip} belongs to the API server, but the request comes from ${from ?? 'an unknown address'}`;
  const holder = otherNodes.find(
    (other) => isReady(other) && addressesOf(other).some((address) => sameAddress(address, ip)),
  );
  return holder && `address ${ip} belongs to node ${holder.metadata.name}`;
}

/** Returns the IP addresses that the node reports, in canonical form, without host names. */
const addressesOf = (node: Node | undefined): string[] =>
  (node?.status?.addresses ?? []).flatMap(({ type, address }) =>
    type.endsWith('IP') ? (canonicalAddress(address) ?? []) : [],
  );

const isReady = ({ status }: Node) =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
