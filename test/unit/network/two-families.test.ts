/** The IPv6 side of the pod network as text for nft(8) and ip(8). */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { portsOfIPv4, portsOfIPv6 } from '../../../src/network/host-port-families.ts';
import { staleHostPortFlows } from '../../../src/network/host-port-flows.ts';
import { podMacOf, renderHostSide, renderPodSide, secondAddress } from '../../../src/network/ipv6-links.ts';
import { RoutedPodNetwork } from '../../../src/network/pod-network.ts';
import { renderHostLink, renderTable } from '../../../src/network/rules.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

const ranges = { IPv4: '10.244.3.0/24', IPv6: 'fd00:10:244:3::/64' };

describe('the IPv6 address of a pod', () => {
  it('has the place of its IPv4 address in the range', () => {
    assert.equal(secondAddress(ranges, '10.244.3.2'), 'fd00:10:244:3::2');
    assert.equal(secondAddress(ranges, '10.244.3.254'), 'fd00:10:244:3::fe');
    assert.equal(secondAddress(ranges, '10.244.4.2'), undefined);
    // A range of IPv6 with fewer addresses than that of IPv4 has none for the last pods.
    assert.equal(secondAddress({ ...ranges, IPv6: 'fd00:10:244:3::/124' }, '10.244.3.200'), undefined);
  });

  it('is set without a wait for other machines, on both ends of the link', () => {
    const mac = podMacOf('10.244.3.2');
    assert.equal(mac, '0a:58:0a:f4:03:02');
    assert.match(
      renderHostLink('10.244.3.2', 77, undefined, 1450, undefined, mac),
      /^link add name mk8s0af40302 address ee:ee:ee:ee:ee:ee mtu 1450 type veth peer name eth0 address 0a:58:0a:f4:03:02 mtu 1450 netns 77$/m,
    );
    assert.deepEqual(renderHostSide('10.244.3.2', 'fd00:10:244:3::2', '2001:db8::1').trim().split('\n'), [
      'neighbour replace fd00:10:244:3::2 lladdr 0a:58:0a:f4:03:02 dev mk8s0af40302 nud permanent',
      'route replace fd00:10:244:3::2/128 dev mk8s0af40302 src 2001:db8::1',
    ]);
    assert.match(renderHostSide('10.244.3.2', 'fd00:10:244:3::2', undefined), /dev mk8s0af40302\n$/);
    assert.deepEqual(renderPodSide('fd00:10:244:3::2').trim().split('\n'), [
      'address add fd00:10:244:3::2/128 dev eth0 nodad',
      'neighbour add fe80::1 lladdr ee:ee:ee:ee:ee:ee dev eth0 nud permanent',
      'route add default via fe80::1 dev eth0',
    ]);
  });
});

describe('the table of IPv6', () => {
  const facts = { podCIDR: ranges.IPv6, clusterCIDR: 'fd00:10:244::/56' };
  const port = {
    protocol: 'UDP',
    hostIP: '',
    hostPort: 5353,
    podIP: 'fd00:10:244:3::2',
    containerPort: 53,
  } as const;
  const text = renderTable(facts, [port], undefined, 'IPv6');

  it('has the rules of IPv4 for addresses of IPv6', () => {
    assert.match(text, /^add table ip6 minik8s-network\ndelete table ip6 minik8s-network\ntable ip6 /);
    assert.match(
      text,
      /ip6 saddr fd00:10:244:3::\/64 ip6 daddr != fd00:10:244::\/56 oifname != "mk8s\*" masquerade fully-random/,
    );
    assert.match(text, /ip6 saddr fd00:10:244::\/56 fib saddr \. iif oif missing drop/);
    assert.match(text, /^ {4}udp dport 5353 dnat to \[fd00:10:244:3::2\]:53$/m);
    assert.match(text, /ip6 saddr fd00:10:244:3::2 ip6 daddr fd00:10:244:3::2 masquerade/);
    assert.doesNotMatch(text, /ip saddr|ip daddr|127\.0\.0/);
  });

  it('loses flows of IPv6 to a host port that is removed', () => {
    assert.deepEqual(
      staleHostPortFlows([port], []).map((args) => args.join(' ')),
      ['-D -p udp --orig-port-dst 5353 --dst-nat fd00:10:244:3::2 -f ipv6'],
    );
  });
});

test('a host port is forwarded over the family of its hostIP, and one without a hostIP over both', () => {
  const at = (hostIP: string, hostPort: number, podIP = '10.244.3.2') =>
    ({ protocol: 'TCP', hostIP, hostPort, podIP, containerPort: 80 }) as const;
  const ports = [at('', 8001), at('192.0.2.1', 8002), at('2001:db8::1', 8003)];
  assert.deepEqual(portsOfIPv4(ports), ports.slice(0, 2));
  const six = 'fd00:10:244:3::2';
  const [first, last] = [at('', 8001, six), at('2001:db8::1', 8003, six)];
  assert.deepEqual(portsOfIPv6(ports, ranges), [first, last]);
  const facts = { podCIDR: ranges.IPv6, clusterCIDR: 'fd00:10:244::/56' };
  assert.match(
    renderTable(facts, [last], undefined, 'IPv6'),
    /^ {4}ip6 daddr 2001:db8::1 tcp dport 8003 dnat to \[fd00:10:244:3::2\]:80$/m,
  );
});

test('a range of IPv6 outside the cluster-cidr is refused before anything is changed', async () => {
  const ran: string[] = [];
  const network = new RoutedPodNetwork({
    exec: async (file) => {
      ran.push(file);
      return { stdout: '', stderr: '' };
    },
    log: silentLogger,
    nodeIP: undefined,
    clusterCIDR: '10.244.0.0/16,fd00:10:244::/56',
    rules: undefined,
  });
  await assert.rejects(network.setUp('10.244.3.0/24,fd00:10:245::/64'), {
    message:
      /^the pod range fd00:10:245::\/64 of this node is not in its cluster-cidr fd00:10:244::\/56: give/,
  });
  assert.deepEqual(ran, []);
});

for (const [what, clusterCIDR, podCIDR, expected] of [
  [
    'a node without a range of IPv6',
    '10.244.0.0/16,fd00:10:244::/56',
    '10.244.3.0/24',
    /^the pods of this node have addresses of IPv4 only/,
  ],
  [
    'a cluster-cidr without one',
    '10.244.0.0/16',
    '10.244.3.0/24,fd00:10:244:3::/64',
    /^the range fd00:10:244:3::\/64 of this node is not used/,
  ],
  ['ranges of one family', '10.244.0.0/16', '10.244.3.0/24', undefined],
] as const)
  test(`the log of the pod network names the missing range of ${what}`, async () => {
    const log = new RecordingLogger();
    const failed = new Error('stop here');
    const network = new RoutedPodNetwork({
      exec: async () => {
        throw failed;
      },
      log,
      nodeIP: undefined,
      clusterCIDR,
      rules: undefined,
      overlay: { mode: 'vxlan', nodeIP: '192.0.2.1' },
    });
    for (const _ of ['first', 'again']) await assert.rejects(network.setUp(podCIDR), failed);
    const said = log.of('warn').map(({ message }) => message);
    assert.equal(said.length, expected ? 1 : 0);
    if (expected) assert.match(said[0] ?? '', expected);
    assert.deepEqual(network.addressesOf('10.244.3.2'), ['10.244.3.2']);
  });
