import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ClusterRange, type MachineAddresses, overlap } from '../../../src/network/address-overlap.ts';

const ranges: readonly ClusterRange[] = [
  ['cluster-cidr', '10.244.0.0/16'],
  ['service-cidr', '10.96.0.0/16'],
];

/** A usual machine with Docker, with additional routes and addresses. */
const machine = ({ routes = [], links = [] }: Partial<MachineAddresses>): MachineAddresses => ({
  routes: [
    { dst: 'default', gateway: '192.0.2.1', dev: 'eth0' },
    { dst: '192.0.2.0/24', dev: 'eth0', protocol: 'kernel' },
    { dst: '172.17.0.0/16', dev: 'docker0', protocol: 'kernel' },
    ...routes,
  ],
  links: [
    { ifname: 'lo', addr_info: [{ local: '127.0.0.1', prefixlen: 8 }] },
    { ifname: 'eth0', addr_info: [{ local: '192.0.2.2', prefixlen: 24 }] },
    { ifname: 'dummy0', addr_info: [{}] },
    ...links,
  ],
});

describe('addresses of the cluster on this machine', () => {
  test('a usual machine has no overlap', () => {
    assert.equal(overlap(machine({}), ranges), undefined);
  });

  test('interfaces and routes that minik8s has created are no overlap', () => {
    const own = machine({
      routes: [
        { dst: '10.244.1.5', dev: 'mk8s0af40105' },
        { dst: '10.244.2.0/24', dev: 'minik8s.vxlan', protocol: '107' },
        { dst: '10.244.3.0/24', gateway: '192.0.2.3', dev: 'eth0', protocol: '107' },
      ],
      links: [
        { ifname: 'minik8s.vxlan', addr_info: [{ local: '10.244.1.0', prefixlen: 32 }] },
        { ifname: 'minik8s.dns', addr_info: [{ local: '10.96.0.10', prefixlen: 32 }] },
      ],
    });
    assert.equal(overlap(own, ranges), undefined);
  });

  test("a wider route that contains the cluster's range is no overlap, since packets for pods take the narrower route", () => {
    assert.equal(overlap(machine({ routes: [{ dst: '10.0.0.0/8', dev: 'tun0' }] }), ranges), undefined);
  });

  const refused: readonly [string, Partial<MachineAddresses>, string][] = [
    [
      'an address of an interface in the range of pods',
      { links: [{ ifname: 'eth1', addr_info: [{ local: '10.244.9.1', prefixlen: 24 }] }] },
      "address 10.244.9.1 of this machine's eth1 lies in cluster-cidr 10.244.0.0/16; give the master and all nodes another cluster-cidr",
    ],
    [
      'a route to a network in the range of Services',
      { routes: [{ dst: '10.96.8.0/24', dev: 'br-1', protocol: 'kernel' }] },
      "this machine's route to 10.96.8.0/24 through br-1 lies in service-cidr 10.96.0.0/16; give the master and all nodes another service-cidr",
    ],
    [
      'a route to a single address in the range of pods',
      { routes: [{ dst: '10.244.0.7', gateway: '192.0.2.9', dev: 'eth0' }] },
      "this machine's route to 10.244.0.7 through eth0 lies in cluster-cidr 10.244.0.0/16; give the master and all nodes another cluster-cidr",
    ],
    [
      'a route to exactly the range of pods',
      { routes: [{ dst: '10.244.0.0/16' }] },
      "this machine's route to 10.244.0.0/16 lies in cluster-cidr 10.244.0.0/16; give the master and all nodes another cluster-cidr",
    ],
  ];
  for (const [what, more, message] of refused) {
    test(`${what} is an overlap`, () => assert.equal(overlap(machine(more), ranges), message));
  }

  const dual: readonly ClusterRange[] = [
    ...ranges,
    ['cluster-cidr', 'fd00:10:244::/56'],
    ['service-cidr', 'fd00:10:96::/112'],
  ];

  test('addresses and routes of IPv6 are compared with the ranges of IPv6', () => {
    const routes = [
      { dst: 'fe80::/64', dev: 'eth0' },
      { dst: 'fd00:10:244::5', dev: 'mk8s0af40005' },
      { dst: 'fd00:10:244::/56', dev: 'lo', protocol: '107' },
      { dst: 'fd00:10:245::/64', dev: 'eth0' },
    ];
    assert.equal(overlap(machine({ routes }), dual), undefined);
    const links = [{ ifname: 'eth1', addr_info: [{ local: 'FD00:10:96:0::7', prefixlen: 64 }] }];
    assert.match(
      overlap(machine({ links }), dual) ?? '',
      /^address FD00:10:96:0::7 of this machine's eth1 lies in service-cidr fd00:10:96::\/112;/,
    );
    const taken = machine({ routes: [{ dst: 'fd00:10:244:7::/64', dev: 'eth1' }] });
    assert.match(
      overlap(taken, dual) ?? '',
      /route to fd00:10:244:7::\/64 through eth1 lies in cluster-cidr/,
    );
  });

  test('the ranges of IPv6 must not overlap', () => {
    const shared: readonly ClusterRange[] = [...dual.slice(0, 3), ['service-cidr', 'fd00:10:244::/112']];
    assert.match(
      overlap(machine({}), shared) ?? '',
      /^cluster-cidr fd00:10:244::\/56 and service-cidr fd00:10:244::\/112 overlap/,
    );
  });

  test('the ranges of pods and of Services must not overlap', () => {
    const shared: readonly ClusterRange[] = [
      ['cluster-cidr', '10.0.0.0/8'],
      ['service-cidr', '10.96.0.0/16'],
    ];
    assert.equal(
      overlap(machine({}), shared),
      'cluster-cidr 10.0.0.0/8 and service-cidr 10.96.0.0/16 overlap; give one of them another range',
    );
  });
});
