import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forwardChains, legacyForwardChain } from '../../../src/doctor/forward-chains.ts';

const range = '10.244.0.0/16';
const chain = (table: string, name: string, policy: string, ...rules: readonly string[]) =>
  [
    `table ${table} { # handle 1`,
    `\tchain ${name} { # handle 1`,
    `\t\ttype filter hook forward priority filter; policy ${policy};`,
    ...rules.map((rule) => `\t\t${rule} # handle 2`),
    '\t}',
    '}',
    '',
  ].join('\n');

test('a chain of Docker accepts packets of pods only by the jump of minik8s', () => {
  const docker = ['counter packets 0 bytes 0 jump DOCKER-USER', 'oifname "docker0" accept'];
  const jump = 'comment "minik8s pod network" counter packets 2 bytes 120 jump MINIK8S-FORWARD';
  const found = (...rules: readonly string[]) =>
    forwardChains(chain('ip filter', 'FORWARD', 'drop', ...rules), range);
  assert.deepEqual(found(...docker), [{ table: 'ip filter', chain: 'FORWARD', acceptsPods: false }]);
  assert.deepEqual(found(jump, ...docker), [{ table: 'ip filter', chain: 'FORWARD', acceptsPods: true }]);
});

test('chains of other firewalls accept packets of pods by their range or their links', () => {
  const accepts = (rule: string) =>
    forwardChains(chain('inet own', 'forward', 'drop', rule), range)[0]?.acceptsPods;
  assert.equal(accepts('ip saddr 10.244.0.0/16 accept'), true);
  assert.equal(accepts('iifname "mk8s*" accept'), true);
  assert.equal(accepts('ip saddr 10.244.0.0/16 drop'), false);
  assert.equal(accepts('ip saddr 10.0.0.0/8 accept'), false);
});

test('a chain of IPv6 counts in a cluster of two families only, and one of both must accept both ranges', () => {
  const both = '10.244.0.0/16,fd00:10:244::/56';
  const six = chain('ip6 filter', 'FORWARD', 'drop');
  assert.deepEqual(forwardChains(six, range), []);
  assert.deepEqual(forwardChains(six, both), [{ table: 'ip6 filter', chain: 'FORWARD', acceptsPods: false }]);
  const accepts = (...rules: readonly string[]) =>
    forwardChains(chain('inet own', 'forward', 'drop', ...rules), both)[0]?.acceptsPods;
  assert.equal(accepts('ip saddr 10.244.0.0/16 accept'), false);
  assert.equal(accepts('ip saddr 10.244.0.0/16 accept', 'ip6 saddr fd00:10:244::/56 accept'), true);
  assert.equal(accepts('iifname "mk8s*" accept'), true);
});

test('chains that accept by default, and those of minik8s, are not listed', () => {
  const text = [
    chain('ip docker-bridges', 'filter-FORWARD', 'accept'),
    chain('ip minik8s-network', 'closed', 'drop'),
    'table inet x {\n\tchain in {\n\t\ttype filter hook input priority 0; policy drop;\n\t}\n}\n',
  ].join('');
  assert.deepEqual(forwardChains(text, range), []);
  assert.deepEqual(forwardChains('', range), []);
});

test('the chain of the older iptables is read from its own listing', () => {
  const listing = (...rules: readonly string[]) => ['-P FORWARD DROP', ...rules, ''].join('\n');
  const chainOf = (acceptsPods: boolean) => [{ table: 'iptables-legacy', chain: 'FORWARD', acceptsPods }];
  assert.deepEqual(legacyForwardChain(listing('-A FORWARD -j DOCKER-USER'), range), chainOf(false));
  assert.deepEqual(
    legacyForwardChain(listing('-A FORWARD -s 10.244.0.0/16 -j ACCEPT'), range),
    chainOf(true),
  );
  assert.deepEqual(legacyForwardChain('-P FORWARD ACCEPT\n', range), []);
  assert.deepEqual(legacyForwardChain('', range), []);
});
