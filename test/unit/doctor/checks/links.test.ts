import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LinkFacts, linkChecks } from '../../../../src/doctor/checks/links.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

const eth0 = (mtu: number) => ({ name: 'eth0', mtu });
const vxlan = (mtu: number) => ({ name: 'minik8s.vxlan', mtu });
const at = (name: string, facts: Partial<LinkFacts>, overlay: 'vxlan' | 'host-routes' = 'vxlan') =>
  linesOf(observe(linkChecks, name, { pods: [], ...facts }, { overlay }));

describe('checks of links', () => {
  it('warn if the underlay has no room for the packets of the overlay', () => {
    assert.deepEqual(at('mtu-underlay', { underlay: eth0(1330) }), ['ok: eth0 has MTU 1330']);
    assert.deepEqual(at('mtu-underlay', { underlay: eth0(1329) }), [
      'warning: eth0 has MTU 1329 # ip link set dev eth0 mtu 1500',
    ]);
    assert.deepEqual(at('mtu-underlay', {}), [
      "note: no link of this machine has the node's address 192.0.2.1",
    ]);
  });

  it('warn about links of pods with a larger MTU than the link below them', () => {
    assert.deepEqual(
      at('mtu-overlay', {
        underlay: eth0(1500),
        overlay: vxlan(1450),
        pods: [{ name: 'mk8s0af40002', mtu: 1450 }],
      }),
      ['ok: minik8s.vxlan has MTU 1450, eth0 1500'],
    );
    assert.deepEqual(
      at('mtu-overlay', {
        underlay: eth0(1400),
        overlay: vxlan(1350),
        pods: [{ name: 'mk8s0af40002', mtu: 1450 }],
      }),
      [
        'warning: mk8s0af40002 has MTU 1450, but eth0 with MTU 1400 carries 1350 # ip link set dev eth0 mtu 1500',
      ],
    );
    assert.deepEqual(
      at('mtu-overlay', { underlay: eth0(1400), pods: [{ name: 'mk8s0af40002', mtu: 1450 }] }, 'host-routes'),
      [
        'warning: mk8s0af40002 has MTU 1450, but eth0 with MTU 1400 carries 1400 # ip link set dev eth0 mtu 1450',
      ],
    );
  });

  it('do not compare with loopback, or without an underlay', () => {
    assert.deepEqual(at('mtu-overlay', { underlay: { name: 'lo', mtu: 100 }, overlay: vxlan(1450) }), []);
    assert.deepEqual(at('mtu-overlay', { overlay: vxlan(1450) }), []);
  });
});
