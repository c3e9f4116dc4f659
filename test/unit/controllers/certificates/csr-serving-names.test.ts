/** Names and addresses under which no node serves, in every spelling. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decideRequest,
  type Situation,
} from '../../../../src/controllers/certificates/csr-approving-plan.ts';
import { isReservedName } from '../../../../src/controllers/certificates/csr-serving-plan.ts';
import { signerRefusal } from '../../../../src/controllers/certificates/csr-signing-plan.ts';
import { content, hosts, node, places, serving, servingA, situation } from './csr-requests.ts';

/** Returns a node's request for these names, where the Node itself reports the same names and addresses. */
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
  'localhost4',
  'localhost6.localdomain6',
  'ip6-localhost',
  'ip6-loopback',
  'broadcasthost',
  'x.localhost',
];
for (const name of reservedNames) {
  test(`no node called ${name} serves under that name`, () => {
    assert.equal(askedFor([name], [], {}, name), 'deny');
    assert.equal(isReservedName(`${name.toUpperCase()}.`, 'Cluster.Local.'), true);
  });
}

test('names below any configured cluster domain are reserved', () => {
  const other = { places: { ...places, clusterDomain: 'k8s.example' } };
  assert.equal(askedFor(['a.k8s.example'], [], other, 'a.k8s.example'), 'deny');
  assert.equal(askedFor(['a.k8s.example'], [], {}, 'a.k8s.example'), 'approve');
  assert.equal(askedFor(['a.cluster.local'], [], other, 'a.cluster.local'), 'approve');
  for (const free of [
    'a',
    'kubernetes-1',
    'node.kubernetes.example',
    'kubernetes.example',
    'default',
    'svc',
    'svc.example',
    'xcluster.local',
  ])
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
  test(`a node gets no certificate for ${JSON.stringify(name)}, with any addresses of its Node`, () => {
    assert.equal(askedFor([name], []), 'deny');
    assert.equal(askedFor(['a', name], ['192.0.2.1']), 'deny');
  });
}

for (const name of ['a.1', 'a.0x7f', 'a.0x']) {
  test(`a node called ${name} gets no certificate for a name that some parsers read as an address`, () => {
    assert.equal(askedFor([name], [], {}, name), 'deny');
    assert.match(signerRefusal(serving(name), hosts([name], [])) ?? '', /is not a DNS name/);
  });
}

const foreignAddresses = [
  '10.96.0.1',
  '10.96.0.10',
  '10.96.255.255',
  'fd00:10:96::1',
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
  test(`no node gets a certificate for ${ip}, even if its Node lists it`, () => {
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

test('a node’s own address is accepted in every spelling', () => {
  const told = node('a', [['InternalIP', '2001:DB8::0:1']]);
  assert.equal(askedFor(['a'], ['2001:db8::1'], { node: told }), 'approve');
  assert.equal(askedFor(['a'], ['2001:db8::2'], { node: told }), 'deny');
});

test('no request is approved while the addresses of the masters are unknown, and invalid requests are denied', () => {
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

test('a request for more names than a node has is denied, and the signer rejects it, too', () => {
  const many = hosts(
    [],
    Array.from({ length: 17 }, (_, index) => `192.0.2.${100 + index}`),
  );
  assert.equal(decideRequest(servingA, situation({ content: many })).type, 'deny');
  assert.match(signerRefusal(servingA, many) ?? '', /^at most 16 DNS and IP subjectAltNames/);
  assert.match(signerRefusal(servingA, hosts(['*.default'], [])) ?? '', /"\*\.default" is not a DNS name/);
  assert.match(signerRefusal(servingA, hosts([`${'a'.repeat(64)}.b`], [])) ?? '', /is not a DNS name/);
});
