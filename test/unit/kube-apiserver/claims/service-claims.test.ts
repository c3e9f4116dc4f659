/** Addresses and node ports that a Service claims and releases, and claims that are rejected. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { serviceClaims } from '../../../../src/kube-apiserver/claims/service-claims.ts';
import {
  type ClaimsWorld,
  ip,
  nodePort,
  planned,
  port,
  serverOf,
  service,
} from '../../../fixtures/service-claims.ts';

describe('a Service without an address', () => {
  for (const [title, world, taken, expected] of [
    // A sixteenth of the range, and at least 16 addresses, are reserved for Services with a chosen address.
    ['gets an address after the reserved ones', {}, [], '10.96.0.17'],
    ['gets the last address', { start: 0.9999 }, [], '10.96.0.254'],
    ['gets the next address if one is taken', {}, [ip('10.96.0.17')], '10.96.0.18'],
    [
      'starts over after the reserved ones if the last is taken',
      { start: 0.9999 },
      [ip('10.96.0.254')],
      '10.96.0.17',
    ],
    [
      'skips addresses in the cache after a collision',
      { others: [service({ clusterIP: '10.96.0.18' }), service({ clusterIP: '10.96.0.19' })] },
      [ip('10.96.0.17')],
      '10.96.0.20',
    ],
    [
      'ignores addresses in the cache before a collision',
      { others: [service({ clusterIP: '10.96.0.17' })] },
      [],
      '10.96.0.17',
    ],
    [
      'gets an address after 256 reserved ones, of a range of 65536',
      { serviceCIDR: '10.96.0.0/16' },
      [],
      '10.96.1.1',
    ],
    [
      'gets an address after a reserved sixteenth, of a range of 512',
      { serviceCIDR: '10.96.0.0/23' },
      [],
      '10.96.0.32',
    ],
    ['gets any address of a range of 16', { serviceCIDR: '10.96.0.0/28', start: 0.5 }, [], '10.96.0.8'],
    [
      'gets an address after 16 reserved ones, of a range of 32',
      { serviceCIDR: '10.96.0.0/27', start: 0 },
      [],
      '10.96.0.17',
    ],
  ] as const)
    test(title, () => {
      const object = service({});
      assert.deepEqual(planned(object, world, undefined, taken), { acquire: [ip(expected)], release: [] });
      assert.deepEqual([object.spec.clusterIP, object.spec.clusterIPs], [expected, [expected]]);
    });

  test('gets a reserved address when all others are taken, and is rejected when all are taken', () => {
    const high = Array.from({ length: 14 }, (_, i) => ip(`10.96.0.${17 + i}`));
    const world = { serviceCIDR: '10.96.0.0/27' };
    assert.deepEqual(planned(service({}), world, undefined, high).acquire, [ip('10.96.0.1')]);
    const low = Array.from({ length: 16 }, (_, i) => ip(`10.96.0.${1 + i}`));
    assert.throws(
      () => planned(service({}), world, undefined, [...high, ...low]),
      /all 30 addresses are in use/,
    );
    const last = low.slice(0, -1);
    assert.deepEqual(planned(service({}), world, undefined, [...high, ...last]).acquire, [ip('10.96.0.16')]);
  });

  for (const [title, spec] of [
    ['headless', { clusterIP: 'None', clusterIPs: ['None'] }],
    ['a name elsewhere', { type: 'ExternalName', externalName: 'x.example' }],
  ] as const)
    test(`gets none when it is ${title}`, () => {
      const object = service(spec);
      assert.deepEqual(planned(object), { acquire: [], release: [] });
      assert.equal(object.spec.clusterIP, 'clusterIP' in spec ? spec.clusterIP : undefined);
    });
});

describe('a Service in a cluster with further ranges', () => {
  const full = Array.from({ length: 6 }, (_, index) => ip(`10.96.0.${index + 1}`));
  const small = { serviceCIDR: '10.96.0.0/29' };
  const further = { cidrs: ['fd00::/64', '203.0.113.0/24'] };

  test('gets an address of the own range first, and of a further one when that is full', () => {
    assert.deepEqual(planned(service({}), { ...small, further }).acquire, [ip('10.96.0.1')]);
    assert.deepEqual(planned(service({}), { ...small, further }, undefined, full).acquire, [
      ip('203.0.113.17'),
    ]);
  });

  for (const [what, over] of [
    ['is not ready', { status: 'False' }],
    ['is terminating', { ended: '2026-01-01T00:00:00Z' }],
    ['has only a family that the cluster lacks', { cidrs: ['fd00::/64'] }],
    ['has no usable address', { cidrs: ['203.0.113.8/31'] }],
  ] as const)
    test(`gets none of a range that ${what}`, () => {
      const world = { ...small, further: { ...further, ...over } as ClaimsWorld['further'] };
      assert.throws(() => planned(service({}), world, undefined, full), /all 6 addresses are in use/);
    });

  test('may request an address of each range, and of no other', () => {
    const world = { ...small, further };
    const asks = (clusterIP: string) => planned(service({ clusterIP }), world).acquire;
    assert.deepEqual(asks('203.0.113.1'), [ip('203.0.113.1')]);
    for (const outside of ['203.0.113.0', '203.0.113.255', '203.0.114.1'])
      assert.throws(() => asks(outside), /The range of valid IPs is 10\.96\.0\.0\/29, 203\.0\.113\.0\/24$/);
  });

  test('may request any address of a large range of IPv6', () => {
    const world = { serviceCIDR: '10.96.0.0/29,fd00:10:96::/112', further };
    const spec = { clusterIP: 'fd00::ffff:ffff:ffff:ffff', ipFamilies: ['IPv6'] };
    assert.deepEqual(planned(service(spec), world).acquire, [ip('fd00::ffff:ffff:ffff:ffff')]);
  });

  test('keeps its address when the range is deleted', () => {
    const old = service({ clusterIP: '203.0.113.1' });
    assert.deepEqual(planned(service({ clusterIP: '203.0.113.1' }), small, old), {
      acquire: [],
      release: [],
    });
  });
});

describe('node ports', () => {
  test('of a load balancer without allocation are only the ports of its spec', () => {
    const ports = [{ port: 80 }, { port: 81, nodePort: 30003 }];
    const object = service({ type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports });
    assert.deepEqual(planned(object).acquire.slice(1), [port(30003)]);
    assert.deepEqual(object.spec.ports, ports);
  });

  for (const type of ['NodePort', 'LoadBalancer'] as const)
    test(`of a ${type} are allocated, each a different one`, () => {
      const object = service({
        type,
        clusterIP: '10.96.0.5',
        ports: [nodePort(), nodePort(30001), nodePort(), nodePort()],
      });
      const { acquire } = planned(object);
      const given = object.spec.ports?.map((one) => one.nodePort);
      assert.deepEqual(given, [30000, 30001, 30002, 30003]);
      assert.deepEqual(acquire, [ip('10.96.0.5'), ...[30000, 30001, 30002, 30003].map(port)]);
    });

  test('are searched from a random port to the last, then from the first', () => {
    const object = service({ type: 'NodePort', clusterIP: '10.96.0.5', ports: [nodePort(), nodePort()] });
    planned(object, { start: 0.95 });
    assert.deepEqual(
      object.spec.ports?.map((one) => one.nodePort),
      [30009, 30000],
    );
  });

  test('of other Services are skipped; without a free port the Service is rejected', () => {
    const all = Array.from({ length: 10 }, (_, i) => port(30000 + i));
    const make = () => service({ type: 'NodePort', clusterIP: '10.96.0.5' });
    assert.ok(planned(make(), {}, undefined, all.slice(0, -1)).acquire.includes(port(30009)));
    assert.throws(() => planned(make(), {}, undefined, all), /all ports 30000-30009 are in use/);
  });

  test('are not given to a Service of another type', () => {
    const object = service({ clusterIP: '10.96.0.5' });
    planned(object);
    assert.equal(object.spec.ports?.[0]?.nodePort, undefined);
    assert.deepEqual(planned(service({ clusterIP: '10.96.0.5', ports: [nodePort(0)] })).acquire, [
      ip('10.96.0.5'),
    ]);
    const none = service({ clusterIP: 'None' });
    delete (none.spec as { ports?: unknown }).ports;
    assert.deepEqual(planned(none), { acquire: [], release: [] });
  });
});

describe('a change of a Service', () => {
  const old = service({
    type: 'NodePort',
    clusterIP: '10.96.0.5',
    ports: [nodePort(30001), nodePort(30002)],
  });

  test('without another address or port claims and releases nothing', () => {
    assert.deepEqual(planned(structuredClone(old), {}, old), { acquire: [], release: [] });
  });

  test('claims new addresses and ports and releases the old ones', () => {
    const next = service({
      type: 'NodePort',
      clusterIP: '10.96.0.5',
      ports: [nodePort(30002), nodePort(30003)],
    });
    assert.deepEqual(planned(next, {}, old), { acquire: [port(30003)], release: [port(30001)] });
    const external = service({ type: 'ExternalName', clusterIP: '10.96.0.5', ports: [] });
    assert.deepEqual(planned(external, {}, old), {
      acquire: [],
      release: [ip('10.96.0.5'), port(30001), port(30002)],
    });
  });

  test('keeps its own address and ports, even outside of the current ranges', () => {
    const own = [ip('10.96.0.5'), port(30001), port(30002)];
    assert.deepEqual(planned(structuredClone(old), {}, old, own), { acquire: [], release: [] });
    const elsewhere = { serviceCIDR: '10.97.0.0/24', nodePorts: [31000, 31009] } as const;
    assert.deepEqual(planned(structuredClone(old), elsewhere, old), { acquire: [], release: [] });
  });

  test('claims an address if it had none', () => {
    const bare = service({});
    assert.deepEqual(planned(service({ clusterIP: '10.96.0.5' }), {}, bare), {
      acquire: [ip('10.96.0.5')],
      release: [],
    });
  });

  test('releases all its addresses and ports with the deletion', () => {
    assert.deepEqual(serviceClaims(serverOf({})).held(old).release, [
      ip('10.96.0.5'),
      port(30001),
      port(30002),
    ]);
    assert.deepEqual(serviceClaims(serverOf({})).held(service({ clusterIP: 'None' })).release, []);
  });
});

describe('a Service is refused', () => {
  const causes = (object: Service, taken: readonly string[] = [], old?: Service) => {
    try {
      planned(object, {}, old, taken);
    } catch (error) {
      assert.ok(error instanceof StatusError && error.status.code === 422, String(error));
      return (error.status.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
    }
    return [];
  };

  test('for addresses and ports of another Service, each with its field', () => {
    const object = service({
      type: 'NodePort',
      clusterIP: '10.96.0.5',
      ports: [nodePort(30001), nodePort(30002)],
    });
    assert.deepEqual(causes(object), []);
    const [address, second, ...more] = causes(object, [ip('10.96.0.5'), port(30002)]);
    assert.match(
      address ?? '',
      /^spec\.clusterIPs: Invalid value: \["10\.96\.0\.5"\]: failed .* already allocated$/,
    );
    assert.match(second ?? '', /^spec\.ports\[1\]\.nodePort: .*30002: provided port is already allocated/);
    assert.deepEqual(more, []);
    assert.equal(causes(object, [port(30002)]).length, 1);
  });

  for (const [address, inside] of [
    ['10.96.0.0', false],
    ['10.96.0.1', true],
    ['10.96.0.254', true],
    ['10.96.0.255', false],
    ['10.95.0.5', false],
  ] as const)
    test(`${inside ? 'not ' : ''}for ${address}`, () => {
      const found = causes(service({ clusterIP: address }));
      if (inside) return assert.deepEqual(found, []);
      assert.ok(found[0]?.startsWith(`spec.clusterIPs: Invalid value: ["${address}"]: `), found.join());
      assert.match(found.join(), /not in the valid range.* is 10\.96\.0\.0\/24$/);
    });

  for (const [number, inside] of [
    [29999, false],
    [30000, true],
    [30009, true],
    [30010, false],
  ] as const)
    test(`${inside ? 'not ' : ''}for the node port ${number}`, () => {
      const found = causes(
        service({ type: 'NodePort', clusterIP: '10.96.0.5', ports: [nodePort(30003), nodePort(number)] }),
      );
      if (inside) return assert.deepEqual(found, []);
      assert.match(found.join(), /^spec\.ports\[1\]\.nodePort: .*The range of valid ports is 30000-30009$/);
    });
});
