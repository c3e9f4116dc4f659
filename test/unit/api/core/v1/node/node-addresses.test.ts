import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateNodeAddresses } from '../../../../../../src/api/core/v1/node/addresses.ts';

const problems = (...addresses: readonly (readonly [type: string, address: string])[]) =>
  validateNodeAddresses(
    addresses.map(([type, address]) => ({ type, address })),
    'status.addresses',
  ).map(({ field, message }) => `${field}: ${message}`);

test('a node has addresses of known types, without duplicates', () => {
  assert.deepEqual(
    problems(
      ['InternalIP', '192.0.2.1'],
      ['InternalIP', '2001:db8::1'],
      ['ExternalIP', '198.51.100.1'],
      ['InternalIP', '127.0.0.1'],
      ['Hostname', 'a.example'],
      ['InternalDNS', 'a.internal'],
      ['ExternalDNS', 'a.example'],
    ),
    [],
  );
  assert.deepEqual(problems(['InternalIP', '192.0.2.1'], ['InternalIP', '::ffff:192.0.2.1']), [
    'status.addresses[1]: Duplicate value: {"type":"InternalIP","address":"::ffff:192.0.2.1"}',
  ]);
});

const wrong: readonly (readonly [type: string, address: string])[] = [
  ['InternalIP', 'kubernetes.default.svc'],
  ['InternalIP', '010.0.0.1'],
  ['InternalIP', 'fe80::1%eth0'],
  ['InternalIP', '0.0.0.0'],
  ['InternalIP', '::ffff:0.0.0.0'],
  ['InternalIP', '169.254.169.254'],
  ['ExternalIP', '224.0.0.1'],
  ['ExternalIP', '239.1.2.3'],
  ['InternalIP', 'ff05::2'],
  ['InternalIP', 'ff02::1'],
  ['ExternalIP', '255.255.255.255'],
  ['InternalIP', ''],
  ['Hostname', 'KUBERNETES.DEFAULT.SVC'],
  ['Hostname', 'localhost.'],
  ['Hostname', '*.default'],
  ['Hostname', '*'],
  ['InternalDNS', 'a b'],
  ['ExternalDNS', ''],
  ['Alias', 'a'],
  ['toString', 'a'],
];
for (const [type, address] of wrong) {
  test(`a node has no ${type} ${JSON.stringify(address)}`, () => {
    assert.equal(problems([type, address]).length, 1);
  });
}

test('a node has at most as many addresses as a machine may have', () => {
  const many = Array.from({ length: 65 }, (_, index) => ['InternalIP', `192.0.2.${index}`] as const);
  assert.deepEqual(problems(...many), ['status.addresses: Too many: 65: must have at most 64 items']);
});
