/** Distribution of endpoints over several slices, and the fields of a new slice. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import { deepCopy } from '../../../../src/apimachinery/equality.ts';
import { endpointOf, planSlices } from '../../../../src/controllers/services/endpointslice-plan.ts';
import { at, container, meta, ownedBy, pod, service } from '../objects.ts';

const owner = { ...ownedBy('Service', 'web'), apiVersion: 'v1' };
const ready = (index: number, over: Parameters<typeof pod>[1] = {}) =>
  pod(`p${String(index).padStart(4, '0')}`, {
    readyAt: 0,
    ip: `10.244.${Math.floor(index / 250)}.${(index % 250) + 1}`,
    ...over,
  });
const some = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ready(from + index));

/** A slice of the Service with these pods, as this controller writes it. */
function sliceWith(name: string, pods: readonly Pod[], target: Service = service()): EndpointSlice {
  const [draft] = planSlices(target, owner, pods.slice(0, 1), []).create;
  assert.ok(draft);
  const endpoints = pods.map((one) => endpointOf(target, one) ?? assert.fail(one.metadata.name));
  const metadata = { ...meta(name), ...deepCopy(draft).metadata, generateName: undefined };
  return { ...draft, endpoints, metadata };
}

const plan = (pods: readonly Pod[], existing: readonly EndpointSlice[], target = service()) =>
  planSlices(target, owner, pods, existing);
/** Returns the sizes of the changed and created slices, and the names of the removed ones. */
const brief = ({ create, update, remove }: ReturnType<typeof plan>) => ({
  create: create.map(({ endpoints }) => endpoints.length),
  update: Object.fromEntries(update.map(({ metadata, endpoints }) => [metadata.name, endpoints.length])),
  remove: remove.map(({ metadata }) => metadata.name),
});

describe('existing slices', () => {
  it('are filled, if they change anyway, before a slice with less room', () => {
    const existing = [sliceWith('a', some(0, 50)), sliceWith('b', some(100, 99))];
    const pods = [...some(1, 49), ...some(100, 99), ready(300)];
    assert.deepEqual(brief(plan(pods, existing)), { create: [], update: { a: 50 }, remove: [] });
  });

  it('are filled up to the limit', () => {
    const full = sliceWith('a', some(0, 100));
    const pods = [ready(0, { readyAt: undefined }), ...some(1, 99), ready(300)];
    assert.deepEqual(brief(plan(pods, [full])), { create: [1], update: { a: 100 }, remove: [] });
  });

  it('get no endpoints while they hold more than the limit', () => {
    const over = sliceWith('a', some(0, 105));
    const pods = [ready(0, { readyAt: undefined }), ...some(1, 104), ready(300)];
    assert.deepEqual(brief(plan(pods, [over])), { create: [1], update: { a: 105 }, remove: [] });
  });

  it('are deleted once they are empty, and the others stay unchanged', () => {
    const existing = [sliceWith('a', some(0, 3)), sliceWith('b', some(100, 1))];
    assert.deepEqual(brief(plan(some(100, 1), existing)), { create: [], update: {}, remove: ['a'] });
  });

  it('are chosen by name among equals, in any order of slices and pods', () => {
    const existing = [sliceWith('a', some(0, 3)), sliceWith('b', some(100, 3)), sliceWith('c', some(200, 3))];
    const pods = [...some(0, 3), ...some(100, 3), ...some(200, 3), ready(300), ready(301)];
    const expected = { create: [], update: { a: 5 }, remove: [] };
    assert.deepEqual(brief(plan(pods, existing)), expected);
    assert.deepEqual(brief(plan(pods, existing.toReversed())), expected);
    assert.deepEqual(plan(pods.toReversed(), existing), plan(pods, existing));
    assert.deepEqual(plan(pods.toReversed(), []), plan(pods, []));
    const mixed = [ready(3), ready(1), ready(4), ready(0), ready(2)];
    const names = plan(mixed, []).create[0]?.endpoints.map(({ targetRef }) => targetRef?.name);
    assert.deepEqual(names, ['p0000', 'p0001', 'p0002', 'p0003', 'p0004']);
  });

  it('are replaced by a new slice if they have another address family', () => {
    const other: EndpointSlice = { ...sliceWith('six', some(0, 2)), addressType: 'IPv6' };
    assert.deepEqual(brief(plan(some(0, 2), [other])), { create: [2], update: {}, remove: ['six'] });
  });

  it('become one empty slice with the previous ports after the last pod is deleted', () => {
    const first = sliceWith('a', some(0, 1));
    const second = sliceWith('b', some(1, 1), service({}, [{ targetPort: 9090 }]));
    assert.deepEqual(brief(plan([], [first, second])), { create: [], update: { a: 0 }, remove: ['b'] });
    const empty = plan([], []).create[0];
    assert.deepEqual([empty?.endpoints, empty?.ports], [[], []]);
  });

  it('are rewritten if another client removed the target of an endpoint', () => {
    const slice = sliceWith('a', some(0, 2));
    const bare = slice.endpoints.map(({ addresses, conditions }) => ({ addresses, conditions }));
    const { update } = plan(some(0, 2), [{ ...slice, endpoints: bare }]);
    assert.deepEqual(
      update.map(({ endpoints }) => endpoints.map(({ targetRef }) => targetRef?.name)),
      [['p0000', 'p0001']],
    );
  });
});

describe('a new slice', () => {
  it('is a complete object', () => {
    const [draft] = plan([ready(0, { spec: { nodeName: undefined } })], []).create;
    assert.deepEqual(deepCopy(draft), {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: 'web-',
        namespace: 'default',
        labels: {
          'kubernetes.io/service-name': 'web',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
        annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': at(0) },
        ownerReferences: [owner],
      },
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['10.244.0.1'],
          conditions: { ready: true, serving: true, terminating: false },
          targetRef: { kind: 'Pod', namespace: 'default', name: 'p0000', uid: 'uid-p0000' },
        },
      ],
      ports: [{ name: '', protocol: 'TCP', port: 8080 }],
    });
  });

  it('leaves out a pod without an address', () => {
    assert.deepEqual(brief(plan([ready(0), pod('q', { readyAt: 0 })], [])), {
      create: [1],
      update: {},
      remove: [],
    });
  });

  it('has no ports for a headless Service without ports', () => {
    const target = service({ clusterIP: 'None', ports: undefined });
    assert.deepEqual(plan([ready(0)], [], target).create[0]?.ports, []);
  });
});

describe('the address of a pod', () => {
  const addressOf = (status: Partial<NonNullable<Pod['status']>>) => {
    const one = ready(0);
    const { podIP: _podIP, podIPs: _podIPs, ...others } = one.status ?? assert.fail('no status');
    return endpointOf(service(), { ...one, status: { ...others, ...status } })?.addresses;
  };
  const table: [string, Partial<NonNullable<Pod['status']>>, string[] | undefined][] = [
    [
      'is the IPv4 address among several addresses',
      { podIPs: [{ ip: 'fd00::1' }, { ip: '10.0.0.1' }, { ip: '10.0.0.2' }], podIP: 'fd00::1' },
      ['10.0.0.1'],
    ],
    ['is podIP without the list podIPs', { podIP: '10.0.0.1' }, ['10.0.0.1']],
    ['is undefined with another family only', { podIPs: [{ ip: 'fd00::1' }], podIP: 'fd00::1' }, undefined],
    ['is undefined without an address', {}, undefined],
    ['is undefined with an empty list', { podIPs: [], podIP: '' }, undefined],
  ];
  for (const [title, status, expected] of table)
    it(title, () => assert.deepEqual(addressOf(status), expected));

  it('is undefined before the pod has a status', () => {
    assert.equal(endpointOf(service(), { ...ready(0), status: undefined }), undefined);
  });
});

it('is combined with a named port, which is found by name and protocol in any container', () => {
  const named = (name: string, containerPort: number, protocol: 'TCP' | 'UDP' = 'TCP') => ({
    name,
    containerPort,
    protocol,
  });
  const one = ready(0, {
    spec: {
      containers: [
        container(),
        container({ ports: [named('dns', 53, 'UDP'), named('other', 7)] }),
        container({ ports: [named('dns', 5353)] }),
      ],
    },
  });
  const target = service({}, [
    { name: 'dns', targetPort: 'dns' },
    { name: 'no', targetPort: 'no' },
  ]);
  assert.deepEqual(plan([one], [], target).create[0]?.ports, [{ name: 'dns', protocol: 'TCP', port: 5353 }]);
});
