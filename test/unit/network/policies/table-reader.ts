/**
 * Model of nftables: decides on a packet by the sets, maps and chains of the tables alone. It reads the text
 * of the rules, so that a rule with another meaning fails the tests.
 */
import assert from 'node:assert/strict';
import { limitsOfCIDR } from '../../../../src/base/addresses.ts';
import type { Direction } from '../../../../src/network/policies/plan/compiled-policy.ts';
import type { Family, PolicyTables } from '../../../../src/network/policies/plan/tables.ts';

export interface Packet {
  readonly from: string;
  readonly to: string;
  readonly protocol: 'tcp' | 'udp' | 'sctp' | 'icmp';
  readonly port: number;
}

const numberOf = (ip: string): bigint => {
  const limits = limitsOfCIDR(`${ip}/${ip.includes(':') ? 128 : 32}`);
  assert.ok(limits, ip);
  return limits.first;
};

const inRange = (element: string, ip: string) => {
  const [first = '', last = first] = element.split('-');
  const value = numberOf(ip);
  return numberOf(first) <= value && value <= numberOf(last);
};

class Reader {
  readonly #tables: PolicyTables;
  readonly #packet: Packet;
  /** The number of rules that were evaluated. */
  steps = 0;

  constructor(tables: PolicyTables, packet: Packet) {
    this.#tables = tables;
    this.#packet = packet;
  }

  /** Returns the verdict of a chain; undefined if it returns to its caller. */
  chain(name: string): 'accept' | 'drop' | undefined {
    const lines = this.#tables.chains.get(name);
    assert.ok(lines, `chain ${name} does not exist`);
    for (const line of lines) {
      this.steps++;
      const verdict = this.#line(line);
      if (verdict) return verdict;
    }
    return undefined;
  }

  #line(line: string): 'accept' | 'drop' | undefined {
    const { protocol, port, from, to } = this.#packet;
    if (line === 'accept') return 'accept';
    if (line.startsWith('counter drop comment ')) return 'drop';
    const [, jump] = /^jump (\S+)$/.exec(line) ?? [];
    if (jump) return this.chain(jump);
    const [, which, map] = /^(tcp|udp|sctp) dport vmap \{ (.*) \}$/.exec(line) ?? [];
    if (map !== undefined) return which === protocol ? this.#ports(map, port) : undefined;
    const [, end, set] = /^ip6? (saddr|daddr) @(\S+) accept$/.exec(line) ?? [];
    if (set) return this.#has(set, end === 'saddr' ? from : to) ? 'accept' : undefined;
    const [, named] = /^ip6? daddr \. meta l4proto \. th dport @(\S+) accept$/.exec(line) ?? [];
    assert.ok(named, `the rule is not known: ${line}`);
    return this.#setOf(named).elements.has(`${to} . ${protocol} . ${port}`) ? 'accept' : undefined;
  }

  #ports(map: string, port: number): 'accept' | 'drop' | undefined {
    for (const entry of map.split(', ')) {
      const [, first, last = first, verdict = ''] = /^(\d+)(?:-(\d+))? : (.*)$/.exec(entry) ?? [];
      if (Number(first) <= port && port <= Number(last)) return this.#line(verdict);
    }
    return undefined;
  }

  #has(name: string, ip: string): boolean {
    const { kind, elements } = this.#setOf(name);
    return kind === 'ranges' ? [...elements].some((element) => inRange(element, ip)) : elements.has(ip);
  }

  #setOf(name: string) {
    const set = this.#tables.sets.get(name);
    assert.ok(set, `set ${name} does not exist`);
    return set;
  }
}

/** Returns whether the tables let the packet through, and the number of rules evaluated on the way. */
export function readTables(tables: PolicyTables, packet: Packet): { passes: boolean; steps: number } {
  if (packet.from === packet.to) return { passes: true, steps: 1 };
  const reader = new Reader(tables, packet);
  const side = (direction: Direction, ip: string) => {
    const chain = tables.verdicts[direction].get(ip);
    return chain === undefined || reader.chain(chain) === 'accept';
  };
  const passes = side('egress', packet.from) && side('ingress', packet.to);
  return { passes, steps: reader.steps };
}

export const familyOf = (ip: string): Family => (ip.includes(':') ? 'ip6' : 'ip');
