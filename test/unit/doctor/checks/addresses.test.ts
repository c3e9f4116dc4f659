import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AddressFacts, addressChecks } from '../../../../src/doctor/checks/addresses.ts';
import type { Situation } from '../../../../src/doctor/situation.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

const dual = {
  clusterCIDR: '10.244.0.0/16,fd00:10:244::/56',
  serviceCIDR: '10.96.0.0/16,fd00:10:96::/112',
};
const link = (ifname: string, ...addresses: readonly string[]) => ({
  ifname,
  addr_info: addresses.map((local) => ({ local })),
});
const none: AddressFacts = { routes: [], links: [] };
const observed = (name: string, facts: Partial<AddressFacts>, more: Partial<Situation> = dual) =>
  observe(addressChecks, name, { ...none, ...facts }, more);
const at = (...args: Parameters<typeof observed>) => linesOf(observed(...args));

describe('the check of ranges', () => {
  it('reports a route or an address of the machine in a range of either family', () => {
    assert.deepEqual(at('ranges', { routes: [{ dst: '10.244.7.0/24', dev: 'tun0' }] }), [
      "fault: this machine's route to 10.244.7.0/24 through tun0 lies in cluster-cidr 10.244.0.0/16; give the master and all nodes another cluster-cidr",
    ]);
    assert.deepEqual(at('ranges', { links: [link('eth0', 'fd00:10:96::7')] }), [
      "fault: address fd00:10:96::7 of this machine's eth0 lies in service-cidr fd00:10:96::/112; give the master and all nodes another service-cidr",
    ]);
  });

  it('ignores the links of minik8s, and ranges of IPv6 in a cluster of IPv4', () => {
    const routes = [{ dst: 'fd00:10:244::2', dev: 'mk8s0af40002' }];
    assert.deepEqual(at('ranges', { routes }), [
      'ok: this machine uses no address of 10.244.0.0/16, fd00:10:244::/56, 10.96.0.0/16, fd00:10:96::/112 otherwise',
    ]);
    const other = [link('eth0', 'fd00:10:96::7')];
    assert.deepEqual(at('ranges', { links: other }, {}), [
      'ok: this machine uses no address of 10.244.0.0/16, 10.96.0.0/16 otherwise',
    ]);
    assert.deepEqual(at('ranges', { links: other }, { ...dual, hasNode: false }), []);
  });
});

describe('checks of IPv6', () => {
  const forwarding = (value: string | undefined, more: Partial<Situation> = {}) =>
    at(
      'ipv6-forwarding',
      { ipv6: { advertised: [], ...(value !== undefined && { forwarding: value }) } },
      { ...dual, ...more },
    );

  it('report forwarding that another program has switched off, but not before the start', () => {
    assert.deepEqual(forwarding('1', { pid: 42 }), ['ok: net.ipv6.conf.all.forwarding = 1']);
    assert.deepEqual(forwarding('0', { pid: 42 }), [
      'fault: net.ipv6.conf.all.forwarding = 0 # systemctl restart minik8s.service',
    ]);
    assert.deepEqual(forwarding('0'), [
      'ok: net.ipv6.conf.all.forwarding = 0; minik8s switches it on when it starts',
    ]);
    assert.deepEqual(forwarding(undefined), ['fault: the kernel has no IPv6']);
    assert.deepEqual(forwarding('0', { pid: 42, hasNode: false }), []);
  });

  it('warn about a link that loses its default route because the machine forwards', () => {
    const advertised = [
      { link: 'eth0', acceptRa: '1' },
      { link: 'eth0.5', acceptRa: '1' },
      { link: 'eth1', acceptRa: '2' },
    ];
    const found = observed('ipv6-router-advertisements', { ipv6: { forwarding: '1', advertised } });
    assert.deepEqual(linesOf(found), [
      'warning: the default route of eth0 is from a router, with accept_ra 1 # sysctl -w net/ipv6/conf/eth0/accept_ra=2',
      'warning: the default route of eth0.5 is from a router, with accept_ra 1 # sysctl -w net/ipv6/conf/eth0.5/accept_ra=2',
      'ok: the default route of eth1 is from a router, with accept_ra 2',
    ]);
    const fix = { kind: 'sysctl', name: 'net.ipv6.conf.eth0.accept_ra', value: '2' };
    assert.deepEqual(
      found.map((each) => each.fix),
      [fix, undefined, undefined],
    );
    assert.deepEqual(at('ipv6-router-advertisements', { ipv6: { forwarding: '0', advertised } }), []);
  });

  it('note a machine whose IPv6 addresses other machines cannot reach', () => {
    const ipv6 = { forwarding: '1', advertised: [] };
    const links = [link('lo', '::1'), link('minik8s.vxlan', 'fd00:10:244::'), link('eth0', 'fe80::7')];
    assert.deepEqual(at('ipv6-address', { ipv6, links }), [
      'note: this machine has no IPv6 address that other machines can reach',
    ]);
    assert.deepEqual(at('ipv6-address', { ipv6, links: [...links, link('eth1', '2001:db8::7')] }), [
      'ok: this machine has the IPv6 address 2001:db8::7 on eth1',
    ]);
  });

  it('find nothing in a cluster of one family', () => {
    for (const name of ['ipv6-forwarding', 'ipv6-router-advertisements', 'ipv6-address'])
      assert.deepEqual(at(name, {}, {}), []);
  });
});
