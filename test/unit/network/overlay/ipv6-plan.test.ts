/** The overlay of a cluster with ranges of both families. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import { readOverlay, readUnderlay } from '../../../../src/network/overlay/kernel.ts';
import { type OverlayFacts, planKey, planOverlay } from '../../../../src/network/overlay/plan.ts';
import { renderChange } from '../../../../src/network/overlay/render.ts';
import { change, type OverlayState } from '../../../../src/network/overlay/state.ts';
import { defaultNames } from '../../../../src/network/rules.ts';
import { at, meta } from '../../controllers/objects.ts';

const facts: OverlayFacts = {
  nodeName: 'node-1',
  nodeIP: '192.0.2.1',
  nodeIPv6: '2001:db8::1',
  podCIDR: '10.244.1.0/24,fd00:10:244:1::/64',
  clusterCIDR: '10.244.0.0/16,fd00:10:244::/56',
  serviceCIDR: '10.96.0.0/16,fd00:10:96::/112',
  mode: 'vxlan',
  underlay: { dev: 'eth0', mtu: 1500, network: '192.0.2.0/24' },
};

const node = (number: number, range6: string | undefined, over: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    ...meta(`node-${number}`),
    creationTimestamp: at(number),
    annotations: {
      'minik8s.io/overlay': 'vxlan',
      'minik8s.io/vxlan-mac': `0a:58:0a:f4:0${number}:00`,
      'minik8s.io/pod-cidr': `10.244.${number}.0/24`,
      ...(range6 !== undefined && { 'minik8s.io/pod-cidr-ipv6': range6 }),
      'minik8s.io/node-ip': `192.0.2.${number}`,
      ...over,
    },
  },
});
const own = node(1, undefined);
const plan = (nodes: readonly KubeObject[], more: Partial<OverlayFacts> = {}) =>
  planOverlay({ ...facts, ...more }, nodes, defaultNames);
const six = ({ routes }: OverlayState) => [...routes].filter(([network]) => network.includes(':'));
const base = [
  ['fd00:10:244::/56', 'unreachable'],
  ['fd00:10:96::/112', 'dev eth0 src 2001:db8::1'],
];

describe('the plan of the overlay for IPv6', () => {
  it('leads to the further ranges of Services of each family, also without other nodes', () => {
    const { state } = plan([own], { furtherRanges: ['203.0.113.0/24', 'fd00:1::/112'] });
    assert.deepEqual(six(state), [...base, ['fd00:1::/112', 'dev eth0 src 2001:db8::1']]);
    assert.equal(state.routes.get('203.0.113.0/24'), 'dev eth0 src 192.0.2.1');
    const without = plan([own], { furtherRanges: ['203.0.113.0/24'], underlay: undefined });
    assert.equal(without.state.routes.has('203.0.113.0/24'), false);
  });

  it('leads to the pods of other nodes over the link of IPv4, and publishes its own range', () => {
    const { state, annotations, problems } = plan([
      own,
      node(2, 'fd00:10:244:2::/64'),
      node(3, 'FD00:10:244:3:0::/64'),
    ]);
    assert.deepEqual(problems, []);
    assert.deepEqual(six(state), [
      ...base,
      ['fd00:10:244:2::/64', 'via fd00:10:244:2:: dev minik8s.vxlan onlink'],
      ['fd00:10:244:3::/64', 'via fd00:10:244:3:: dev minik8s.vxlan onlink'],
    ]);
    assert.equal(state.neighbours.get('fd00:10:244:2::'), '0a:58:0a:f4:02:00');
    assert.equal(state.vxlan?.address6, 'fd00:10:244:1::');
    assert.equal(annotations?.['minik8s.io/pod-cidr-ipv6'], 'fd00:10:244:1::/64');
    assert.equal(state.routes.get('10.244.2.0/24'), 'via 10.244.2.0 dev minik8s.vxlan onlink');
  });

  it('has only its own routes for a node alone, and none to Services without an address of the node', () => {
    assert.deepEqual(six(plan([own]).state), base);
    assert.deepEqual(six(plan([own], { nodeIPv6: undefined }).state), base.slice(0, 1));
    assert.deepEqual(six(plan([own], { underlay: undefined }).state), base.slice(0, 1));
  });

  it('is empty if the cluster or the node has no range of IPv6', () => {
    const others = [own, node(2, 'fd00:10:244:2::/64')];
    for (const more of [
      { clusterCIDR: '10.244.0.0/16', serviceCIDR: '10.96.0.0/16' },
      { podCIDR: '10.244.1.0/24' },
    ]) {
      const { state, annotations, problems } = plan(others, more);
      assert.deepEqual([six(state), problems, state.vxlan?.address6], [[], [], undefined]);
      assert.ok(!('minik8s.io/pod-cidr-ipv6' in (annotations ?? {})));
    }
  });

  for (const [what, range6, expected] of [
    [
      'a range outside the cluster',
      'fd00:10:245::/64',
      /^node node-2: its pod range fd00:10:245::\/64 is not in cluster-cidr/,
    ],
    ["this node's range", 'fd00:10:244:1::/80', /overlaps that of node this node \(fd00:10:244:1::\/64\)/],
    ['a range of IPv4', '10.244.9.0/24', /is no range of IPv6/],
    ['a range with commands', 'fd00::/64; flush ruleset', /is no range of IPv6/],
    ['an IPv4-mapped range', '::ffff:10.244.9.0/120', /is no range of IPv6/],
  ] as const)
    it(`leads over IPv4 alone to a node with ${what}`, () => {
      const { state, problems } = plan([own, node(2, range6)]);
      assert.deepEqual(six(state), base);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', expected);
      assert.ok(state.routes.has('10.244.2.0/24'));
    });

  it('gives a range that two nodes announce to the older one', () => {
    const { state, problems } = plan([own, node(3, 'fd00:10:244:2::/64'), node(2, 'fd00:10:244:2::/64')]);
    assert.equal(state.neighbours.get('fd00:10:244:2::'), '0a:58:0a:f4:02:00');
    assert.match(problems.join(), /^node node-3: its pod range .* overlaps that of node node-2/);
  });

  const underlay6 = { dev: 'eth1', mtu: 1500, network: '2001:db8::/64' };
  const at6 = (address: string) => node(2, 'fd00:10:244:2::/64', { 'minik8s.io/node-ipv6': address });

  it('leads through the IPv6 address of a node on the same link with host routes', () => {
    const { state, problems, annotations } = plan([own, at6('2001:DB8:0::2')], {
      mode: 'host-routes',
      underlay6,
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(six(state), [...base, ['fd00:10:244:2::/64', 'via 2001:db8::2 dev eth1']]);
    assert.deepEqual([...state.neighbours], []);
    assert.equal(annotations?.['minik8s.io/node-ipv6'], '2001:db8::1');
  });

  for (const [what, other, more] of [
    ['without an address', node(2, 'fd00:10:244:2::/64'), { underlay6 }],
    ['on another link', at6('2001:db8:1::2'), { underlay6 }],
    ['with a multicast address', at6('ff02::2'), { underlay6 }],
    ['with commands for an address', at6('2001:db8::2 dev lo'), { underlay6 }],
    ['from one without a link of its own', at6('2001:db8::2'), { underlay6: undefined }],
  ] as const)
    it(`reports that host routes do not reach a node ${what}`, () => {
      const { state, problems } = plan([own, other], { mode: 'host-routes', ...more });
      assert.deepEqual(six(state), base);
      assert.match(
        problems.join(),
        /^node node-2: its pods are reached over IPv4 only, .* or both --overlay vxlan$/,
      );
    });

  it('depends on the announced range', () => {
    assert.notEqual(planKey(node(2, 'fd00:10:244:2::/64')), planKey(node(2, undefined)));
    assert.notEqual(planKey(at6('2001:db8::2')), planKey(at6('2001:db8::3')));
  });
});

it('the link of an IPv6 address has the network around the address', async () => {
  const links = [{ ifname: 'eth1', mtu: 1500, addr_info: [{ local: '2001:db8::1', prefixlen: 64 }] }];
  const asked: string[] = [];
  const found = await readUnderlay(async (_, args) => {
    asked.push(args.join(' '));
    return { stdout: JSON.stringify(links), stderr: '' };
  }, '2001:db8::1');
  assert.deepEqual(found, { dev: 'eth1', mtu: 1500, network: '2001:db8::/64' });
  assert.deepEqual(asked, ['-json -family inet6 address show to 2001:db8::1']);
});

describe('the state of the overlay for IPv6', () => {
  it('is written with an address on the link that is usable at once, and is what the kernel then shows', async () => {
    const { state } = plan([own, node(2, 'fd00:10:244:2::/64')]);
    const none = {
      vxlan: undefined,
      routes: new Map(),
      neighbours: new Map(),
      forwarding: new Map(),
      senders: undefined,
    };
    const difference = change(none, state, () => false) ?? assert.fail();
    const steps = renderChange(difference, defaultNames);
    const text = steps.map(({ input }) => input).join('');
    // The kernel may have switched IPv6 off for the new link.
    assert.match(text, /disable_ipv6\naddress add fd00:10:244:1::\/128 dev minik8s\.vxlan nodad\n/);
    assert.deepEqual(
      steps.map(({ program }) => program),
      ['nft', 'ip', 'sh', 'ip', 'bridge', 'ip'],
    );
    assert.match(text, /^address add fd00:10:244:1::\/128 dev minik8s\.vxlan nodad$/m);
    assert.match(text, /^route replace unreachable fd00:10:244::\/56 proto 107$/m);
    assert.match(
      text,
      /^route replace fd00:10:244:2::\/64 via fd00:10:244:2:: dev minik8s\.vxlan onlink proto 107$/m,
    );
    const read = await readOverlay(async (_, args) => ({ stdout: shown(args), stderr: '' }), defaultNames);
    assert.equal(
      change({ ...read.state, senders: state.senders }, state, () => false),
      undefined,
    );
  });
});

/** Returns the output of ip(8) and bridge(8) of Debian 12, shortened. */
function shown(args: readonly string[]): string {
  const link = {
    ifname: 'minik8s.vxlan',
    flags: ['UP'],
    mtu: 1450,
    address: '0a:58:0a:f4:01:00',
    linkinfo: { info_data: { id: 1, local: '192.0.2.1', link: 'eth0', port: 8472 } },
    addr_info: [
      { family: 'inet', local: '10.244.1.0', prefixlen: 32 },
      { family: 'inet6', local: 'fd00:10:244:1::', prefixlen: 128 },
    ],
  };
  if (args.includes('address')) return JSON.stringify([link]);
  if (args.includes('-6'))
    return JSON.stringify([
      { dst: 'fd00:10:96::/112', dev: 'eth0', protocol: '107', prefsrc: '2001:db8::1' },
      { dst: 'fd00:10:244:2::/64', gateway: 'fd00:10:244:2::', dev: 'minik8s.vxlan', flags: ['onlink'] },
      { type: 'unreachable', dst: 'fd00:10:244::/56', dev: 'lo', protocol: '107' },
    ]);
  if (args.includes('route'))
    return JSON.stringify([
      { type: 'unreachable', dst: '10.244.0.0/16' },
      { dst: '10.96.0.0/16', dev: 'eth0', prefsrc: '192.0.2.1' },
      { dst: '10.244.2.0/24', gateway: '10.244.2.0', dev: 'minik8s.vxlan', flags: ['onlink'] },
    ]);
  if (args.includes('neighbour'))
    return JSON.stringify([
      { dst: '10.244.2.0', lladdr: '0a:58:0a:f4:02:00' },
      { dst: 'fd00:10:244:2::', lladdr: '0a:58:0a:f4:02:00' },
    ]);
  return JSON.stringify([{ mac: '0a:58:0a:f4:02:00', dst: '192.0.2.2' }]);
}
