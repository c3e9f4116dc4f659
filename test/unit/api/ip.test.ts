import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkIPv6, checkNonSpecialIP, isGlobalUnicast } from '../../../src/api/ip.ts';

test('an address with a zone of one machine is rejected in every spelling', () => {
  const special: [string, RegExp][] = [
    ['0.0.0.0', /unspecified/],
    ['::ffff:0.0.0.0', /unspecified/],
    ['127.0.0.1', /loopback/],
    ['::ffff:127.0.0.1', /loopback/],
    ['::FFFF:7f00:1', /loopback/],
    ['0:0:0:0:0:0:0:1', /loopback/],
    ['::ffff:169.254.169.254', /link-local range/],
    ['::ffff:224.0.0.1', /link-local multicast/],
    ['010.1.1.1', /must be a valid IP address/],
  ];
  for (const [text, why] of special) {
    assert.match(checkNonSpecialIP(text)[0] ?? '', why, text);
    assert.equal(isGlobalUnicast(text), false, text);
  }
  for (const text of ['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1']) {
    assert.deepEqual(checkNonSpecialIP(text), [], text);
    assert.equal(isGlobalUnicast(text), true, text);
  }
  assert.equal(isGlobalUnicast('255.255.255.255'), false);
  assert.equal(isGlobalUnicast('::ffff:224.1.1.1'), false);
});

test('an IPv6 endpoint may not be an IPv4-mapped address', () => {
  assert.deepEqual(checkIPv6('2001:db8::1'), []);
  assert.equal(checkIPv6('::ffff:10.0.0.1').length, 1);
  assert.equal(checkIPv6('10.0.0.1').length, 1);
});
