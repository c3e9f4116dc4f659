/** Random clusters, policies and packets, so small that policies, pods and packets match often. */
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import { networkPolicyResource } from '../../../../src/api/networking/v1/network-policy.ts';
import { created } from '../../../fixtures/kinds.ts';
import type { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { type Cluster, ipsOf } from './oracle.ts';
import type { Packet } from './table-reader.ts';

const namespaceNames = ['shop', 'pay', 'ops'];
const blocks = [
  '10.0.0.0/30',
  '10.0.0.0/24',
  '10.0.0.2/32',
  '0.0.0.0/0',
  '192.0.2.0/24',
  'fd00::/64',
  'fd00::2/128',
  '::/0',
];
const exceptions = [
  '10.0.0.1/32',
  '10.0.0.2/31',
  '10.0.0.4/32',
  '192.0.2.9/32',
  'fd00::1/128',
  'fd00::2/127',
];
const portNames = ['web', 'dns', 'admin'];
const numbers = [0, 1, 53, 79, 80, 81, 8080, 65_535];

export class Draw {
  readonly #random: SeededRandom;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  below(count: number): number {
    return Math.floor(this.#random.next() * count);
  }

  chance(share: number): boolean {
    return this.#random.next() < share;
  }

  of<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }

  some<T>(most: number, draw: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, draw);
  }

  labels(): Record<string, string> {
    return {
      ...(this.chance(0.7) && { app: this.of(['a', 'b']) }),
      ...(this.chance(0.4) && { tier: this.of(['x', 'y']) }),
    };
  }

  selector() {
    const expression = () => {
      const operator = this.of(['In', 'NotIn', 'Exists', 'DoesNotExist']);
      const values = operator.endsWith('In') ? { values: [this.of(['a', 'x']), 'b'] } : {};
      return { key: this.of(['app', 'tier']), operator, ...values };
    };
    if (this.chance(0.2)) return {};
    return this.chance(0.6) ? { matchLabels: this.labels() } : { matchExpressions: [expression()] };
  }

  peer() {
    if (this.chance(0.35)) {
      const cidr = this.of(blocks);
      const inside = exceptions.filter(
        (range) =>
          range.includes(':') === cidr.includes(':') &&
          Number(range.split('/')[1]) > Number(cidr.split('/')[1]),
      );
      return {
        ipBlock: { cidr, ...(this.chance(0.6) && { except: inside.filter(() => this.chance(0.5)) }) },
      };
    }
    const which = this.below(3);
    return {
      ...(which !== 1 && { podSelector: this.selector() }),
      ...(which !== 0 && { namespaceSelector: this.selector() }),
    };
  }

  port() {
    const protocol = this.of(['TCP', 'UDP', 'SCTP']);
    if (this.chance(0.2)) return { protocol };
    if (this.chance(0.4)) return { protocol, port: this.of(portNames) };
    const port = this.of(numbers.filter((number) => number > 0));
    return { protocol, port, ...(this.chance(0.3) && { endPort: Math.min(65_535, port + this.below(100)) }) };
  }

  policy(name: string) {
    const rule = (field: 'from' | 'to') => ({
      ...(this.chance(0.8) && { [field]: this.some(2, () => this.peer()) }),
      ...(this.chance(0.6) && { ports: this.some(2, () => this.port()) }),
    });
    const spec = {
      podSelector: this.selector(),
      ...(this.chance(0.7) && { ingress: this.some(2, () => rule('from')) }),
      ...(this.chance(0.7) && { egress: this.some(2, () => rule('to')) }),
      ...(this.chance(0.5) && { policyTypes: this.of([['Ingress'], ['Egress'], ['Ingress', 'Egress']]) }),
    };
    const metadata = { name, namespace: this.of(namespaceNames) };
    return created(networkPolicyResource, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata,
      spec,
    } as never);
  }

  pod(index: number): Pod {
    const port = () => ({
      ...(this.chance(0.8) && { name: this.of(portNames) }),
      containerPort: this.of(numbers.filter((number) => number > 0)),
      protocol: this.of(['TCP', 'UDP', 'SCTP'] as const),
    });
    const ips = this.chance(0.5) ? [`10.0.0.${index}`, `fd00::${index}`] : [`10.0.0.${index}`];
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `pod-${index}`,
        namespace: this.of(namespaceNames),
        uid: `uid-${index}`,
        labels: this.labels(),
      },
      spec: { containers: [{ name: 'main', ports: this.some(3, port) }] },
      status: { phase: 'Running', podIPs: ips.map((ip) => ({ ip })) },
    } as unknown as Pod;
  }

  cluster(): Cluster {
    const namespaces = Object.fromEntries(namespaceNames.map((name) => [name, this.labels()]));
    const pods = Array.from({ length: 6 }, (_, index) => this.pod(index + 1));
    const policies = Array.from({ length: this.below(6) }, (_, index) => this.policy(`policy-${index}`));
    return { namespaces, pods, policies };
  }

  /** Returns a packet between two addresses of one family, at least one of a pod. */
  packet({ pods }: Cluster): Packet {
    const own = this.of(ipsOf(this.of(pods)));
    const v6 = own.includes(':');
    const others = [...pods.flatMap(ipsOf), '192.0.2.9', '192.0.2.10', 'fd00::99', '2001:db8::1'];
    const other = this.of(others.filter((ip) => ip.includes(':') === v6));
    const [from, to] = this.chance(0.5) ? [own, other] : [other, own];
    return { from, to, protocol: this.of(['tcp', 'udp', 'sctp', 'icmp'] as const), port: this.of(numbers) };
  }
}
