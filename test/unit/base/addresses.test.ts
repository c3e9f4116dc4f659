import assert from 'node:assert/strict';
import { isIP, isIPv4 as systemIsIPv4, isIPv6 as systemIsIPv6 } from 'node:net';
import { test } from 'node:test';
import {
  addressAt,
  addressKind,
  addressOfBytes,
  canonicalAddress,
  containsRange,
  formatIPv4,
  formatRange,
  hasAddress,
  hasPlainHost,
  isAddress,
  isCIDR,
  isIPv4,
  isIPv6,
  overlaps,
  parseIPv4,
  parseRange,
  positionIn,
  rangeAround,
  requireRange,
  sameAddress,
  strictSubrange,
} from '../../../src/base/addresses.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const texts = [
  '0.0.0.0',
  '10.244.0.5',
  '255.255.255.255',
  '256.0.0.1',
  '1.2.3',
  '1.2',
  '1',
  '1.2.3.4.5',
  '01.2.3.4',
  '010.1.1.1',
  '0x7f.0.0.1',
  '1.2.3.-4',
  '1.2.3.',
  ' 1.2.3.4',
  '1.2.3.4\n',
  '',
  '::',
  '::1',
  '1::',
  'fd00::1',
  'FD00::ABCD',
  '1:2:3:4:5:6:7:8',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1::2::3',
  ':1',
  '1:',
  '1:2:3:4:5:6:7::',
  '::2:3:4:5:6:7:8',
  '1::3:4:5:6:7:8',
  '12345::',
  '00001::',
  'g::',
  '::ffff:10.0.0.1',
  '::ffff:010.0.0.1',
  '::ffff:0xa.0.0.1',
  '1:2:3:4:5:6:10.0.0.1',
  '1:2:3:4:5:6:7:10.0.0.1',
  '10.0.0.1::',
  '::10.0.0.256',
  ':::',
  '1:2:3:4::5:6:7:8',
  '[::1]',
  '::1/64',
  'localhost',
];

function agrees(text: string): void {
  assert.equal(isIPv4(text), systemIsIPv4(text), `IPv4 ${JSON.stringify(text)}`);
  assert.equal(isIPv6(text), systemIsIPv6(text), `IPv6 ${JSON.stringify(text)}`);
  assert.equal(isAddress(text), isIP(text) !== 0, JSON.stringify(text));
}

test('an address is valid exactly if the system accepts it', () => {
  texts.forEach(agrees);
  const random = new SeededRandom(7);
  const pieces = [
    '::',
    ':',
    '.',
    '0',
    '1',
    'ff',
    'ffff',
    '10',
    '010',
    '255',
    '256',
    '10.0.0.1',
    'fe80',
    'g',
    '0x',
  ];
  for (let round = 0; round < 20_000; round++) {
    const count = 1 + random.below(12);
    agrees(Array.from({ length: count }, () => pieces[random.below(pieces.length)]).join(''));
  }
});

test('an address with a zone is invalid: its meaning is limited to one machine', () => {
  for (const text of ['fe80::1%eth0', '::1%1', '::ffff:1.2.3.4%lo'])
    assert.equal(isAddress(text), false, text);
});

test('all spellings of an address have one canonical text', () => {
  const spellings: [string, string[]][] = [
    ['10.96.0.1', ['10.96.0.1', '::ffff:10.96.0.1', '::FFFF:a60:1', '0:0:0:0:0:ffff:0a60:0001']],
    ['2001:db8::1', ['2001:db8::1', '2001:DB8:0:0:0:0:0:1', '2001:db8::0:1', '2001:0db8:0::0.0.0.1']],
    ['::1', ['::1', '0:0:0:0:0:0:0:1', '::0.0.0.1']],
    ['64:ff9b::a60:1', ['64:ff9b::10.96.0.1']],
  ];
  for (const [canonical, all] of spellings) {
    for (const text of all) {
      assert.equal(canonicalAddress(text), canonical);
      assert.ok(all.every((other) => sameAddress(text, other)));
    }
  }
  assert.equal(sameAddress('10.96.0.1', '10.96.0.2'), false);
  assert.equal(sameAddress('::10.96.0.1', '10.96.0.1'), false);
  assert.equal(canonicalAddress('010.96.0.1'), undefined);
  assert.equal(sameAddress('nonsense', 'nonsense'), false);
});

test('addresses are converted to the bytes of a certificate', () => {
  assert.equal(addressOfBytes(Uint8Array.of(10, 96, 0, 1)), '10.96.0.1');
  const mapped = [...new Array<number>(10).fill(0), 255, 255, 10, 96, 0, 1];
  assert.equal(addressOfBytes(Uint8Array.from(mapped)), '10.96.0.1');
  assert.equal(
    addressOfBytes(Uint8Array.of(0x20, 1, 0xd, 0xb8, ...new Array<number>(11).fill(0), 1)),
    '2001:db8::1',
  );
  for (const length of [0, 3, 5, 8, 15, 17, 32])
    assert.equal(addressOfBytes(new Uint8Array(length)), undefined);
});

test('the use of an address does not depend on its spelling', () => {
  const kinds: [string, string | undefined][] = [
    ['0.0.0.0', 'unspecified'],
    ['::ffff:0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['0.0.0.1', 'unicast'],
    ['127.0.0.1', 'loopback'],
    ['127.255.0.9', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['169.254.20.10', 'link-local'],
    ['::ffff:169.254.20.10', 'link-local'],
    ['febf::1', 'link-local'],
    ['fec0::1', 'unicast'],
    ['224.0.0.251', 'link-local multicast'],
    ['224.0.1.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'unicast'],
    ['ff02::1', 'link-local multicast'],
    ['ff0e::1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['10.0.0.1', 'unicast'],
    ['2001:db8::1', 'unicast'],
    ['x', undefined],
  ];
  for (const [text, kind] of kinds) assert.equal(addressKind(text), kind, text);
});

const range = (text: string) => requireRange(text);

test('a range is parsed from its first address, or from any of its addresses', () => {
  for (const good of ['0.0.0.0/0', '10.244.0.0/16', '255.255.255.255/32', '192.168.1.128/25']) {
    const read = parseRange(good);
    assert.equal(read && formatRange(read), good);
  }
  for (const bad of [
    '',
    '10.0.0.0',
    '10.0.0.1/24',
    '10.0.0.256/32',
    '10.0.0.0/33',
    '::/0',
    '10.0.0.0/24x',
    '10.0.0.0/08',
  ])
    assert.equal(parseRange(bad), undefined, bad);
  assert.equal(formatRange(range('10.244.1.7/24')), '10.244.1.0/24');
  assert.equal(formatRange(range('255.255.255.255/1')), '128.0.0.0/1');
  assert.equal(rangeAround('10.244.1.7/24/1'), undefined);
  assert.throws(
    () => range('10.244'),
    /^Error: "10.244" is not an IPv4 range; write one such as 10.244.0.0\/16$/,
  );
});

test('a range contains its addresses', () => {
  const services = range('10.96.0.0/16');
  assert.equal(addressAt(services, 1), '10.96.0.1');
  assert.equal(addressAt(services, 65_535), '10.96.255.255');
  assert.equal(positionIn(services, '::ffff:10.96.1.0'), 256);
  for (const outside of ['10.95.255.255', '10.97.0.0', '2001:db8::1', '::10.96.0.1', 'x'])
    assert.equal(hasAddress(services, outside), false, outside);
  const random = new SeededRandom(5);
  for (let round = 0; round < 2000; round++) {
    const [a, b] = [0, 0].map(() => {
      const prefix = random.below(33);
      return range(`${formatIPv4(random.below(2 ** 16) * 2 ** 16 + random.below(2 ** 16))}/${prefix}`);
    });
    assert.ok(a && b);
    // Two ranges are nested or disjoint.
    assert.equal(overlaps(a, b), containsRange(a, b) || containsRange(b, a));
    assert.equal(containsRange(a, b), a.prefix <= b.prefix && hasAddress(a, formatIPv4(b.first)));
  }
});

test('a range overlaps its first and last address, and not the addresses next to it', () => {
  const range = requireRange('10.0.1.0/24');
  for (const [address, inside] of [
    ['10.0.0.255', false],
    ['10.0.1.0', true],
    ['10.0.1.255', true],
    ['10.0.2.0', false],
  ] as const) {
    const one = requireRange(`${address}/32`);
    assert.deepEqual([overlaps(range, one), overlaps(one, range)], [inside, inside], address);
    assert.equal(containsRange(range, one), inside, address);
  }
});

test('the host of a URL is read from its text', () => {
  const plain = [
    'https://192.0.2.1:6443',
    'http://user:x@192.0.2.1/a:b@c',
    'https://[::1]:1/',
    'https://a.example',
    'HTTPS://A:1',
  ];
  for (const url of plain) assert.ok(hasPlainHost(url), url);
  for (const host of ['127.1', '010.1.1.1', '0x7f.0.0.1', '2130706433', '1.2', '１27.0.0.1', 'a@127.1'])
    assert.equal(hasPlainHost(`https://${host}:6443`), false, host);
  assert.equal(hasPlainHost('no URL'), false);
});

test('an IPv4 address is converted to its number and back', () => {
  assert.equal(parseIPv4('10.244.0.5'), 183_762_949);
  assert.equal(formatIPv4(183_762_949), '10.244.0.5');
  assert.equal(formatIPv4(2 ** 32 - 1), '255.255.255.255');
  assert.equal(parseIPv4('::ffff:10.0.0.1'), undefined);
  assert.equal(parseIPv4('1.2.3'), undefined);
});

test('CIDRs of both families are validated', () => {
  for (const good of ['10.0.0.0/8', '0.0.0.0/0', '10.0.0.1/32', 'fd00::/64', '::/128'])
    assert.ok(isCIDR(good), good);
  for (const bad of [
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/08',
    'fd00::/129',
    '10.0.0.0/8/8',
    '/8',
  ])
    assert.ok(!isCIDR(bad), bad);
});

test('a range is within another if its first address is in it and its prefix is longer, for any bits after the prefix', () => {
  const inside: [outer: string, inner: string][] = [
    ['10.0.0.0/8', '10.1.0.0/16'],
    ['10.255.0.0/8', '10.1.2.3/32'],
    ['0.0.0.0/0', '192.0.2.0/24'],
    ['2001:db8::/32', '2001:db8:1::/48'],
    ['::/0', '2001:db8::1/128'],
  ];
  for (const [outer, inner] of inside) {
    assert.equal(strictSubrange(outer)?.(inner), 'inside', `${inner} in ${outer}`);
    assert.equal(strictSubrange(inner)?.(outer), 'not inside', `${outer} in ${inner}`);
  }
  const beside: [outer: string, inner: string][] = [
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['10.0.0.0/8', '11.0.0.0/16'],
    ['10.0.0.0/8', '2001:db8::/48'],
    ['::/0', '10.0.0.0/8'],
    ['10.0.0.0', '10.0.0.0/16'],
    ['10.0.0.0/8', '10.0.0.0'],
    ['x/8', 'x/16'],
  ];
  for (const [outer, inner] of beside)
    assert.notEqual(strictSubrange(outer)?.(inner) ?? 'no range', 'inside', `${inner} in ${outer}`);
});
