/** Names and addresses of the API server's certificate. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { servingHosts } from '../../../../src/roles/master/serving-certificates.ts';

const hosts = (bind: string, addresses6: readonly string[] = []) =>
  servingHosts({
    settings: {
      'service-cidr': '10.96.0.0/16,fd00:10:96::/112',
      'bind-address': bind,
      'cluster-domain': 'lab.internal',
    },
    advertiseAddress: '192.0.2.10',
    addresses6,
  });
const usual = [
  ...['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.lab.internal'],
  ...['localhost', hostname(), '127.0.0.1', '10.96.0.1', '192.0.2.10'],
];

test('the certificate of the API server has its names, the address of its Service and its own', () => {
  assert.deepEqual(hosts('0.0.0.0', ['2001:db8::1']), usual);
  assert.deepEqual(hosts('192.0.2.10'), usual);
  assert.deepEqual(hosts('192.0.2.11'), [...usual, '192.0.2.11']);
});

test('the certificate of an API server that listens on IPv6 has the addresses of IPv6 of its machine', () => {
  assert.deepEqual(hosts('::', ['2001:db8::1', 'fd12::1']), [...usual, '::1', '2001:db8::1', 'fd12::1']);
});
