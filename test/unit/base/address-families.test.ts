/** Families of addresses, and ranges of either family. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addressAtOffset,
  canonicalRange,
  familiesOf,
  familyOf,
  familyRanges,
  liesIn,
  offsetIn,
  rangesMeet,
  readRange,
} from '../../../src/base/address-families.ts';

test('an address has the family of its numbers; an IPv4-mapped address has none', () => {
  for (const text of ['10.0.0.1', '0.0.0.0', '255.255.255.255']) assert.equal(familyOf(text), 'IPv4', text);
  for (const text of ['::', 'fd00::1', 'FD00:0:0::1', '::1.2.3.4', '64:ff9b::1.2.3.4'])
    assert.equal(familyOf(text), 'IPv6', text);
  for (const text of [
    '',
    'None',
    '::ffff:10.0.0.1',
    '0:0:0:0:0:ffff:a00:1',
    '10.0.0',
    'fd00::1%eth0',
    'fd00::/64',
  ])
    assert.equal(familyOf(text), undefined, text);
});

test('the text of ranges names one range, or one of each family', () => {
  assert.deepEqual(familyRanges('10.244.0.0/16,fd00:10:244::/56'), {
    IPv4: '10.244.0.0/16',
    IPv6: 'fd00:10:244::/56',
  });
  assert.deepEqual(familyRanges('10.244.0.0/16'), { IPv4: '10.244.0.0/16' });
  assert.deepEqual(familiesOf(familyRanges('10.244.0.0/16')), ['IPv4']);
  assert.deepEqual(familiesOf(familyRanges('10.244.0.0/16,fd00::/56')), ['IPv4', 'IPv6']);
});

test('a range is written with its first address, in any spelling', () => {
  for (const [text, canonical] of [
    ['fd00:10:244::/56', 'fd00:10:244::/56'],
    ['FD00:0010:0244:0:0:0:0:0/56', 'fd00:10:244::/56'],
    ['::/0', '::/0'],
    ['fd00::1/128', 'fd00::1/128'],
    ['10.244.0.0/16', '10.244.0.0/16'],
  ] as const)
    assert.equal(canonicalRange(text), canonical);
  for (const text of [
    'fd00::1/64',
    'fd00::/129',
    'fd00::',
    '10.0.0.1/8',
    '10.0.0.0',
    '::ffff:10.0.0.0/104',
    'fd00::/64/64',
    '',
  ])
    assert.equal(canonicalRange(text), undefined, text);
});

test('a range lies in itself and in larger ranges of its family', () => {
  assert.ok(liesIn('fd00::/48', 'fd00::/48'));
  assert.ok(liesIn('fd00::/48', 'fd00:0:0:ff00::/56'));
  assert.ok(liesIn('10.0.0.0/8', '10.9.0.0/16'));
  for (const [outer, inner] of [
    ['fd00:0:0:ff00::/56', 'fd00::/48'],
    ['fd00::/48', 'fd00:0:1::/64'],
    ['::/0', '10.0.0.0/8'],
    ['fd00::/48', 'x'],
    ['x', 'fd00::/48'],
  ] as const)
    assert.equal(liesIn(outer, inner), false, `${inner} in ${outer}`);
});

test('ranges meet if one of them lies in the other', () => {
  const meet = (a: string, b: string) =>
    rangesMeet(readRange(a) ?? assert.fail(a), readRange(b) ?? assert.fail(b));
  assert.ok(meet('fd00::/48', 'fd00:0:0:1::/64'));
  assert.ok(meet('fd00:0:0:1::/64', 'fd00::/48'));
  for (const [a, b] of [
    ['fd00::/64', 'fd00:0:0:1::/64'],
    ['::/0', '0.0.0.0/0'],
  ] as const)
    assert.equal(meet(a, b), false, `${a} and ${b}`);
});

test('an offset in a range is an address and back, also beyond 2⁵³', () => {
  for (const [range, offset, address] of [
    ['fd00:10:244:1::/64', 5n, 'fd00:10:244:1::5'],
    ['fd00:10:244:1::/64', 2n ** 64n - 1n, 'fd00:10:244:1:ffff:ffff:ffff:ffff'],
    ['10.244.1.0/24', 5n, '10.244.1.5'],
  ] as const) {
    assert.equal(addressAtOffset(range, offset), address);
    assert.equal(offsetIn(range, address), offset);
  }
  for (const [range, offset] of [
    ['10.244.1.0/24', 256n],
    ['10.244.1.0/24', -1n],
    ['x', 0n],
  ] as const)
    assert.equal(addressAtOffset(range, offset), undefined);
  for (const [range, address] of [
    ['fd00::/64', 'fd01::1'],
    ['fd00::/64', '10.0.0.1'],
    ['10.0.0.0/8', '::ffff:10.0.0.1'],
    ['10.0.0.0/8', 'x'],
    ['x', '10.0.0.1'],
  ] as const)
    assert.equal(offsetIn(range, address), undefined, `${address} in ${range}`);
});
