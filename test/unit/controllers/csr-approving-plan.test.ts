import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '../../../src/api/certificates/v1/certificate-signing-request.ts';
import type { Lease } from '../../../src/api/coordination/v1/lease.ts';
import type { Node } from '../../../src/api/core/v1/node.ts';
import { requireRange } from '../../../src/base/addresses.ts';
import type { CertificateRequestContent } from '../../../src/base/certificate-request.ts';
import { decideRequest, type Situation } from '../../../src/controllers/csr-approving-plan.ts';
import { deletableAt } from '../../../src/controllers/csr-cleaner-plan.ts';
import { type ClusterPlaces, isReservedName } from '../../../src/controllers/csr-serving-plan.ts';
import { awaitsSigning, signerRefusal, signingTerms } from '../../../src/controllers/csr-signing-plan.ts';
import { at, meta, start } from './objects.ts';

type Spec = CertificateSigningRequest['spec'];
type Conditions = NonNullable<CertificateSigningRequest['status']>['conditions'];

const clientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
const servingSigner = 'kubernetes.io/kubelet-serving';
const client = ['digital signature', 'client auth'];
const server = ['digital signature', 'server auth'];

function request(spec: Partial<Spec> = {}, conditions?: Conditions): CertificateSigningRequest {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: meta('r'),
    spec: { request: '', signerName: clientSigner, usages: client, ...spec },
    ...(conditions && { status: { conditions } }),
  };
}

const joining = (spec: Partial<Spec> = {}) =>
  request({ username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'], ...spec });
const byNode = (name: string, spec: Partial<Spec> = {}) =>
  request({ username: `system:node:${name}`, groups: ['system:nodes'], ...spec });
const serving = (name: string, spec: Partial<Spec> = {}) =>
  byNode(name, { signerName: servingSigner, usages: server, ...spec });

const content = (over: Partial<CertificateRequestContent> = {}): CertificateRequestContent => ({
  commonName: 'system:node:a',
  organizations: ['system:nodes'],
  dnsNames: [],
  ipAddresses: [],
  emailAddresses: [],
  uris: [],
  ...over,
});
const hosts = (dnsNames: string[], ipAddresses: string[]) => content({ dnsNames, ipAddresses });

function node(name: string, addresses: readonly (readonly [string, string])[] = [], ready = 'True'): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: meta(name),
    spec: {},
    status: {
      addresses: addresses.map(([type, address]) => ({ type, address })),
      conditions: [{ type: 'Ready', status: ready as 'True' }],
    },
  };
}

const pending: Node = { ...node('a'), status: { phase: 'Pending' } };

const lease = (renewed: number): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: meta('a'),
  spec: { leaseDurationSeconds: 40, renewTime: at(renewed) },
});

const places: ClusterPlaces = {
  clusterDomain: 'cluster.local',
  serviceRange: requireRange('10.96.0.0/16'),
  podRange: requireRange('10.244.0.0/16'),
  serviceAddresses: [],
  masters: [
    { address: '192.0.2.10', hostname: 'Master-1.' },
    { address: '192.0.2.11', hostname: undefined },
  ],
};

const situation = (over: Partial<Situation> = {}): Situation => ({
  approval: 'auto',
  content: content(),
  node: undefined,
  lease: undefined,
  otherNodes: [],
  places,
  now: start + 100_000,
  ...over,
});

/** The type of the decision, and how its reason and message begin. */
type Row = readonly [string, CertificateSigningRequest, Partial<Situation>, string, string?];

const manual = { approval: 'manual' } as const;
const lost: Node = { ...node('a'), status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
const ofA = node('a', [
  ['InternalIP', '192.0.2.1'],
  ['Hostname', 'a.example'],
]);
const servingA = serving('a');

const rows: readonly Row[] = [
  ['a machine with a token', joining(), {}, 'approve'],
  ['one of an older life', joining(), { node: ofA, lease: lease(59) }, 'approve'],
  [
    'one whose name lives',
    joining(),
    { lease: lease(61) },
    'deny',
    'DuplicateNodeName: duplicate node name: a node "a" is alive (it renewed its Lease 39 s ago)',
  ],
  ['one whose name was heard of just as long ago as counts', joining(), { lease: lease(60) }, 'approve'],
  [
    'one whose name lives by a clock ahead',
    joining(),
    { lease: lease(500) },
    'deny',
    'DuplicateNodeName: duplicate node name: a node "a" is alive (it renewed its Lease 0 s ago)',
  ],
  ['one taken for lost, by a clock ahead', joining(), { node: lost, lease: lease(500) }, 'approve'],
  ['one that waits for a person', joining(), manual, 'await'],
  [
    'one whose name lives, by a person',
    joining(),
    { ...manual, lease: lease(100) },
    'deny',
    'DuplicateNodeName',
  ],
  [
    'a token for another sort of user',
    joining(),
    { content: content({ commonName: 'root' }) },
    'deny',
    'InvalidRequest: subject common name does not begin with system:node: and a name',
  ],
  [
    'a token for nobody',
    joining(),
    { content: content({ commonName: 'system:node:' }) },
    'deny',
    'InvalidRequest: subject common name',
  ],
  [
    'a token for an administrator',
    joining(),
    { content: content({ organizations: ['system:nodes', 'system:masters'] }) },
    'deny',
    'InvalidRequest: subject organization is not system:nodes',
  ],
  [
    'a name no object can have',
    joining(),
    { content: content({ commonName: 'system:node:A/..' }) },
    'deny',
    'InvalidRequest: node name "A/.."',
  ],
  [
    'a client that would serve too',
    joining({ usages: [...client, 'server auth'] }),
    {},
    'deny',
    'InvalidRequest: usages did not match [client auth, digital signature, key encipherment]',
  ],
  [
    'a client that would sign',
    joining({ usages: ['client auth', 'cert sign'] }),
    {},
    'deny',
    'InvalidRequest: usages',
  ],
  ['an RSA client', joining({ usages: [...client, 'key encipherment'] }), {}, 'approve'],
  [
    'a client with a name to serve',
    joining(),
    { content: hosts(['a'], []) },
    'deny',
    'InvalidRequest: DNS subjectAltNames are not allowed',
  ],
  [
    'a client with an address to serve',
    joining(),
    { content: hosts([], ['192.0.2.1']) },
    'deny',
    'InvalidRequest: IP subjectAltNames are not allowed',
  ],
  [
    'a client with an identity in a URI',
    joining(),
    { content: content({ uris: ['spiffe://a'] }) },
    'deny',
    'InvalidRequest: URI',
  ],
  [
    'what cannot be read',
    joining(),
    { content: undefined },
    'deny',
    'InvalidRequest: the certificate request cannot be read',
  ],
  ['somebody else', request({ username: 'bob', groups: ['system:authenticated'] }), {}, 'leave'],
  [
    'somebody who calls himself a bootstrapper',
    request({ username: 'system:bootstrap:x', groups: [] }),
    {},
    'leave',
  ],
  [
    'a bootstrapper by group alone',
    request({ username: 'bob', groups: ['system:bootstrappers'] }),
    {},
    'leave',
  ],
  ['another signer', joining({ signerName: 'kubernetes.io/kube-apiserver-client' }), {}, 'leave'],
  [
    'what is decided',
    { ...joining(), status: { conditions: [{ type: 'Denied', status: 'True' }] } },
    {},
    'leave',
  ],
  ['what is signed', { ...joining(), status: { certificate: 'eA==' } }, {}, 'leave'],
  [
    'a token that wants to serve',
    serving('a', { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] }),
    { content: hosts(['a'], []) },
    'deny',
    'OtherNode',
  ],

  ['a node that renews', byNode('a'), {}, 'approve'],
  ['a node that renews while it lives', byNode('a'), { lease: lease(99) }, 'approve'],
  [
    'a node that asks for another',
    byNode('b'),
    {},
    'deny',
    'OtherNode: node "b" may not request a certificate for node a',
  ],
  [
    'a node whose name is a word of ours',
    byNode('join'),
    {},
    'deny',
    'OtherNode: node "join" may not request a certificate for node a',
  ],
  ['a node that renews, by a person', byNode('a'), { ...manual, node: ofA }, 'approve'],
  ['a node whose Node was deleted', byNode('a'), manual, 'await'],
  ['a node that nobody let in yet', byNode('a'), { ...manual, node: pending }, 'await'],

  ['its name and address', servingA, { content: hosts(['a'], ['192.0.2.1']), node: ofA }, 'approve'],
  [
    'what its machine calls itself',
    servingA,
    { content: hosts(['a', 'a.example'], []), node: ofA },
    'deny',
    'NotItsName: DNS name a.example does not belong to node a: request a',
  ],
  [
    'a name that is not its own',
    servingA,
    { content: hosts(['a', 'b'], []), node: ofA },
    'deny',
    'NotItsName: DNS name b does not belong to node a: request a',
  ],
  [
    'an address that is not its own',
    servingA,
    { content: hosts(['a'], ['192.0.2.2']), node: ofA },
    'deny',
    'NotItsAddress: address 192.0.2.2 does not belong to node a, which has 192.0.2.1',
  ],
  [
    'an address before it has told any',
    servingA,
    { content: hosts(['a'], ['192.0.2.2']), node: node('a') },
    'approve',
  ],
  [
    'the address of a node that works',
    servingA,
    { content: hosts(['a'], ['192.0.2.2']), otherNodes: [node('b', [['InternalIP', '192.0.2.2']])] },
    'deny',
    'NotItsAddress: address 192.0.2.2 belongs to node b',
  ],
  [
    'the address of a node that is gone',
    servingA,
    {
      content: hosts(['a'], ['192.0.2.2']),
      otherNodes: [node('b', [['InternalIP', '192.0.2.2']], 'Unknown')],
    },
    'approve',
  ],
  [
    'a master’s address from elsewhere',
    serving('a', { extra: { 'minik8s.io/remote-address': ['192.0.2.1'] } }),
    { content: hosts(['a'], ['192.0.2.10']) },
    'deny',
    'NotItsAddress: address 192.0.2.10 belongs to the API server, but the request comes from 192.0.2.1',
  ],
  [
    'a master’s address from nowhere known',
    serving('a', {}),
    { content: hosts(['a'], ['192.0.2.10']) },
    'deny',
    'NotItsAddress',
  ],
  [
    'a master’s address from that master',
    serving('a', { extra: { 'minik8s.io/remote-address': ['192.0.2.10'] } }),
    { content: hosts(['a'], ['192.0.2.10']) },
    'approve',
  ],
  [
    'a master’s address from a process beside it',
    serving('a', { extra: { 'minik8s.io/remote-address': ['127.0.0.1'] } }),
    { content: hosts(['a'], ['192.0.2.10']) },
    'approve',
  ],
  [
    'the address of the API’s Service',
    serving('a', { extra: { 'minik8s.io/remote-address': ['192.0.2.1'] } }),
    { content: hosts(['a'], ['10.96.0.1']) },
    'deny',
    'NotItsAddress',
  ],
  [
    'the API server’s name',
    servingA,
    {
      content: hosts(['kubernetes.default.svc'], []),
      node: node('a', [['Hostname', 'kubernetes.default.svc']]),
    },
    'deny',
    'NotItsName',
  ],
  [
    'nothing',
    servingA,
    { content: content() },
    'deny',
    'InvalidRequest: DNS or IP subjectAltName is required',
  ],
  [
    'a mail address',
    servingA,
    { content: content({ dnsNames: ['a'], emailAddresses: ['a@b'] }) },
    'deny',
    'InvalidRequest: Email subjectAltNames are not allowed',
  ],
  [
    'its name, as a client',
    serving('a', { usages: client }),
    { content: hosts(['a'], []) },
    'deny',
    'InvalidRequest: usages did not match [server auth',
  ],
];

for (const [what, asked, over, type, text] of rows) {
  test(`${asked.spec.signerName === servingSigner ? 'serving' : 'client'} certificate: ${what}: ${type}`, () => {
    const decision = decideRequest(asked, situation(over));
    assert.equal(decision.type, type);
    if (decision.type === 'deny') {
      const told = `${decision.reason}: ${decision.message}`;
      assert.equal(told.slice(0, text?.length), text);
    }
    if (decision.type === 'await') assert.equal(decision.node, 'a');
  });
}

/** The request of a node of that name for that name, however the Node tells its names and addresses. */
function askedFor(dnsNames: string[], ipAddresses: string[], over: Partial<Situation> = {}, name = 'a') {
  const told = node(name, [
    ...dnsNames.map((dnsName) => ['Hostname', dnsName] as const),
    ...ipAddresses.map((ip) => ['InternalIP', ip] as const),
  ]);
  const asked = serving(name, { extra: { 'minik8s.io/remote-address': ['192.0.2.1'] } });
  const content_ = content({ commonName: `system:node:${name}`, dnsNames, ipAddresses });
  return decideRequest(asked, situation({ content: content_, node: told, ...over })).type;
}

const reservedNames = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster',
  'kubernetes.default.svc.cluster.local',
  'web.default.svc',
  'x.svc.cluster.local',
  'a.svc.example',
  'cluster.local',
  'node-1.cluster.local',
  'localhost',
  'localhost.localdomain',
  'ip6-localhost',
  'x.localhost',
];
for (const name of reservedNames) {
  test(`no node called ${name} serves under that name`, () => {
    assert.equal(askedFor([name], [], {}, name), 'deny');
    assert.equal(isReservedName(`${name.toUpperCase()}.`, 'Cluster.Local.'), true);
  });
}

test('names are reserved below the cluster’s own domain, whichever it is', () => {
  const other = { places: { ...places, clusterDomain: 'k8s.example' } };
  assert.equal(askedFor(['a.k8s.example'], [], other, 'a.k8s.example'), 'deny');
  assert.equal(askedFor(['a.k8s.example'], [], {}, 'a.k8s.example'), 'approve');
  assert.equal(askedFor(['a.cluster.local'], [], other, 'a.cluster.local'), 'approve');
  for (const free of ['a', 'kubernetes-1', 'node.kubernetes.example', 'svc', 'svc.example', 'xcluster.local'])
    assert.equal(isReservedName(free, 'cluster.local'), false, free);
});

const foreignNames = [
  'KUBERNETES.DEFAULT.SVC',
  'Kubernetes',
  'LOCALHOST',
  'localhost.',
  'a.',
  'A',
  '*',
  '*.default',
  '*.a',
  '192.0.2.2',
  '10.96.0.1',
  'a.1',
  'a.0x7f',
  'a_b',
  'a..b',
  '',
  'a\0kubernetes',
  'master-1',
  'b',
];
for (const name of foreignNames) {
  test(`no node gets a certificate for ${JSON.stringify(name)}, whatever its Node says`, () => {
    assert.equal(askedFor([name], []), 'deny');
    assert.equal(askedFor(['a', name], ['192.0.2.1']), 'deny');
  });
}

for (const name of ['a.1', 'a.0x7f', 'a.0x']) {
  test(`a node called ${name} serves under no name that some readers take for an address`, () => {
    assert.equal(askedFor([name], [], {}, name), 'deny');
    assert.match(signerRefusal(serving(name), hosts([name], [])) ?? '', /is not a DNS name/);
  });
}

const foreignAddresses = [
  '10.96.0.1',
  '10.96.0.10',
  '10.96.255.255',
  '10.244.3.1',
  '::ffff:10.96.0.1',
  '::FFFF:a60:1',
  '192.0.2.10',
  '::ffff:192.0.2.10',
  '192.0.2.11',
  '127.0.0.1',
  '::1',
  '::ffff:127.0.0.1',
  '0.0.0.0',
  '::',
  '169.254.20.10',
  '169.254.169.254',
  'fe80::1',
  '224.0.0.1',
  '239.1.2.3',
  'ff02::1',
  '255.255.255.255',
  '192.0.2.2',
  '::ffff:c000:202',
  '198.51.100.7',
];
const ofB = node('b', [['InternalIP', '::ffff:192.0.2.2']]);
for (const ip of foreignAddresses) {
  test(`no node gets a certificate for ${ip}, whether or not its Node lists it`, () => {
    const over = {
      otherNodes: [ofB],
      places: { ...places, serviceAddresses: ['::ffff:198.51.100.7'] },
    };
    assert.equal(askedFor([], [ip], over), 'deny');
    assert.equal(askedFor(['a'], [ip], { ...over, node: node('a') }), 'deny');
    assert.equal(askedFor(['a'], [ip], { ...over, node: node('a', [['Hostname', ip]]) }), 'deny');
    assert.equal(askedFor(['a'], ['192.0.2.1', ip], over), 'deny');
  });
}

test('a node’s own address counts in every spelling', () => {
  const told = node('a', [['InternalIP', '2001:DB8::0:1']]);
  assert.equal(askedFor(['a'], ['2001:db8::1'], { node: told }), 'approve');
  assert.equal(askedFor(['a'], ['2001:db8::2'], { node: told }), 'deny');
});

test('while no master is known nothing is granted, and what is wrong anyhow is denied', () => {
  const unknown = { places: { ...places, masters: [] } };
  assert.equal(askedFor(['a'], ['192.0.2.1'], unknown), 'await-masters');
  assert.equal(askedFor(['a'], [], unknown), 'await-masters');
  assert.equal(askedFor(['kubernetes'], [], unknown), 'deny');
  assert.equal(askedFor(['a'], ['10.96.0.1'], unknown), 'deny');
});

test('only a node on a master’s machine may have the master’s host name', () => {
  const on = (from: string) => {
    const asked = serving('master-1', { extra: { 'minik8s.io/remote-address': [from] } });
    const wanted = content({
      commonName: 'system:node:master-1',
      dnsNames: ['master-1'],
      ipAddresses: ['192.0.2.10'],
    });
    return decideRequest(asked, situation({ content: wanted })).type;
  };
  for (const from of ['192.0.2.10', '::ffff:192.0.2.10', '127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
    assert.equal(on(from), 'approve', from);
  for (const from of ['192.0.2.11', '192.0.2.1', '', 'nonsense', '127.evil'])
    assert.equal(on(from), 'deny', from);
});

test('more names than a node has are refused, by the signer too', () => {
  const many = hosts(
    [],
    Array.from({ length: 17 }, (_, index) => `192.0.2.${100 + index}`),
  );
  assert.equal(decideRequest(servingA, situation({ content: many })).type, 'deny');
  assert.match(signerRefusal(servingA, many) ?? '', /^at most 16 DNS and IP subjectAltNames/);
  assert.match(signerRefusal(servingA, hosts(['*.default'], [])) ?? '', /"\*\.default" is not a DNS name/);
  assert.match(signerRefusal(servingA, hosts([`${'a'.repeat(64)}.b`], [])) ?? '', /is not a DNS name/);
});

test('a user with a name like a node’s, outside of system:nodes, is left to an administrator', () => {
  const named = byNode('a', { groups: ['system:authenticated'] });
  assert.equal(decideRequest(named, situation({ node: ofA })).type, 'leave');
});

test('what is approved and nothing else awaits its signing', () => {
  const approved = { type: 'Approved', status: 'True' } as const;
  assert.equal(awaitsSigning(request({}, [approved])), true);
  assert.equal(awaitsSigning(request()), false);
  assert.equal(awaitsSigning(request({}, [approved, { type: 'Failed', status: 'True' }])), false);
  assert.equal(awaitsSigning(request({}, [{ type: 'Denied', status: 'True' }, approved])), false);
  assert.equal(awaitsSigning(request({ signerName: 'example.com/other' }, [approved])), false);
  const signed = { ...request({}, [approved]), status: { conditions: [approved], certificate: 'eA==' } };
  assert.equal(awaitsSigning(signed), false);
});

test('a signer refuses what a person should not have approved', () => {
  const clientOf = (usages: string[]) =>
    request({ signerName: 'kubernetes.io/kube-apiserver-client', usages });
  const anyone = content({ commonName: 'alice', organizations: ['developers'] });
  assert.equal(signerRefusal(clientOf(client), anyone), undefined);
  assert.match(
    signerRefusal(clientOf(['client auth', 'cert sign']), anyone) ?? '',
    /^usage cert sign is not allowed/,
  );
  assert.equal(signerRefusal(clientOf(['digital signature']), anyone), 'usage client auth is required');
  assert.equal(signerRefusal(joining(), anyone), 'subject organization is not system:nodes');
  assert.equal(signerRefusal(joining(), undefined), 'the certificate request cannot be read');
});

test('a certificate is good for a year, or for less when less was asked', () => {
  const year = 365 * 24 * 3600 * 1000;
  const terms = signingTerms(request(), start);
  assert.equal(terms.notAfter, start + year);
  assert.ok(terms.notBefore < start);
  assert.equal(signingTerms(request({ expirationSeconds: 600 }), start).notAfter, start + 600_000);
  assert.equal(signingTerms(request({ expirationSeconds: 2_000_000_000 }), start).notAfter, start + year);
});

test('requests are kept for a day undecided, and for an hour after the decision', () => {
  const hour = 3600 * 1000;
  assert.equal(deletableAt(request()), start + 24 * hour);
  for (const type of ['Approved', 'Denied', 'Failed'])
    assert.equal(
      deletableAt(request({}, [{ type, status: 'True', lastUpdateTime: at(60) }])),
      start + hour + 60_000,
    );
  const unreadable = request({}, [{ type: 'Denied', status: 'True', lastUpdateTime: 'then' }]);
  assert.equal(deletableAt(unreadable), start + hour);
  const other = request({}, [{ type: 'Seen', status: 'True', lastUpdateTime: at(60) }]);
  assert.equal(deletableAt(other), start + 24 * hour);
});
