import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSubset, Endpoints } from '../../../../src/api/core/v1/service/endpoints.ts';
import type { EndpointSlice } from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import { deepCopy } from '../../../../src/apimachinery/equality.ts';
import type { ObjectMeta } from '../../../../src/apimachinery/meta.ts';
import {
  isMirrored,
  maxAddressesPerSubset,
  planMirror,
} from '../../../../src/controllers/services/endpointslicemirroring-plan.ts';
import { meta, ownedBy, service } from '../objects.ts';

const owner = { ...ownedBy('Endpoints', 'db'), apiVersion: 'v1' };

const endpoints = (subsets: EndpointSubset[], over: Partial<ObjectMeta> = {}): Endpoints => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: meta('db', over),
  subsets,
});

const subset = (ips: readonly string[], port = 80, name?: string): EndpointSubset => ({
  addresses: ips.map((ip) => ({ ip })),
  ports: [{ protocol: 'TCP', port, ...(name && { name }) }],
});

let made = 0;

/** Returns the slices after the plan was carried out, and the plan's writes. */
function mirror(of: Endpoints, existing: readonly EndpointSlice[] = []) {
  const plan = planMirror(of, owner, existing);
  const gone = new Set([...plan.update, ...plan.remove].map(({ metadata }) => metadata.name));
  const created = plan.create.map((draft): EndpointSlice => {
    assert.equal(draft.metadata.generateName, 'db-');
    return { ...draft, metadata: { ...meta(`db-${made++}`), ...draft.metadata, generateName: undefined } };
  });
  const kept = existing.filter(({ metadata }) => !gone.has(metadata.name));
  const { create, update, remove, skipped } = plan;
  return { slices: [...kept, ...plan.update, ...created], create, update, remove, skipped };
}

const brief = ({ endpoints: list, ports, addressType }: EndpointSlice) =>
  [
    addressType,
    list.map(({ addresses, conditions }) => `${addresses.join()}${conditions.ready ? '' : '!'}`).join(),
    ports.map(({ name, protocol, port }) => `${name}/${protocol}/${port}`).join(),
  ].join(' ');

describe('Endpoints that are mirrored', () => {
  const bare = service({ selector: undefined });
  const skip = 'endpointslice.kubernetes.io/skip-mirror';
  for (const [title, expected, of, metadata] of [
    ['are those of a Service without a selector', true, bare, {}],
    ['are those of a Service with an empty selector', true, service({ selector: {} }), {}],
    ['are not those of a Service with a selector', false, service(), {}],
    ['are not those with the label skip-mirror', false, bare, { labels: { [skip]: 'true' } }],
    ['are those with another value of the label skip-mirror', true, bare, { labels: { [skip]: 'no' } }],
    [
      'are not those of a leader election',
      false,
      bare,
      { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } },
    ],
  ] as const)
    it(title, () => assert.equal(isMirrored(endpoints([], metadata), of), expected));
});

describe('the slices', () => {
  it('contain the addresses of one family that serve the same ports', () => {
    const { slices } = mirror(
      endpoints([
        { ...subset(['192.0.2.1', '2001:db8::1']), notReadyAddresses: [{ ip: '192.0.2.2' }] },
        subset(['192.0.2.3', '192.0.2.1', '::ffff:192.0.2.1']),
        subset(['192.0.2.1'], 81, 'other'),
        { addresses: [{ ip: '192.0.2.9' }] },
      ]),
    );
    assert.deepEqual(slices.map(brief), [
      'IPv4 192.0.2.1,192.0.2.2!,192.0.2.3 /TCP/80',
      'IPv6 2001:db8::1 /TCP/80',
      'IPv4 192.0.2.1 other/TCP/81',
      'IPv4 192.0.2.9 ',
    ]);
  });

  it('keep the target and the node of an address', () => {
    const targetRef = { kind: 'Pod', name: 'p', uid: 'u' };
    const { slices } = mirror(
      endpoints([
        {
          addresses: [{ ip: '192.0.2.1', hostname: 'one', nodeName: 'n1', targetRef }],
          ports: [{ name: 'h', protocol: 'UDP', port: 1, appProtocol: 'http' }],
        },
      ]),
    );
    assert.deepEqual(slices[0]?.endpoints, [
      { addresses: ['192.0.2.1'], conditions: { ready: true }, hostname: 'one', nodeName: 'n1', targetRef },
    ]);
    assert.deepEqual(slices[0]?.ports, [{ name: 'h', protocol: 'UDP', port: 1, appProtocol: 'http' }]);
  });

  it('omit empty subsets, and contain an address once, as ready if any subset has it as ready', () => {
    const { slices } = mirror(
      endpoints([
        {
          addresses: [{ ip: '192.0.2.1', hostname: '', nodeName: '' }],
          notReadyAddresses: [{ ip: '192.0.2.1' }],
          ports: [{ name: '', protocol: 'TCP', port: 1, appProtocol: '' }],
        },
      ]),
    );
    assert.deepEqual(
      slices.map(({ endpoints: list, ports }) => deepCopy({ list, ports })),
      [
        {
          list: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
          ports: [{ name: '', protocol: 'TCP', port: 1 }],
        },
      ],
    );
  });

  it('are two endpoints if two pods have one address', () => {
    const of = (uid: string) => ({ ip: '192.0.2.1', targetRef: { kind: 'Pod', name: uid, uid } });
    const { slices } = mirror(endpoints([{ addresses: [of('a'), of('b')], ports: [] }]));
    assert.deepEqual(
      slices[0]?.endpoints.map(({ targetRef }) => targetRef?.uid),
      ['a', 'b'],
    );
  });

  it('do not exist for Endpoints without addresses', () => {
    const { subsets: _subsets, ...bare } = endpoints([]);
    assert.deepEqual(mirror(bare).slices, []);
  });

  it('are complete objects', () => {
    const [draft] = planMirror(endpoints([subset(['192.0.2.1'])]), owner, []).create;
    assert.deepEqual(
      [draft?.apiVersion, draft?.kind, draft?.metadata.namespace],
      ['discovery.k8s.io/v1', 'EndpointSlice', 'default'],
    );
  });

  it('belong to the Endpoints and carry their labels and annotations', () => {
    const { slices } = mirror(
      endpoints([subset(['192.0.2.1'])], {
        labels: { team: 'a', 'kubernetes.io/service-name': 'other' },
        annotations: {
          note: 'n',
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
          'endpoints.kubernetes.io/last-change-trigger-time': 't',
        },
      }),
    );
    const { labels, annotations, ownerReferences } = slices[0]?.metadata ?? assert.fail('no slice');
    assert.deepEqual(labels, {
      team: 'a',
      'kubernetes.io/service-name': 'db',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    });
    assert.deepEqual(annotations, { note: 'n' });
    assert.deepEqual(ownerReferences, [owner]);
  });

  it('contain at most as many endpoints as allowed', () => {
    const ips = Array.from(
      { length: maxAddressesPerSubset + 3 },
      (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
    );
    const { slices, skipped } = mirror(endpoints([subset(ips)]));
    assert.deepEqual(
      slices.map((slice) => slice.endpoints.length),
      [maxAddressesPerSubset],
    );
    assert.equal(maxAddressesPerSubset, 1000);
    assert.equal(skipped, 3);
    const again = mirror(endpoints([subset(ips.slice(0, maxAddressesPerSubset)), subset(ips.slice(0, 2))]));
    assert.equal(again.skipped, 0, 'an address that exists already is none too many');
  });
});

describe('the writes after a change of the Endpoints', () => {
  const before = () => mirror(endpoints([subset(['192.0.2.1']), subset(['192.0.2.2'], 81, 'b')])).slices;
  const writes = ({ create, update, remove }: ReturnType<typeof mirror>) => [
    create.length,
    update.length,
    remove.length,
  ];

  it('are empty for equal Endpoints', () => {
    assert.deepEqual(
      writes(mirror(endpoints([subset(['192.0.2.1']), subset(['192.0.2.2'], 81, 'b')]), before())),
      [0, 0, 0],
    );
  });
  it('are one slice for one added address', () => {
    const next = mirror(endpoints([subset(['192.0.2.3']), subset(['192.0.2.2'], 81, 'b')]), before());
    assert.deepEqual(writes(next), [0, 1, 0]);
    assert.deepEqual(next.slices.map(brief).sort(), ['IPv4 192.0.2.2 b/TCP/81', 'IPv4 192.0.2.3 /TCP/80']);
  });
  it('rewrite a slice whose ports were removed with the new ports', () => {
    const next = mirror(endpoints([subset(['192.0.2.1'], 8080), subset(['192.0.2.2'], 81, 'b')]), before());
    assert.deepEqual(writes(next), [0, 1, 0]);
    assert.deepEqual(next.slices.map(brief).sort(), ['IPv4 192.0.2.1 /TCP/8080', 'IPv4 192.0.2.2 b/TCP/81']);
  });
  it('do not depend on the order of the slices', () => {
    const of = endpoints([subset(['192.0.2.1']), subset(['192.0.2.2'], 81, 'b')]);
    assert.deepEqual(writes(mirror(of, before().toReversed())), [0, 0, 0]);
  });
  it('create a slice for further ports', () => {
    const one = mirror(endpoints([subset(['192.0.2.1'])])).slices;
    const next = mirror(endpoints([subset(['192.0.2.1']), subset(['192.0.2.1'], 81, 'b')]), one);
    assert.deepEqual(writes(next), [1, 0, 0]);
  });
  it('contain changed labels', () => {
    const of = (labels: Record<string, string>) => endpoints([subset(['192.0.2.1'])], { labels });
    const [update, ...more] = mirror(of({ team: 'b' }), mirror(of({ team: 'a' })).slices).update;
    assert.deepEqual([update?.metadata.labels?.team, more], ['b', []]);
  });
  it('never reuse a slice of another address family', () => {
    const next = mirror(endpoints([subset(['2001:db8::1'])]), before());
    assert.deepEqual(writes(next), [1, 0, 2]);
  });
  it('delete a slice without addresses', () => {
    assert.deepEqual(writes(mirror(endpoints([subset(['192.0.2.1'])]), before())), [0, 0, 1]);
    assert.deepEqual(mirror(endpoints([]), before()).slices, []);
  });
  it('remove a removed annotation from the slices', () => {
    const of = (annotations?: Record<string, string>) =>
      endpoints([subset(['192.0.2.1'])], annotations && { annotations });
    const next = mirror(of(), mirror(of({ a: 'b' })).slices);
    assert.deepEqual(writes(next), [0, 1, 0]);
    assert.equal(next.slices[0]?.metadata.annotations, undefined);
  });
});
