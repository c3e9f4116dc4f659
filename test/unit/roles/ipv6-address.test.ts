/** The IPv6 address of a node, from the links of its machine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AddressedLink, lastingIPv6Addresses, nodeIPv6Of } from '../../../src/roles/ipv6-address.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

const link = (ifname: string, ...addr_info: AddressedLink['addr_info']): AddressedLink => ({
  ifname,
  addr_info,
});
const eth0 = (...more: AddressedLink['addr_info']) =>
  link('eth0', { family: 'inet', local: '192.0.2.1' }, { family: 'inet6', local: 'fe80::1' }, ...more);

test('the address of a node is the first lasting one of its link, in canonical form', () => {
  const links = [
    link('lo', { local: '::1' }),
    link('eth1', { local: '2001:db8:2::1' }),
    eth0(
      { local: '2001:db8::a1', temporary: true },
      { local: '2001:db8::a2', deprecated: true },
      { local: '2001:db8::a3', tentative: true },
      { local: '2001:db8::a4', dadfailed: true },
      { local: '2001:DB8:0::7' },
      { local: '2001:db8::8' },
    ),
  ];
  assert.equal(lastingIPv6Addresses(links, '192.0.2.1')[0], '2001:db8::7');
});

test('the address of a node may be that of another link, but not of a link of minik8s', () => {
  const links = [
    link('minik8s.vxlan', { local: 'fd00:10:244::' }),
    link('mk8s0af40002', { local: 'fd00::9' }),
    eth0(),
    link('eth1', { local: 'fd12::1' }),
  ];
  assert.deepEqual(lastingIPv6Addresses(links, '192.0.2.1'), ['fd12::1']);
  assert.deepEqual(lastingIPv6Addresses(links.slice(0, 3), '192.0.2.1'), []);
});

test('the address of a node is read only in a cluster with ranges of IPv6, and its absence is logged', async () => {
  const log = new RecordingLogger();
  const read = (cidr: string, given?: string) =>
    nodeIPv6Of(
      { 'cluster-cidr': cidr, 'node-ipv6': given },
      { exec: async () => ({ stdout: JSON.stringify([eth0()]), stderr: '' }), log, nodeIP: '192.0.2.1' },
    );
  assert.equal(await read('10.244.0.0/16', '2001:db8::1'), undefined);
  assert.deepEqual(log.of('warn'), []);
  const dual = '10.244.0.0/16,fd00:10:244::/56';
  assert.equal(await read(dual), undefined);
  assert.equal(log.of('warn').length, 1);
  await assert.rejects(
    read(dual, '2001:db8:ffff::77'),
    /^Error: node-ipv6 2001:db8:ffff::77 is not an address of/,
  );
});
