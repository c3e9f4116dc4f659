import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { AddressPool } from '../../../src/network/ipam.ts';
import { RoutedPodNetwork } from '../../../src/network/pod-network.ts';
import { linkName, renderHostLink, renderPodLink, renderTable } from '../../../src/network/rules.ts';
import type { Exec } from '../../../src/os/exec.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

describe('AddressPool', () => {
  it('allocates every address of the network except the first two and the last, then reports that none is left', () => {
    const pool = new AddressPool('10.244.3.0/29');
    assert.deepEqual(
      Array.from({ length: 5 }, () => pool.allocate()),
      ['10.244.3.2', '10.244.3.3', '10.244.3.4', '10.244.3.5', '10.244.3.6'],
    );
    assert.throws(() => pool.allocate(), /no address is left: all 5 of this node are taken/);
    pool.release('10.244.3.4');
    assert.equal(pool.allocate(), '10.244.3.4');
  });

  it('allocates a released address last', () => {
    const pool = new AddressPool('10.244.3.0/24');
    const first = pool.allocate();
    pool.release(first);
    assert.notEqual(pool.allocate(), first);
  });

  it('does not allocate adopted addresses', () => {
    const pool = new AddressPool('10.244.3.0/29');
    for (const ip of ['10.244.3.2', '10.244.3.5', '192.0.2.1']) pool.adopt(ip);
    assert.deepEqual(
      [pool.allocate(), pool.allocate(), pool.allocate()],
      ['10.244.3.6', '10.244.3.3', '10.244.3.4'],
    );
  });

  it('never hands an address out twice', () => {
    const random = new SeededRandom(5);
    const pool = new AddressPool('10.1.0.0/27');
    const held = new Set<string>();
    for (let i = 0; i < 5000; i++) {
      if (held.size < 29 && random.next() < 0.55) {
        const ip = pool.allocate();
        assert.ok(!held.has(ip), ip);
        held.add(ip);
      } else {
        const [ip] = [...held].slice(random.below(Math.max(1, held.size)));
        if (ip === undefined) continue;
        pool.release(ip);
        held.delete(ip);
      }
      assert.equal(pool.free, 29 - held.size);
    }
  });

  for (const cidr of ['10.244.0.0', '10.244.0.0/33', '10.300.0.0/24', 'x/24', '10.244.0.0/30']) {
    it(`refuses ${cidr}`, () => assert.throws(() => new AddressPool(cidr), /is not an IPv4 range|too small/));
  }
});

/**
 * Text of the rules. Their effect on packets is tested in test/integration/network/guards.test.ts and
 * vxlan.test.ts.
 */
describe('the text of the rules', () => {
  const facts = { podCIDR: '10.244.3.0/24', clusterCIDR: '10.244.0.0/16' };
  const port = (hostPort: number, more: object = {}) => ({
    protocol: 'TCP' as const,
    hostIP: '',
    hostPort,
    podIP: '10.244.3.2',
    containerPort: 80,
    ...more,
  });

  it('name a link by its address, short enough for the kernel', () => {
    assert.equal(linkName('10.244.3.255'), 'mk8s0af403ff');
    assert.ok(linkName('255.255.255.255').length <= 15);
  });

  it('replace the table in one transaction', () => {
    const text = renderTable(facts, []);
    assert.ok(
      text.startsWith(
        'add table ip minik8s-network\ndelete table ip minik8s-network\ntable ip minik8s-network {',
      ),
    );
    assert.match(
      text,
      /ip saddr 10\.244\.3\.0\/24 ip daddr != 10\.244\.0\.0\/16 oifname != "mk8s\*" masquerade/,
    );
  });

  it('give packets to pods of other nodes an address of this node, and drop packets with a foreign source', () => {
    const text = renderTable(facts, []);
    assert.match(
      text,
      /ip saddr != 10\.244\.0\.0\/16 ip daddr 10\.244\.0\.0\/16 oifname != "mk8s\*" masquerade/,
    );
    assert.match(text, /iifname "mk8s\*" fib saddr \. iif oif missing drop/);
  });

  it('forward host ports to pods, with the same text for any order of the ports', () => {
    const ports = [
      port(8080),
      port(53, { protocol: 'UDP', hostIP: '192.0.2.1' }),
      port(443, { podIP: '10.244.3.9' }),
    ];
    const text = renderTable(facts, ports);
    assert.match(text, /^ {4}tcp dport 8080 dnat to 10\.244\.3\.2:80$/m);
    assert.match(text, /^ {4}ip daddr 192\.0\.2\.1 udp dport 53 dnat to 10\.244\.3\.2:80$/m);
    assert.equal(renderTable(facts, ports.toReversed()), text);
    assert.equal(text.match(/ip saddr 10\.244\.3\.2 ip daddr 10\.244\.3\.2 masquerade/g)?.length, 1);
  });

  it('make a link with one run of ip(8) on either side', () => {
    assert.deepEqual(renderHostLink('10.244.3.2', 77, '192.0.2.1', 1450).trim().split('\n'), [
      'link add name mk8s0af40302 address ee:ee:ee:ee:ee:ee mtu 1450 type veth peer name eth0 mtu 1450 netns 77',
      'link set dev mk8s0af40302 up',
      'route replace 10.244.3.2/32 dev mk8s0af40302 scope link src 192.0.2.1',
    ]);
    assert.match(renderPodLink('10.244.3.2'), /^route add default via 169\.254\.1\.1 dev eth0$/m);
  });
});

test('a pod range outside the cluster-cidr is refused before anything is changed', async () => {
  const ran: string[] = [];
  const exec: Exec = async (file) => {
    ran.push(file);
    return { stdout: '', stderr: '' };
  };
  const node = { nodeIP: undefined, clusterCIDR: '10.100.0.0/16', rules: undefined };
  const options = { exec, log: silentLogger, ...node };
  await assert.rejects(new RoutedPodNetwork(options).setUp('10.244.1.0/24'), {
    message:
      /^the pod range 10\.244\.1\.0\/24 of this node is not in its cluster-cidr 10\.100\.0\.0\/16: give this node /,
  });
  assert.deepEqual(ran, []);
});
