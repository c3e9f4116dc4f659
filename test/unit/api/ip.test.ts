import assert from 'node:assert/strict';
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { test } from 'node:test';
import { checkCIDR, isIPAddress, parseIPv4, parseIPv6 } from '../../../src/api/ip.ts';

const texts = [
  '0.0.0.0',
  '10.244.0.5',
  '255.255.255.255',
  '256.0.0.1',
  '1.2.3',
  '1.2.3.4.5',
  '01.2.3.4',
  '1.2.3.-4',
  '1.2.3.',
  '',
  '::',
  '::1',
  '1::',
  'fd00::1',
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
  'g::',
  '::ffff:10.0.0.1',
  '1:2:3:4:5:6:10.0.0.1',
  '10.0.0.1::',
  '::10.0.0.256',
  ':::',
  '1:2:3:4::5:6:7:8',
  'localhost',
];

test('an address is what the system takes for one', () => {
  for (const text of texts) {
    assert.equal(parseIPv4(text) !== undefined, isIPv4(text), `IPv4 ${text}`);
    assert.equal(parseIPv6(text) !== undefined, isIPv6(text), `IPv6 ${text}`);
    assert.equal(isIPAddress(text), isIP(text) !== 0, text);
  }
});

test('the groups of an address', () => {
  assert.deepEqual(parseIPv4('10.244.0.5'), [10, 244, 0, 5]);
  assert.deepEqual(parseIPv6('fd00::1'), [0xfd00, 0, 0, 0, 0, 0, 0, 1]);
  assert.deepEqual(parseIPv6('::ffff:10.0.0.1'), [0, 0, 0, 0, 0, 0xffff, 0x0a00, 1]);
});

test('ranges', () => {
  for (const good of ['10.0.0.0/8', '0.0.0.0/0', '10.0.0.1/32', 'fd00::/64', '::/128'])
    assert.deepEqual(checkCIDR(good), []);
  for (const bad of [
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/08',
    'fd00::/129',
    '10.0.0.0/8/8',
    '/8',
  ])
    assert.equal(checkCIDR(bad).length, 1, bad);
});
