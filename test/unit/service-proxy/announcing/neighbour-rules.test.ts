/** Rules for announced IPv6 addresses, and the links on which they are. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { heldOn, linkFor } from '../../../../src/service-proxy/announcing/links.ts';
import {
  neighbourConfirmation,
  neighbourRivalsIn,
  neighbourRules,
} from '../../../../src/service-proxy/announcing/neighbour-rules.ts';

describe('the rules for announced IPv6 addresses', () => {
  it('add the same to the sum of a message as to that of its destination, so that the checksum stays right', () => {
    const rule =
      neighbourRules()
        .split('\n')
        .find((line) => line.includes('daddr set')) ?? '';
    const [, adapted = ''] = /ip6 daddr set ff02::([0-9a-f]+)/.exec(rule) ?? [];
    const [, written = ''] = /@nh,192,128 set 0xff02([0-9a-f]{28})/.exec(rule) ?? [];
    const value = (bits: string) => Number(new RegExp(`${bits} set (\\S+)`).exec(rule)?.[1]);
    // The three bytes are the first ones of their words of 16 bits; a solicitation has 135, 0 and 1 there.
    const [type, flags, option] = [value('@th,0,8') - 135, value('@th,32,8'), value('@th,192,8') - 1];
    assert.equal(BigInt(`0x${written}`), 1n, 'all nodes');
    assert.equal(Number.parseInt(adapted, 16) - 1, 256 * (type + flags + option));
  });

  it('confirm addresses with their numbers, and forget all others', () => {
    assert.deepEqual(neighbourConfirmation(['2001:db8::240'], 2000).trim().split('\n'), [
      'flush set ip6 minik8s-announced held',
      'flush set ip6 minik8s-announced confirmed',
      'flush map ip6 minik8s-announced announced',
      'add element ip6 minik8s-announced held { 2001:db8::240 }',
      'add element ip6 minik8s-announced confirmed { 2001:db8::240 timeout 2000ms }',
      'add element ip6 minik8s-announced announced { 0x20010db8000000000000000000000240 timeout 2000ms : 2001:db8::240 }',
    ]);
    assert.doesNotMatch(neighbourConfirmation([], 2000), /add/);
  });

  it('list other machines with their hardware addresses', () => {
    const output =
      'elements = { 2001:db8::240 . 02:00:00:00:00:99 timeout 10m expires 9m, fd00:: . ea:b6:23:bd:5b:77 }';
    assert.deepEqual(neighbourRivalsIn(output), [
      { address: '2001:db8::240', machine: '02:00:00:00:00:99' },
      { address: 'fd00::', machine: 'ea:b6:23:bd:5b:77' },
    ]);
  });
});

describe('links with announced addresses', () => {
  const links = [
    { ifname: 'lo', addr_info: [{ local: '::1', prefixlen: 128 }] },
    {
      ifname: 'eth0',
      addr_info: [
        { local: '192.0.2.1', prefixlen: 24, scope: 'global' },
        { local: '192.0.2.240', prefixlen: 32, scope: 'host', dynamic: true },
        { local: '2001:db8::240', prefixlen: 128, dynamic: true, deprecated: true, nodad: true },
        // Addresses of DHCPv6, one of which has ended.
        { local: '2001:db8::7', prefixlen: 128, dynamic: true },
        { local: '2001:db8::8', prefixlen: 128, dynamic: true, deprecated: true },
      ],
    },
    { ifname: 'eth1', addr_info: [{ local: 'fd00:1::5', prefixlen: 64 }] },
  ];

  it('have such lifetimes and flags as no other address has', () => {
    assert.deepEqual(heldOn(links), [
      { address: '192.0.2.240', link: 'eth0' },
      { address: '2001:db8::240', link: 'eth0' },
    ]);
  });

  it('are chosen by the range of the link, and otherwise by the address of the node', () => {
    assert.equal(linkFor('fd00:1::240', '2001:db8::7', links), 'eth1');
    assert.equal(linkFor('2001:db8:2::1', '2001:db8::7', links), 'eth0');
    assert.equal(linkFor('2001:db8:2::1', undefined, links), undefined);
    assert.equal(linkFor('192.0.2.9', undefined, links), 'eth0');
  });
});
