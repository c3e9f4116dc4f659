/**
 * Writes combinations as chains and sets of one family. Equal contents keep their name from one call to the
 * next, and equal peers of several combinations share a set.
 */

import { blockRanges, insideBlock } from '../../../base/address-ranges.ts';
import { isIPv4 } from '../../../base/addresses.ts';
import { type Combination, everyPod, type NamedPeers, protocols } from './combination.ts';
import { type Direction, maxPort, resolvePort } from './compiled-policy.ts';
import type { PeerIndex } from './peer-index.ts';
import type { PolicyPod } from './policy-pod.ts';
import type { Segment } from './port-segments.ts';
import type { AddressSet, Family, PolicyTables, SetKind } from './tables.ts';

interface Known extends AddressSet {
  /** Versions of the peers that the elements are made from. */
  readonly versions: string;
}

/** nft allows 128 bytes. */
const maxComment = 120;

/** Parts of one call, by name. */
interface Written {
  readonly sets: Map<string, Known>;
  readonly chains: Map<string, readonly string[]>;
  /** Names in use, by content. */
  readonly names: Map<string, string>;
}

export class TableWriter {
  readonly #family: Family;
  readonly #peers: PeerIndex;
  #last: Written = { sets: new Map(), chains: new Map(), names: new Map() };
  #count = 0;

  constructor(family: Family, peers: PeerIndex) {
    this.#family = family;
    this.#peers = peers;
  }

  write(chosen: Readonly<Record<Direction, ReadonlyMap<string, Combination>>>): PolicyTables {
    const written: Written = { sets: new Map(), chains: new Map(), names: new Map() };
    const chainOf = new Map<Combination, string>();
    const verdicts = (direction: Direction) => {
      const own = [...chosen[direction]].filter(([ip]) => isIPv4(ip) === (this.#family === 'ip'));
      return new Map(
        own.map(([ip, combination]) => {
          const chain = chainOf.get(combination) ?? this.#combination(combination, written);
          chainOf.set(combination, chain);
          return [ip, chain];
        }),
      );
    };
    const result = { ingress: verdicts('ingress'), egress: verdicts('egress') };
    this.#last = written;
    return { sets: written.sets, chains: written.chains, verdicts: result };
  }

  /** Returns the name of a content: the one it had, or a new one. */
  #name(prefix: string, content: string, { names }: Written): string {
    const key = `${prefix} ${content}`;
    const name = names.get(key) ?? this.#last.names.get(key) ?? `${prefix}-${++this.#count}`;
    names.set(key, name);
    return name;
  }

  #combination(combination: Combination, written: Written): string {
    const { direction, segments, anyPort, named, policies } = combination;
    const lines = protocols.flatMap((protocol) => {
      const ports = segments[protocol].map((segment) => this.#port(segment, direction, written));
      return ports.length === 0 ? [] : [`${protocol} dport vmap { ${ports.join(', ')} }`];
    });
    if (anyPort === undefined) lines.push('accept');
    else if (anyPort.length > 0) lines.push(`jump ${this.#group(anyPort, direction, written)}`);
    if (named.length > 0) {
      const set = this.#namedSet(named, written);
      lines.push(`${this.#family} daddr . meta l4proto . th dport @${set} accept`);
    }
    lines.push(`counter drop comment "${commentOf(policies)}"`);
    const name = this.#name(direction, lines.join('\n'), written);
    written.chains.set(name, lines);
    return name;
  }

  #port({ from, to, peers }: Segment, direction: Direction, written: Written): string {
    const ports = from === to ? `${from}` : `${from}-${Math.min(to, maxPort)}`;
    return `${ports} : ${peers ? `jump ${this.#group(peers, direction, written)}` : 'accept'}`;
  }

  /** Writes a chain that accepts packets of some peers, and returns its name. */
  #group(peers: readonly string[], direction: Direction, written: Written): string {
    const all = peers.map((key) => this.#peers.members(key));
    const address = `${this.#family} ${direction === 'ingress' ? 'saddr' : 'daddr'}`;
    const lines: string[] = [];
    const pods = all.filter(({ peer }) => peer.kind === 'pods');
    if (pods.length > 0) {
      const versions = pods.map(({ version }) => version).join();
      const content = pods.map(({ peer }) => peer.key);
      const set = this.#set('pods', content, versions, written, () => {
        const ips = pods.flatMap((members) => [...members.pods.values()].flatMap((pod) => this.#ipsOf(pod)));
        return new Set(ips);
      });
      lines.push(`${address} @${set} accept`);
    }
    const blocks = all.flatMap(({ peer }) => (peer.kind === 'block' ? [peer] : []));
    if (blocks.length > 0) {
      const content = blocks.map(({ key }) => key);
      const set = this.#set('ranges', content, '', written, () => {
        return new Set(blockRanges(blocks, this.#family === 'ip' ? 4 : 6));
      });
      lines.push(`${address} @${set} accept`);
    }
    const name = this.#name('peers', lines.join('\n'), written);
    written.chains.set(name, lines);
    return name;
  }

  /** Writes a set of addresses and ports, since each peer may have the port under its own number. */
  #namedSet(named: readonly NamedPeers[], written: Written): string {
    const content = [...new Set(named.map((port) => JSON.stringify(port)))].sort();
    const members = named.flatMap((port) =>
      port.peers.map((key) => [port, this.#namedMembers(key)] as const),
    );
    const versions = members.map(([, { version }]) => version).join();
    return this.#set('ports', content, versions, written, () => {
      const elements = members.flatMap(([port, { pods, accepts }]) =>
        [...pods.values()].flatMap((pod) => this.#portsOf(port, pod, accepts)),
      );
      return new Set(elements);
    });
  }

  /** An ipBlock covers the pods whose addresses are in it. */
  #namedMembers(key: string) {
    const { peer, pods, version } = this.#peers.members(key);
    if (peer.kind === 'pods') return { pods, version, accepts: () => true };
    return { ...this.#peers.members(everyPod.key), accepts: insideBlock(peer) };
  }

  #portsOf(port: NamedPeers, pod: PolicyPod, accepts: (ip: string) => boolean): readonly string[] {
    const numbers = resolvePort(port, pod);
    return this.#ipsOf(pod)
      .filter(accepts)
      .flatMap((ip) => numbers.map((number) => `${ip} . ${port.protocol} . ${number}`));
  }

  #ipsOf({ ips }: PolicyPod): readonly string[] {
    return ips.filter((ip) => isIPv4(ip) === (this.#family === 'ip'));
  }

  #set(
    kind: SetKind,
    content: readonly string[],
    versions: string,
    written: Written,
    read: () => ReadonlySet<string>,
  ): string {
    const name = this.#name(kind, JSON.stringify(content), written);
    const known = written.sets.get(name) ?? this.#last.sets.get(name);
    written.sets.set(name, known?.versions === versions ? known : { kind, versions, elements: read() });
    return name;
  }
}

/** Names of objects hold no character that nft treats specially. */
function commentOf(policies: readonly string[]): string {
  const text = policies.join(' ');
  return text.length <= maxComment ? text : `${text.slice(0, maxComment - 4)} ...`;
}
