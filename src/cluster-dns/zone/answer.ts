/**
 * Answers for the cluster's own names. Names and their meaning are those of kubernetes/dns
 * docs/specification.md 1.1.0, with the names of pods that kube-dns and CoreDNS add.
 */
import { familyOf } from '../../base/address-families.ts';
import { canonicalAddress, isIPv4, isIPv6 } from '../../base/addresses.ts';
import type { DnsRecord, Rcode } from '../packet.ts';
import type { NamedPort, ServiceNames } from './service-names.ts';
import type { Zone } from './zone.ts';

export interface Verdict {
  readonly rcode: Rcode;
  readonly answers: readonly DnsRecord[];
  readonly authorities: readonly DnsRecord[];
  readonly additionals: readonly DnsRecord[];
  /** A name outside the cluster whose records complete the answer. */
  readonly follow?: string;
}

export interface Question {
  readonly name: string;
  /** Type such as `A`. */
  readonly type: string;
}

/** TTL in seconds, as short as CoreDNS' default, because clients see changes only after it. */
export const ttl = 5;
const specVersion = '1.1.0';
/** Maximum length of a chain of aliases within the cluster; a longer one counts as a loop. */
const maxChainLength = 8;

/** Returns the answer; undefined for a name that is not the cluster's. */
export function answerFrom(zone: Zone, { name, type }: Question): Verdict | undefined {
  return answer(zone, name, type, maxChainLength);
}

function answer(zone: Zone, asked: string, type: string, chain: number): Verdict | undefined {
  const name = asked.toLowerCase();
  const host = zone.hostAddresses(name);
  if (host) return found(zone, type, addressRecords(asked, host));
  if (name === zone.domain) return found(zone, type, apex(zone, asked));
  if (name.endsWith(`.${zone.domain}`)) {
    const labels = name.slice(0, -zone.domain.length - 1).split('.');
    return inDomain({ zone, asked, type, chain }, labels);
  }
  const ip = reversedAddress(name);
  return ip === undefined ? undefined : reverse(zone, asked, type, ip);
}

interface Asked {
  readonly zone: Zone;
  /** Name with its original case, for the records. */
  readonly asked: string;
  readonly type: string;
  readonly chain: number;
}

function inDomain(request: Asked, labels: readonly string[]): Verdict {
  const { zone, asked, type } = request;
  const kind = labels.at(-1);
  if (kind === 'svc') return underServices(request, labels.slice(0, -1));
  if (kind === 'pod') return underPods(request, labels.slice(0, -1));
  const path = labels.join('.');
  if (path === 'dns-version') {
    return found(zone, type, [{ type: 'TXT', name: asked, ttl, data: [specVersion] }]);
  }
  if (path === 'ns.dns') return found(zone, type, addressRecords(asked, [zone.nameServer]));
  return path === 'dns' ? noData(zone) : noName(zone);
}

function underServices(request: Asked, labels: readonly string[]): Verdict {
  const { zone } = request;
  const [namespace, name, ...rest] = labels.toReversed();
  if (namespace === undefined) return noData(zone);
  if (name === undefined) return zone.hasNamespace(namespace) ? noData(zone) : noName(zone);
  const service = zone.service(namespace, name);
  return service
    ? ofService(request, service, `${name}.${namespace}.svc.${zone.domain}`, rest)
    : noName(zone);
}

/** Answers for a name of a Service. `rest` are the labels before the Service's name, from last to first. */
function ofService(request: Asked, service: ServiceNames, owner: string, rest: readonly string[]): Verdict {
  const { zone, asked, type } = request;
  const [first, second, ...more] = rest;
  if (first === undefined) {
    if (service.externalName !== undefined) return alias(request, service.externalName);
    return found(zone, type, addressRecords(asked, service.addresses));
  }
  if (more.length > 0) return noName(zone);
  if (first.startsWith('_')) return ofPortName(request, service, owner, { protocol: first, port: second });
  const addresses = second === undefined ? service.hosts.get(first) : undefined;
  return addresses ? found(zone, type, addressRecords(asked, addresses)) : noName(zone);
}

/** Answers for `_PORT._PROTOCOL` below a Service's name, or for `_PROTOCOL` alone, which has no records. */
function ofPortName(
  request: Asked,
  service: ServiceNames,
  owner: string,
  labels: { readonly protocol: string; readonly port: string | undefined },
): Verdict {
  const { zone } = request;
  const ports = service.ports.filter(({ protocol }) => `_${protocol}` === labels.protocol);
  if (labels.port === undefined) return ports.length > 0 ? noData(zone) : noName(zone);
  const port = ports.find(({ name }) => `_${name}` === labels.port);
  return port ? ofPort(request, service, owner, port) : noName(zone);
}

function ofPort(
  { zone, asked, type }: Asked,
  service: ServiceNames,
  owner: string,
  port: NamedPort,
): Verdict {
  const weight = Math.max(1, Math.floor(100 / port.targets.length));
  const targetName = (host: string | undefined) => (host === undefined ? owner : `${host}.${owner}`);
  const records = port.targets.map(({ host, port: number }): DnsRecord => {
    const data = { priority: 0, weight, port: number, target: targetName(host) };
    return { type: 'SRV', name: asked, ttl, data };
  });
  const verdict = found(zone, type, records);
  if (verdict.answers.length === 0) return verdict;
  const hosts = new Set(port.targets.map(({ host }) => host));
  const additionals = [...hosts].flatMap((host) =>
    addressRecords(
      targetName(host),
      host === undefined ? service.addresses : (service.hosts.get(host) ?? []),
    ),
  );
  return { ...verdict, additionals };
}

/**
 * Answers for an ExternalName Service: its target, and those records of the target that the cluster has.
 */
function alias({ zone, asked, type, chain }: Asked, target: string): Verdict {
  if (!isWritable(target) || chain === 0) return { rcode: 'SERVFAIL', ...nothing };
  const answers: readonly DnsRecord[] = [{ type: 'CNAME', name: asked, ttl, data: target }];
  if (type === 'CNAME') return { rcode: 'NOERROR', ...nothing, answers };
  const rest = answer(zone, target, type, chain - 1);
  if (!rest) return { rcode: 'NOERROR', ...nothing, answers, follow: target };
  return { ...rest, answers: [...answers, ...rest.answers] };
}

/** Returns true when the name and its labels have lengths that a DNS message can contain. */
const isWritable = (name: string) =>
  name.length <= 253 && name.split('.').every((label) => label.length > 0 && label.length <= 63);

/**
 * Answers for `10-244-0-5.shop.pod`, or `fd00-10-244--5.shop.pod` with an IPv6 address: derived from the
 * name, whether or not such a pod exists, as CoreDNS does by default.
 */
function underPods({ zone, asked, type }: Asked, labels: readonly string[]): Verdict {
  const [namespace, dashed, ...more] = labels.toReversed();
  if (namespace === undefined) return noData(zone);
  if (!zone.hasNamespace(namespace)) return noName(zone);
  if (dashed === undefined) return noData(zone);
  const ip = dashedAddress(dashed);
  if (more.length > 0 || ip === undefined) return noName(zone);
  return found(zone, type, addressRecords(asked, [ip]));
}

function dashedAddress(label: string): string | undefined {
  const isDotted = /^\d+-\d+-\d+-\d+$/.test(label);
  const ip = label.replaceAll('-', isDotted ? '.' : ':');
  return familyOf(ip) === undefined ? undefined : canonicalAddress(ip);
}

const reverseDomain = '.in-addr.arpa';
/** Domain of 32 hexadecimal digits, from last to first (RFC 3596 §2.5). */
const reverseDomain6 = /^((?:[0-9a-f]\.){32})ip6\.arpa$/;

/** Returns the canonical address that a name of the reverse domains stands for; undefined for other names. */
function reversedAddress(name: string): string | undefined {
  const [, digits] = reverseDomain6.exec(name) ?? [];
  if (digits !== undefined) {
    const groups = digits.replaceAll('.', '').split('').reverse().join('').match(/.{4}/g) ?? [];
    const ip = groups.join(':');
    return isIPv6(ip) ? canonicalAddress(ip) : undefined;
  }
  if (!name.endsWith(reverseDomain)) return undefined;
  const ip = name.slice(0, -reverseDomain.length).split('.').reverse().join('.');
  return isIPv4(ip) ? ip : undefined;
}

function reverse(zone: Zone, asked: string, type: string, ip: string): Verdict | undefined {
  const names = zone.namesOf(ip);
  if (names.length === 0) return zone.ownsAddress(ip) ? noName(zone) : undefined;
  return found(
    zone,
    type,
    names.map((one) => ({ type: 'PTR', name: asked, ttl, data: `${one}.${zone.domain}` })),
  );
}

const addressRecords = (name: string, addresses: readonly string[]): DnsRecord[] =>
  addresses.map((data) => ({ type: isIPv4(data) ? 'A' : 'AAAA', name, ttl, data }));

function apex(zone: Zone, name: string): DnsRecord[] {
  return [soa(zone, name), { type: 'NS', name, ttl, data: `ns.dns.${zone.domain}` }];
}

function soa({ domain, serial }: Zone, name: string): DnsRecord {
  const mname = `ns.dns.${domain}`;
  const rname = `hostmaster.${domain}`;
  const data = { mname, rname, serial, refresh: 7200, retry: 1800, expire: 86_400, minimum: ttl };
  return { type: 'SOA', name, ttl, data };
}

const nothing = { answers: [], authorities: [], additionals: [] } as const;

/** Returns the records of the requested type; NODATA when the name has none. */
function found(zone: Zone, type: string, records: readonly DnsRecord[]): Verdict {
  const answers = records.filter((record) => type === 'ANY' || record.type === type);
  return answers.length === 0 ? noData(zone) : { rcode: 'NOERROR', ...nothing, answers };
}

const noData = (zone: Zone): Verdict => ({
  rcode: 'NOERROR',
  ...nothing,
  authorities: [soa(zone, zone.domain)],
});

const noName = (zone: Zone): Verdict => ({
  rcode: 'NXDOMAIN',
  ...nothing,
  authorities: [soa(zone, zone.domain)],
});
