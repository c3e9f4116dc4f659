import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import { deepCopy } from '../../../../src/apimachinery/equality.ts';
import { endpointOf, planSlices, portsOf } from '../../../../src/controllers/services/endpointslice-plan.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { at, container, meta, ownedBy, pod, service } from '../objects.ts';

const owner = { ...ownedBy('Service', 'web'), apiVersion: 'v1' };
const ipOf = (index: number) => `10.244.${Math.floor(index / 250)}.${(index % 250) + 1}`;
const ready = (index: number, over: Parameters<typeof pod>[1] = {}) =>
  pod(`p${String(index).padStart(4, '0')}`, { readyAt: 0, ip: ipOf(index), ...over });
const many = (count: number) => Array.from({ length: count }, (_, index) => ready(index));

let made = 0;

/** Returns the slices after a plan was carried out, and the number of writes. */
function apply(target: Service, pods: readonly Pod[], slices: readonly EndpointSlice[]) {
  const plan = planSlices(target, owner, pods, slices);
  const gone = new Set([...plan.update, ...plan.remove].map(({ metadata }) => metadata.name));
  const created = plan.create.map((draft) => {
    const name = `web-${made++}`;
    return {
      ...deepCopy(draft),
      metadata: { ...meta(name), ...draft.metadata, generateName: undefined },
    } as EndpointSlice;
  });
  const next = [...slices.filter(({ metadata }) => !gone.has(metadata.name)), ...plan.update, ...created];
  return { slices: next, writes: plan.create.length + plan.update.length + plan.remove.length };
}

const podNames = (slices: readonly EndpointSlice[]) =>
  slices.flatMap((slice) => slice.endpoints.map((endpoint) => endpoint.targetRef?.name ?? '')).sort();

describe('zones of endpoints', () => {
  const zoneOf = (node: string) => (node === 'near' ? 'x' : undefined);
  const on = (nodeName: string, over: Parameters<typeof pod>[1] = {}) => {
    const one = ready(0, over);
    return { ...one, spec: { ...one.spec, nodeName } };
  };
  const close = service({ trafficDistribution: 'PreferClose' });
  const zoned = (target: Service, one: Pod) => {
    const endpoint = endpointOf(target, one, { family: 'IPv4', zoneOf });
    return [endpoint?.zone, endpoint?.hints];
  };
  const hints = { forZones: [{ name: 'x' }] };

  it('are the zones of the nodes, and with PreferClose also hints of ready pods', () => {
    assert.deepEqual(zoned(close, on('near')), ['x', hints]);
    assert.deepEqual(zoned(service(), on('near')), ['x', undefined]);
    assert.deepEqual(zoned(close, on('far')), [undefined, undefined]);
    const unready = pod('a', { ip: '10.0.0.1' });
    const placed = { ...unready, spec: { ...unready.spec, nodeName: 'near' } };
    assert.deepEqual(zoned(close, placed), ['x', undefined]);
  });

  it('are written to the slices when a node is labelled', () => {
    const { slices } = apply(close, [on('near')], []);
    assert.equal(slices[0]?.endpoints[0]?.hints, undefined);
    const plan = planSlices(close, owner, [on('near')], slices, zoneOf);
    assert.deepEqual(plan.update[0]?.endpoints[0]?.hints, hints);
  });
});

describe('endpointOf', () => {
  const conditions = (target: Service, one: Pod) => endpointOf(target, one)?.conditions;
  const terminating = { metadata: { deletionTimestamp: at(9) } };
  const table: [string, Service, Pod, unknown][] = [
    ['ready', service(), ready(0), { ready: true, serving: true, terminating: false }],
    [
      'not ready',
      service(),
      pod('a', { ip: '10.0.0.1' }),
      { ready: false, serving: false, terminating: false },
    ],
    [
      'terminating but serving',
      service(),
      ready(0, terminating),
      { ready: false, serving: true, terminating: true },
    ],
    [
      'published although not ready',
      service({ publishNotReadyAddresses: true }),
      pod('a', { ip: '10.0.0.1' }),
      { ready: true, serving: false, terminating: false },
    ],
    ['without an address', service(), pod('a', { readyAt: 0 }), undefined],
    ['over', service(), ready(0, { phase: 'Succeeded' }), undefined],
  ];
  for (const [name, target, one, expected] of table)
    it(name, () => assert.deepEqual(conditions(target, one), expected));
});

describe('the host name of an endpoint', () => {
  const hostname = (spec: Partial<Pod['spec']>) => endpointOf(service(), ready(0, { spec }))?.hostname;
  it("is the pod's if the subdomain of the pod is the Service", () => {
    assert.equal(hostname({ hostname: 'db-0', subdomain: 'web' }), 'db-0');
  });
  it('is undefined if the subdomain is another Service or is not set', () => {
    assert.equal(hostname({ hostname: 'db-0', subdomain: 'other' }), undefined);
    assert.equal(hostname({ hostname: 'db-0' }), undefined);
    assert.equal(hostname({ subdomain: 'web' }), undefined);
    assert.equal(hostname({ hostname: '', subdomain: 'web' }), undefined);
  });
});

describe('the time in the annotation of changed endpoints', () => {
  const name = 'endpoints.kubernetes.io/last-change-trigger-time';
  const told = (slices: readonly EndpointSlice[]) =>
    slices.map(({ metadata }) => metadata.annotations?.[name]);
  const target = { ...service(), metadata: meta('web', { creationTimestamp: at(5) }) };

  it('is the time at which the first of the pods became ready, and at earliest the creation of the Service', () => {
    const { slices } = apply(target, [ready(0), ready(1, { readyAt: 20 }), ready(2, { readyAt: 30 })], []);
    assert.deepEqual(told(slices), [at(5)]);
    const more = apply(target, [ready(0), ready(1), ready(2), ready(3, { readyAt: 50 })], slices);
    assert.deepEqual(told(more.slices), [at(50)]);
  });

  it('does not change when a pod is removed, and causes no write', () => {
    const pods = [ready(0, { readyAt: 20 }), ready(1, { readyAt: 40 })];
    const { slices } = apply(target, pods, []);
    assert.equal(apply(target, pods, slices).writes, 0);
    const terminating = ready(1, { readyAt: 40, metadata: { deletionTimestamp: at(60) } });
    const next = apply(target, [ready(0, { readyAt: 20 }), terminating], slices);
    assert.equal(next.writes, 1);
    assert.deepEqual(told(next.slices), told(slices));
  });
});

describe('portsOf', () => {
  const ports = [{ name: 'http', containerPort: 8080, protocol: 'TCP' as const }];
  const named = pod('a', { spec: { containers: [container({ ports })] } });
  it('keeps numbers and resolves names by protocol', () => {
    const target = service({}, [
      { name: 'web', targetPort: 'http' },
      { name: 'udp', targetPort: 'http', protocol: 'UDP' },
      { name: 'num', targetPort: 9 },
      { name: 'same', port: 81, targetPort: undefined, appProtocol: 'http' },
    ]);
    assert.deepEqual(portsOf(target, named), [
      { name: 'web', protocol: 'TCP', port: 8080 },
      { name: 'num', protocol: 'TCP', port: 9 },
      { name: 'same', protocol: 'TCP', port: 81, appProtocol: 'http' },
    ]);
  });
});

describe('planSlices', () => {
  it('creates slices of at most a hundred endpoints, and then changes nothing', () => {
    const first = apply(service(), many(250), []);
    assert.deepEqual(
      first.slices.map((slice) => slice.endpoints.length),
      [100, 100, 50],
    );
    assert.equal(apply(service(), many(250), first.slices).writes, 0);
  });
  it('adds the labels by which clients select', () => {
    const [slice] = apply(service({ clusterIP: 'None' }), many(1), []).slices;
    assert.deepEqual(slice?.metadata.labels, {
      'service.kubernetes.io/headless': '',
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    });
    assert.deepEqual(slice?.metadata.ownerReferences, [owner]);
  });
  it('changes one slice for one pod that is added, removed or changed', () => {
    const { slices } = apply(service(), many(250), []);
    assert.equal(apply(service(), many(251), slices).writes, 1);
    assert.equal(apply(service(), many(250).slice(1), slices).writes, 1);
    assert.equal(apply(service(), [...many(249), ready(249, { readyAt: undefined })], slices).writes, 1);
  });
  it('fills the gap of a replaced pod in the slice that changes anyway', () => {
    const { slices } = apply(service(), many(200), []);
    const replaced = [...many(200).slice(1), ready(500)];
    const next = apply(service(), replaced, slices);
    assert.equal(next.writes, 1);
    assert.deepEqual(podNames(next.slices), podNames(apply(service(), replaced, []).slices));
  });
  it('fills a slice completely before it creates another', () => {
    const { slices } = apply(service(), many(99), []);
    const full = apply(service(), many(100), slices);
    assert.deepEqual(
      full.slices.map(({ endpoints }) => endpoints.length),
      [100],
    );
    assert.equal(full.writes, 1);
  });
  for (const sizes of [
    [50, 80],
    [80, 50],
  ])
    it(`adds to the fuller of two slices (${sizes}) that has room for all`, () => {
      const { slices } = apply(service(), many(200), []);
      // The slices are ordered by name.
      const uneven = slices
        .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
        .map((slice, index) => ({ ...slice, endpoints: slice.endpoints.slice(0, sizes[index]) }));
      const kept = many(200).filter(({ metadata }) => podNames(uneven).includes(metadata.name));
      assert.equal(apply(service(), kept, uneven).writes, 0);
      const after = (more: number) =>
        apply(service(), [...kept, ...many(500).slice(400, 400 + more)], uneven)
          .slices.map(({ endpoints }) => endpoints.length)
          .sort();
      assert.deepEqual(after(5), [50, 85]);
      assert.deepEqual(after(30), [80, 80]);
    });
  it("keeps two pods of one address as two endpoints: on the host network both have the node's", () => {
    const pods = [ready(1, { ip: '192.0.2.1' }), ready(2, { ip: '192.0.2.1' })];
    const first = apply(service(), pods, []);
    assert.deepEqual(podNames(first.slices), ['p0001', 'p0002']);
    assert.equal(apply(service(), pods, first.slices).writes, 0);
  });
  it('does not change a slice that is being deleted, and writes its endpoints into another', () => {
    const { slices } = apply(service(), many(3), []);
    const going = slices.map((slice) => ({
      ...slice,
      metadata: { ...slice.metadata, deletionTimestamp: at(1), finalizers: ['example.com/hold'] },
    }));
    const plan = planSlices(service(), owner, many(4), going);
    assert.deepEqual([plan.update, plan.remove], [[], []]);
    assert.deepEqual(
      plan.create.map(({ endpoints }) => endpoints.length),
      [4],
    );
  });
  it('keeps one empty slice when no endpoint is left', () => {
    const { slices } = apply(service(), many(150), []);
    const empty = apply(service(), [], slices);
    assert.deepEqual(
      empty.slices.map((slice) => slice.endpoints),
      [[]],
    );
    assert.equal(apply(service(), [], empty.slices).writes, 0);
    assert.equal(apply(service(), [], []).slices.length, 1);
  });
  it('groups pods by the number of a named port', () => {
    const at8080 = [container({ ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' as const }] })];
    const at9090 = [container({ ports: [{ name: 'http', containerPort: 9090, protocol: 'TCP' as const }] })];
    const target = service({}, [{ name: 'http', targetPort: 'http' }]);
    const pods = [ready(1, { spec: { containers: at8080 } }), ready(2, { spec: { containers: at9090 } })];
    assert.deepEqual(
      apply(target, pods, []).slices.map((slice) => slice.ports[0]?.port),
      [8080, 9090],
    );
  });
  it('moves endpoints to slices with new ports when the ports of the Service change', () => {
    const { slices } = apply(service(), many(3), []);
    const next = apply(service({}, [{ targetPort: 9090 }]), many(3), slices);
    assert.deepEqual(
      next.slices.map((slice) => [slice.ports[0]?.port, slice.endpoints.length]),
      [[9090, 3]],
    );
  });
  it('moves pods if only the protocol of a port changes', () => {
    const { slices } = apply(service(), many(3), []);
    const next = apply(service({}, [{ appProtocol: 'kubernetes.io/h2c' }]), many(3), slices);
    assert.deepEqual(
      next.slices.map(({ ports }) => ports[0]?.appProtocol),
      ['kubernetes.io/h2c'],
    );
  });
  it('always contains exactly the existing pods, for any previous slices', () => {
    const random = new SeededRandom(7);
    let slices: readonly EndpointSlice[] = [];
    for (let round = 0; round < 60; round++) {
      const density = random.next();
      const pods = many(400).filter(() => random.next() < density);
      slices = apply(service(), pods, slices).slices;
      assert.deepEqual(podNames(slices), pods.map(({ metadata }) => metadata.name).sort());
      assert.ok(slices.every((slice) => slice.endpoints.length <= 100));
      assert.equal(apply(service(), pods, slices).writes, 0);
    }
  });
});

describe('slices of a Service with two families', () => {
  const dual = service({ ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' });
  const both = (index: number) => {
    const one = ready(index);
    const podIPs = [...(one.status?.podIPs ?? []), { ip: `fd00::${index + 1}` }];
    return { ...one, status: { ...one.status, podIPs } } as Pod;
  };
  const addresses = (slices: readonly EndpointSlice[], family: string) =>
    slices
      .filter(({ addressType }) => addressType === family)
      .map(({ endpoints }) => endpoints.flatMap((endpoint) => endpoint.addresses).join());

  it('have the addresses of one family each', () => {
    const { slices } = apply(dual, [both(0), both(1), ready(2)], []);
    assert.deepEqual(addresses(slices, 'IPv4'), ['10.244.0.1,10.244.0.2,10.244.0.3']);
    assert.deepEqual(addresses(slices, 'IPv6'), ['fd00::1,fd00::2']);
    assert.equal(apply(dual, [both(0), both(1), ready(2)], slices).writes, 0);
    const fewer = apply(dual, [both(1)], slices);
    assert.deepEqual(
      ['IPv4', 'IPv6'].map((family) => addresses(fewer.slices, family)),
      [['10.244.0.2'], ['fd00::2']],
    );
  });

  it('are one empty slice of each family if there is no endpoint', () => {
    const { slices } = apply(dual, [], []);
    assert.deepEqual(slices.map(({ addressType, endpoints }) => [addressType, endpoints]).sort(), [
      ['IPv4', []],
      ['IPv6', []],
    ]);
  });

  it('are removed with the second family, while those of the first family remain unchanged', () => {
    const { slices } = apply(dual, [both(0)], []);
    const plan = planSlices(service({ ipFamilies: ['IPv6'] }), owner, [both(0)], slices);
    assert.deepEqual([plan.create, plan.update], [[], []]);
    assert.deepEqual(
      plan.remove.map(({ addressType }) => addressType),
      ['IPv4'],
    );
  });
});
