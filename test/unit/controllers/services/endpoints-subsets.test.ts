/** Subsets of Endpoints from stored slices of any writer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Endpoints } from '../../../../src/api/core/v1/service/endpoints.ts';
import type {
  Endpoint,
  EndpointPort,
  EndpointSlice,
} from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import { deepCopy } from '../../../../src/apimachinery/equality.ts';
import {
  isManaged,
  maxAddresses,
  planEndpoints,
} from '../../../../src/controllers/services/endpoints-plan.ts';
import { meta, service } from '../objects.ts';

const port = (number: number | undefined, over: Partial<EndpointPort> = {}): EndpointPort => ({
  name: '',
  protocol: 'TCP',
  ...(number !== undefined && { port: number }),
  ...over,
});
/** `uid` is the uid of the pod. */
const endpoint = (ip: string, conditions: Endpoint['conditions'] = {}, uid = `uid-${ip}`): Endpoint => ({
  addresses: [ip],
  conditions,
  targetRef: { kind: 'Pod', name: ip, uid },
});
let made = 0;
const slice = (ports: EndpointPort[], endpoints: Endpoint[]): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: meta(`web-${made++}`),
  addressType: 'IPv4',
  endpoints,
  ports,
});
const endpointsOf = (existing: Partial<Endpoints> = {}, metadata = {}): Endpoints => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: meta('web', {
    labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
    ...metadata,
  }),
  ...existing,
});

function subsetsOf(...slices: readonly EndpointSlice[]) {
  const plan = planEndpoints(service(), slices, undefined);
  assert.ok(plan && 'create' in plan);
  return deepCopy(plan.create.subsets) ?? [];
}
/** Returns the ready addresses, the addresses that are not ready, and the ports of each subset. */
const brief = (subsets: NonNullable<Endpoints['subsets']>) =>
  subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
    [
      addresses.map(({ ip }) => ip).join(),
      notReadyAddresses.map(({ ip }) => ip).join(),
      ports.map(({ name = '', port: number }) => `${name}:${number}`).join(),
    ].join(' | '),
  );

const notReady = { ready: false };
const a = endpoint('10.0.0.1');
const b = endpoint('10.0.0.2');

describe('the subsets', () => {
  const table: [string, readonly EndpointSlice[], readonly string[]][] = [
    [
      'are in the order of their ports: by name, then by number',
      [
        slice([port(8080, { name: 'b' })], [a]),
        slice([port(90, { name: 'b' })], [b]),
        slice([port(9090, { name: 'a' })], [endpoint('10.0.0.3')]),
        slice([port(9999)], [endpoint('10.0.0.4')]),
      ],
      ['10.0.0.4 |  | :9999', '10.0.0.3 |  | a:9090', '10.0.0.2 |  | b:90', '10.0.0.1 |  | b:8080'],
    ],
    [
      'have their addresses in order, for any order in the slices',
      [slice([port(80, { name: 'x' })], [b, a]), slice([port(81, { name: 'y' })], [a, b])],
      ['10.0.0.1,10.0.0.2 |  | x:80,y:81'],
    ],
    [
      'are two if an address is ready at only one of two ports',
      [
        slice([port(80, { name: 'x' })], [a]),
        slice([port(81, { name: 'y' })], [endpoint('10.0.0.1', notReady)]),
      ],
      ['10.0.0.1 |  | x:80', ' | 10.0.0.1 | y:81'],
    ],
    [
      'hold an address as not ready if one slice has it as ready and another as not ready',
      [
        slice([port(80)], [a, endpoint('10.0.0.2', notReady)]),
        slice([port(80)], [endpoint('10.0.0.1', notReady), b]),
      ],
      [' | 10.0.0.1,10.0.0.2 | :80'],
    ],
    [
      'hold an address of two slices once',
      [slice([port(80)], [a]), slice([port(80)], [a])],
      ['10.0.0.1 |  | :80'],
    ],
    [
      'hold an address once for each pod that has it',
      [slice([port(80)], [a, endpoint('10.0.0.1', {}, 'other')])],
      ['10.0.0.1,10.0.0.1 |  | :80'],
    ],
    [
      'hold an endpoint without the condition ready as ready',
      [slice([port(80)], [endpoint('10.0.0.1', { terminating: false })])],
      ['10.0.0.1 |  | :80'],
    ],
    [
      'leave out terminating endpoints',
      [slice([port(80)], [endpoint('10.0.0.1', { ready: false, terminating: true }), b])],
      ['10.0.0.2 |  | :80'],
    ],
    [
      'leave out an endpoint without an address',
      [slice([port(80)], [{ ...a, addresses: [] }, b])],
      ['10.0.0.2 |  | :80'],
    ],
    ['leave out a port without a number', [slice([port(undefined), port(80)], [a])], ['10.0.0.1 |  | :80']],
    ['are absent if no port has a number', [slice([port(undefined)], [a])], []],
    ['are absent without an endpoint', [slice([port(80)], []), slice([], [])], []],
  ];
  for (const [title, slices, expected] of table)
    it(title, () => assert.deepEqual(brief(subsetsOf(...slices)), expected));

  it('have no empty lists, and no empty names', () => {
    assert.deepEqual(subsetsOf(slice([port(80)], [endpoint('10.0.0.1', notReady)])), [
      {
        notReadyAddresses: [
          { ip: '10.0.0.1', targetRef: { kind: 'Pod', name: '10.0.0.1', uid: 'uid-10.0.0.1' } },
        ],
        ports: [{ protocol: 'TCP', port: 80 }],
      },
    ]);
    const bare = { addresses: ['10.0.0.1'], conditions: {} };
    assert.deepEqual(subsetsOf(slice([], [bare, { ...bare, addresses: ['10.0.0.2'] }])), [
      { addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] },
    ]);
  });
});

describe('the planned Endpoints', () => {
  const written = (existing: Endpoints | undefined, ...slices: readonly EndpointSlice[]) =>
    deepCopy(planEndpoints(service(), slices, existing));
  const labels = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
  const subsets = [
    {
      addresses: [{ ip: '10.0.0.1', targetRef: { kind: 'Pod', name: '10.0.0.1', uid: 'uid-10.0.0.1' } }],
      ports: [{ protocol: 'TCP', port: 80 }],
    },
  ];

  it('are a complete object', () => {
    const metadata = { name: 'web', namespace: 'default', labels };
    assert.deepEqual(written(undefined, slice([port(80)], [a])), {
      create: { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets },
    });
  });

  it('are the existing object with other subsets', () => {
    const existing = endpointsOf({}, { annotations: { note: 'kept' } });
    assert.deepEqual(written(existing, slice([port(80)], [a])), { update: { ...existing, subsets } });
  });

  it('are not created for a Service without addresses', () => {
    assert.equal(written(endpointsOf()), undefined);
    assert.equal(written(endpointsOf({ subsets: [] })), undefined);
  });

  it('are recognized as written by this controller only with its mark', () => {
    assert.equal(isManaged(endpointsOf()), true);
    assert.equal(isManaged(endpointsOf({}, { labels: undefined })), false);
    assert.equal(
      isManaged(endpointsOf({}, { labels: { 'endpoints.kubernetes.io/managed-by': 'me' } })),
      false,
    );
  });
});

describe('more addresses than one object may hold', () => {
  const many = (from: number, count: number, conditions = {}) =>
    Array.from({ length: count }, (_, index) =>
      endpoint(`10.${from}.${index >> 8}.${index & 255}`, conditions),
    );
  const counts = (slices: readonly EndpointSlice[]) =>
    subsetsOf(...slices).map(({ addresses, notReadyAddresses, ports }) => [
      addresses?.length,
      notReadyAddresses?.length,
      ports?.[0]?.port,
    ]);

  it('are divided among the subsets, each with its ports and without empty lists', () => {
    const uneven = [
      slice([port(1)], many(1, 500, notReady)),
      slice([port(2)], many(2, 900)),
      slice([port(3)], many(3, 600)),
    ];
    assert.deepEqual(counts(uneven), [
      [600, undefined, 2],
      [400, undefined, 3],
    ]);
    const some = [
      slice([port(1)], many(1, 900)),
      slice([port(2)], many(2, 300, notReady)),
      slice([port(3)], many(3, 100, notReady)),
    ];
    assert.deepEqual(counts(some), [
      [900, undefined, 1],
      [undefined, 75, 2],
      [undefined, 25, 3],
    ]);
  });

  it('are divided into shares that are rounded up while there is room, and the last subset gets the rest', () => {
    const three = [1, 2, 3].map((number) => slice([port(number)], many(number, 500)));
    assert.deepEqual(counts(three), [
      [334, undefined, 1],
      [334, undefined, 2],
      [332, undefined, 3],
    ]);
  });

  it('may be divided into a part with a single address', () => {
    const uneven = [slice([port(1)], many(1, 1)), slice([port(2)], many(2, maxAddresses))];
    assert.deepEqual(counts(uneven), [
      [1, undefined, 1],
      [maxAddresses - 1, undefined, 2],
    ]);
  });

  it('exclude addresses that are not ready if ready ones use the whole maximum', () => {
    const full = [slice([port(1)], many(1, maxAddresses)), slice([port(2)], many(2, 1, notReady))];
    assert.deepEqual(counts(full), [[maxAddresses, undefined, 1]]);
  });

  it('are truncated also if they have no port', () => {
    const [first] = subsetsOf(slice([], many(1, maxAddresses + 1)));
    assert.deepEqual([first?.addresses?.length, first && 'ports' in first], [maxAddresses, false]);
  });

  it('are marked by an annotation, which is removed when all fit; other annotations stay', () => {
    const key = 'endpoints.kubernetes.io/over-capacity';
    const annotationsOf = (existing: Endpoints | undefined, count: number) => {
      const plan = planEndpoints(service(), [slice([port(80)], many(1, count))], existing);
      const made = plan && ('update' in plan ? plan.update : plan.create);
      return made?.metadata.annotations;
    };
    assert.deepEqual(annotationsOf(undefined, maxAddresses + 1), { [key]: 'truncated' });
    const noted = endpointsOf({}, { annotations: { note: 'kept' } });
    assert.deepEqual(annotationsOf(noted, maxAddresses + 1), { note: 'kept', [key]: 'truncated' });
    assert.deepEqual(
      annotationsOf(endpointsOf({}, { annotations: { note: 'kept', [key]: 'truncated' } }), 1),
      { note: 'kept' },
    );
  });
});
