import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  macAnnotation,
  modeAnnotation,
  nodeIPAnnotation,
  podCIDRAnnotation,
} from '../../../../src/api/core/v1/node/annotations.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import {
  macOf,
  noOverlay,
  type OverlayFacts,
  planKey,
  planOverlay,
  podMtu,
} from '../../../../src/network/overlay/plan.ts';
import { renderChange, type Step } from '../../../../src/network/overlay/render.ts';
import { change, type OverlayState } from '../../../../src/network/overlay/state.ts';
import { defaultNames as names } from '../../../../src/network/rules.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { at, meta } from '../../controllers/objects.ts';

interface NodeOptions {
  readonly podCIDR?: string | undefined;
  readonly ip?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Creation time of the node, in seconds after the start. */
  readonly made?: number;
}

/** `node(3)` is node-3 at 192.0.2.3 with the pods of 10.244.3.0/24, ready for VXLAN. */
function node(number: number, options: NodeOptions = {}): KubeObject {
  const podCIDR = 'podCIDR' in options ? options.podCIDR : `10.244.${number}.0/24`;
  const way = options.annotations ?? {
    [modeAnnotation]: 'vxlan',
    [macAnnotation]: macOf(podCIDR ?? '10.244.255.0/24'),
  };
  const annotations = {
    ...way,
    ...(podCIDR !== undefined && { [podCIDRAnnotation]: podCIDR }),
    [nodeIPAnnotation]: options.ip ?? `192.0.2.${number}`,
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...meta(`node-${number}`), annotations, creationTimestamp: at(options.made ?? number) },
  };
}

const facts: OverlayFacts = {
  nodeName: 'node-1',
  nodeIP: '192.0.2.1',
  podCIDR: '10.244.1.0/24',
  clusterCIDR: '10.244.0.0/16',
  serviceCIDR: '10.96.0.0/16',
  mode: 'vxlan',
  underlay: { dev: 'eth0', mtu: 1500, network: '192.0.2.0/24' },
};

/** Returns the plan of node-1, for the range in its own object. */
const plan = (nodes: readonly KubeObject[], more: Partial<OverlayFacts> = {}) => {
  const own = nodes.find(({ metadata }) => metadata.name === facts.nodeName);
  const podCIDR = own?.metadata.annotations?.[podCIDRAnnotation];
  return planOverlay({ ...facts, podCIDR, ...more }, nodes, names);
};

const refusal = ['10.244.0.0/16', 'unreachable'] as const;
const services = ['10.96.0.0/16', 'dev eth0 src 192.0.2.1'] as const;

describe('the plan of the overlay', () => {
  it('leads to every other node over the link, and publishes its own address', () => {
    const { state, annotations, problems } = plan([node(1), node(2), node(3)]);
    assert.deepEqual(problems, []);
    assert.deepEqual(state.vxlan, {
      local: '192.0.2.1',
      dev: 'eth0',
      mac: '0a:58:0a:f4:01:00',
      mtu: 1450,
      address: '10.244.1.0',
    });
    assert.deepEqual(
      [...state.routes],
      [
        refusal,
        services,
        ['10.244.2.0/24', 'via 10.244.2.0 dev minik8s.vxlan onlink'],
        ['10.244.3.0/24', 'via 10.244.3.0 dev minik8s.vxlan onlink'],
      ],
    );
    assert.deepEqual(
      [...state.neighbours],
      [
        ['10.244.2.0', '0a:58:0a:f4:02:00'],
        ['10.244.3.0', '0a:58:0a:f4:03:00'],
      ],
    );
    assert.deepEqual(
      [...state.forwarding],
      [
        ['0a:58:0a:f4:02:00', '192.0.2.2'],
        ['0a:58:0a:f4:03:00', '192.0.2.3'],
      ],
    );
    assert.deepEqual([...(state.senders ?? [])], ['192.0.2.2', '192.0.2.3']);
    assert.deepEqual(annotations, {
      [modeAnnotation]: 'vxlan',
      [macAnnotation]: '0a:58:0a:f4:01:00',
      [podCIDRAnnotation]: '10.244.1.0/24',
      [nodeIPAnnotation]: '192.0.2.1',
    });
  });

  it('makes no link for a single node, and is empty without a Node or a range of its own', () => {
    const alone = plan([node(1)]);
    assert.equal(alone.state.vxlan, undefined);
    assert.deepEqual([...alone.state.routes], [refusal, services]);
    assert.equal(alone.annotations, undefined);
    assert.deepEqual([...plan([node(1)], { underlay: undefined }).state.routes], [refusal]);
    assert.deepEqual(plan([node(2), node(3)]).state, noOverlay);
    assert.deepEqual(plan([node(1, { podCIDR: undefined }), node(2)]).state, noOverlay);
    // Pods need a range of at least eight addresses; a range of four would have none left for them.
    assert.deepEqual(plan([node(1, { podCIDR: '10.244.1.0/30' }), node(2)]).state, noOverlay);
    assert.notDeepEqual(plan([node(1, { podCIDR: '10.244.1.0/29' }), node(2)]).state, noOverlay);
  });

  it('creates the link and publishes it before the other nodes are ready', () => {
    const joining = node(2, { annotations: {} });
    const { state, annotations, problems } = plan([node(1), joining]);
    assert.equal(state.vxlan?.mac, '0a:58:0a:f4:01:00');
    assert.ok(annotations);
    assert.deepEqual([...state.routes], [refusal, services]);
    assert.deepEqual(problems, []);
    assert.deepEqual([...plan([node(1), node(2, { podCIDR: undefined })]).state.forwarding], []);
  });

  it('sends packets without the overlay to nodes that accept that, if both are on one link', () => {
    const plain = (number: number, ip?: string) =>
      node(number, { annotations: { [modeAnnotation]: 'host-routes' }, ...(ip && { ip }) });
    const mixed = plan([node(1), plain(2), node(3)]).state;
    assert.equal(mixed.routes.get('10.244.2.0/24'), 'via 192.0.2.2 dev eth0');
    assert.equal(mixed.routes.get('10.244.3.0/24'), 'via 10.244.3.0 dev minik8s.vxlan onlink');
    const own = plan([node(1), plain(2), node(3)], { mode: 'host-routes' });
    assert.equal(own.state.vxlan, undefined);
    assert.deepEqual([...own.state.forwarding, ...own.state.neighbours], []);
    assert.equal(own.state.routes.get('10.244.3.0/24'), 'via 192.0.2.3 dev eth0');
    assert.equal(own.annotations?.[modeAnnotation], 'host-routes');
    assert.equal(own.annotations?.[macAnnotation], null);
    const far = plan([node(1), plain(2, '198.51.100.2')], { mode: 'host-routes' });
    assert.equal(far.state.routes.has('10.244.2.0/24'), false);
    assert.match(far.problems.join(), /node-2 at 198\.51\.100\.2 is not on the link of this node/);
  });

  const refused: readonly [string, KubeObject, RegExp][] = [
    ['a range outside the cluster', node(2, { podCIDR: '192.168.0.0/24' }), /is not in cluster-cidr/],
    [
      'a range of four addresses',
      node(2, { podCIDR: '10.244.2.0/30' }),
      /"10\.244\.2\.0\/30" is no IPv4 network of/,
    ],
    [
      'a range without a length',
      node(2, { podCIDR: '10.244.2.0', annotations: { [modeAnnotation]: 'host-routes' } }),
      /"10\.244\.2\.0" is no IPv4 network of/,
    ],
    ['the range of all addresses', node(2, { podCIDR: '0.0.0.0/0' }), /is not in cluster-cidr/],
    ["a part of this node's range", node(2, { podCIDR: '10.244.1.128/25' }), /overlaps that of node node-1/],
    [
      "a part of an older node's range",
      node(4, { podCIDR: '10.244.3.128/25' }),
      /overlaps that of node node-3/,
    ],
    ["this node's address", node(2, { ip: '192.0.2.1' }), /has its address 192\.0\.2\.1 or its MAC/],
    ["an older node's address", node(4, { ip: '192.0.2.3' }), /node node-3 already has its address/],
    [
      "an older node's MAC",
      node(4, { annotations: { [modeAnnotation]: 'vxlan', [macAnnotation]: macOf('10.244.3.0/24') } }),
      /node node-3 already has its address 192\.0\.2\.4 or its MAC/,
    ],
    ['a loopback address', node(2, { ip: '127.0.0.1' }), /is not a unicast IPv4 address/],
    ['a multicast address', node(2, { ip: '224.0.0.1' }), /is not a unicast IPv4 address/],
    [
      'an address with commands',
      node(2, { ip: '1.2.3.4\nlink delete eth0' }),
      /is not a unicast IPv4 address/,
    ],
    [
      'a MAC address with commands',
      node(2, {
        annotations: { [modeAnnotation]: 'vxlan', [macAnnotation]: '0a:58:0a:f4:02:00\nlink delete eth0' },
      }),
      /expected a unicast MAC address/,
    ],
    [
      'a broadcast MAC address',
      node(2, { annotations: { [modeAnnotation]: 'vxlan', [macAnnotation]: 'ff:ff:ff:ff:ff:ff' } }),
      /expected a unicast MAC address/,
    ],
    [
      'an unknown mode',
      node(2, { annotations: { [modeAnnotation]: 'geneve' } }),
      /expected vxlan or host-routes/,
    ],
  ];
  for (const [what, other, why] of refused) {
    it(`rejects a node that claims ${what}, and keeps the other nodes`, () => {
      const { state, problems } = plan([other, node(3), node(1)]);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', why);
      assert.deepEqual([...state.routes.keys()], ['10.244.0.0/16', '10.96.0.0/16', '10.244.3.0/24']);
      assert.deepEqual([...(state.senders ?? [])], ['192.0.2.3']);
    });
  }

  it('writes a network with its first address, as the kernel does', () => {
    const { state } = plan([node(1), node(2, { podCIDR: '10.244.2.77/24' })]);
    assert.ok(state.routes.has('10.244.2.0/24'));
  });

  it('does not depend on the order of the nodes, or on their other fields', () => {
    const nodes = [node(1), node(2), node(3, { podCIDR: '10.244.2.0/25' }), node(4)];
    assert.deepEqual(plan(nodes.toReversed()), plan(nodes));
    const [first = node(1)] = nodes;
    const said = { ...first.metadata, resourceVersion: '99', labels: { disk: 'ssd' } };
    const beaten = { ...first, metadata: said };
    assert.equal(planKey(beaten), planKey(first));
    assert.notEqual(planKey(node(1, { ip: '192.0.2.99' })), planKey(first));
  });

  it("leaves room for VXLAN's headers", () => {
    assert.equal(podMtu('vxlan', 1500), 1450);
    assert.equal(podMtu('host-routes', 1500), 1500);
  });
});

/**
 * Kernel that carries out commands of ip(8) and bridge(8) strictly: it rejects the deletion of absent
 * entries.
 */
class ModelKernel {
  link: string | undefined;
  mtu = 0;
  routes = new Map<string, string>();
  neighbours = new Map<string, string>();
  forwarding = new Map<string, string>();
  guarded = false;
  senders = new Set<string>();

  run({ program, input }: Step): void {
    if (program === 'nft') this.#nft(input);
    else for (const line of input.trim().split('\n')) this.#line(line.split(' '), line);
    if (this.link !== undefined) assert.ok(this.guarded, 'a link without a guard');
  }

  #line(words: readonly string[], line: string): void {
    const [object = '', verb = '', ...rest] = words;
    const maps: Readonly<Record<string, Map<string, string>>> = {
      route: this.routes,
      neighbour: this.neighbours,
      fdb: this.forwarding,
    };
    const map = maps[object];
    if (!map) this.#link(verb, words, line);
    else if (verb === 'delete') assert.ok(map.delete(rest[0] ?? ''), line);
    else if (object === 'route') this.#route(rest.slice(0, rest.indexOf('proto')), line);
    else map.set(rest[0] ?? '', rest[rest.indexOf(object === 'fdb' ? 'dst' : 'lladdr') + 1] ?? '');
  }

  #link(verb: string, words: readonly string[], line: string): void {
    const after = (word: string) => words[words.indexOf(word) + 1] ?? '';
    if (verb === 'delete') {
      assert.ok(this.link, line);
      this.link = undefined;
      this.neighbours.clear();
      this.forwarding.clear();
      for (const [network, way] of this.routes) {
        if (way.includes(' dev minik8s.vxlan')) this.routes.delete(network);
      }
    } else if (verb === 'add' && words[0] === 'link') {
      assert.equal(this.link, undefined, line);
      this.link = `${after('address')} ${after('local')}`;
    }
    if (words.includes('mtu')) this.mtu = Number(after('mtu'));
  }

  #route([first = '', ...rest]: readonly string[], line: string): void {
    if (line.includes('dev minik8s.vxlan')) assert.ok(this.link, line);
    if (first === 'unreachable') this.routes.set(rest[0] ?? '', first);
    else this.routes.set(first, rest.join(' '));
  }

  #nft(script: string): void {
    if (script.startsWith('add table')) {
      this.guarded = script.includes('chain prerouting');
      const elements = /elements = \{ (.*) \}/.exec(script)?.[1];
      this.senders = new Set(elements?.split(', '));
      return;
    }
    assert.ok(this.guarded, script);
    for (const line of script.trim().split('\n')) {
      const all = /\{ (.*) \}/.exec(line)?.[1]?.split(', ') ?? [];
      for (const address of all) {
        if (line.startsWith('add')) this.senders.add(address);
        else assert.ok(this.senders.delete(address), line);
      }
    }
  }

  holds(state: OverlayState): void {
    const { vxlan, routes, neighbours, forwarding, senders } = state;
    assert.equal(this.link, vxlan && `${vxlan.mac} ${vxlan.local}`);
    if (vxlan) assert.equal(this.mtu, vxlan.mtu);
    assert.deepEqual(sorted(this.routes), sorted(routes));
    assert.deepEqual(sorted(this.neighbours), sorted(neighbours));
    assert.deepEqual(sorted(this.forwarding), sorted(forwarding));
    assert.equal(this.guarded, vxlan !== undefined);
    if (vxlan) assert.deepEqual([...this.senders].sort(), [...(senders ?? [])].sort());
  }
}

const sorted = (map: ReadonlyMap<string, string>) => [...map].sort();

describe('the change from one state to another', () => {
  it('always ends in the requested state, and is empty when that exists', () => {
    const random = new SeededRandom(11);
    const kernel = new ModelKernel();
    let known: OverlayState = { ...noOverlay, senders: undefined };
    const pick = <T>(...all: readonly [T, ...T[]]): T => all[random.below(all.length)] ?? all[0];
    for (let round = 0; round < 3000; round++) {
      const nodes = [1, 2, 3, 4, 5].flatMap((number) => {
        if (random.next() < 0.35) return [];
        const annotations = pick<Readonly<Record<string, string>> | undefined>(
          undefined,
          undefined,
          {},
          {
            [modeAnnotation]: 'host-routes',
          },
        );
        const podCIDR = pick(
          `10.244.${number}.0/24`,
          `10.244.${number}.0/24`,
          `10.244.${10 + number}.0/24`,
          undefined,
        );
        const ip = pick(`192.0.2.${number}`, `192.0.2.${number}`, `192.0.2.${20 + number}`);
        return [node(number, { podCIDR, ip, ...(annotations && { annotations }) })];
      });
      const mtu = pick(1500, 1500, 9000);
      const mode = pick<OverlayFacts['mode']>('vxlan', 'vxlan', 'vxlan', 'host-routes');
      const { state } = plan(nodes, { mode, underlay: { dev: 'eth0', mtu, network: '192.0.2.0/24' } });
      const difference = change(known, state, (way) => way.includes(' dev minik8s.vxlan'));
      if (difference) for (const step of renderChange(difference, names)) kernel.run(step);
      kernel.holds(state);
      assert.equal(
        change(state, state, () => false),
        undefined,
      );
      // State read from the kernel again, as after a restart: everything but the senders.
      known = random.next() < 0.2 ? { ...state, senders: undefined } : state;
    }
  });

  it('adds only the entries of a node that joins', () => {
    const before = plan([node(1), node(2)]).state;
    const after = plan([node(1), node(2), node(3)]).state;
    const difference = change(before, after, () => false);
    assert.ok(difference);
    assert.deepEqual(renderChange(difference, names), [
      { program: 'nft', args: ['-f', '-'], input: 'add element ip minik8s-vxlan nodes { 192.0.2.3 }\n' },
      {
        program: 'bridge',
        args: ['-batch', '-'],
        input: 'fdb replace 0a:58:0a:f4:03:00 dev minik8s.vxlan dst 192.0.2.3 self permanent\n',
      },
      {
        program: 'ip',
        args: ['-batch', '-'],
        input:
          'neighbour replace 10.244.3.0 lladdr 0a:58:0a:f4:03:00 dev minik8s.vxlan nud permanent\n' +
          'route replace 10.244.3.0/24 via 10.244.3.0 dev minik8s.vxlan onlink proto 107\n',
      },
    ]);
  });

  it('is computed quickly for thousands of nodes', () => {
    const many = Array.from({ length: 2000 }, (_, index) => {
      const podCIDR = `10.${index >> 8}.${index & 255}.0/24`;
      return { ...node(index, { podCIDR, ip: `192.1.${index >> 8}.${index & 255}` }) };
    });
    const { state, problems } = plan(many, { clusterCIDR: '10.0.0.0/8', nodeIP: '192.1.0.1' });
    assert.deepEqual(problems, []);
    assert.equal(state.forwarding.size, 1999);
  });
});
