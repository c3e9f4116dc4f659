/** Which kernel parameters a pod may set. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forbiddenSysctl, sysctlsOf } from '../../../src/kubelet/plan/sysctls.ts';
import { makePod } from './builders.ts';

const podWith = (names: readonly string[], spec: object = {}) =>
  makePod({ ...spec, securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) } });

const ofNetwork = [
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
];

describe('a kernel parameter', () => {
  for (const name of ofNetwork) {
    it(`${name} is of a pod's own network, and not of the host's`, () => {
      assert.equal(forbiddenSysctl(podWith([name])), undefined);
      assert.equal(forbiddenSysctl(podWith([name], { hostIPC: true })), undefined);
      assert.match(
        forbiddenSysctl(podWith([name], { hostNetwork: true })) ?? '',
        / not allowed with host Net enabled$/,
      );
    });
  }

  it("kernel.shm_rmid_forced is of a pod's own IPC, and not of the host's", () => {
    const name = 'kernel.shm_rmid_forced';
    assert.equal(forbiddenSysctl(podWith([name], { hostNetwork: true })), undefined);
    assert.match(
      forbiddenSysctl(podWith([name], { hostIPC: true })) ?? '',
      / not allowed with host IPC enabled$/,
    );
  });

  it('is forbidden if it is any other, also behind one that is not', () => {
    for (const name of ['kernel.msgmax', 'net.ipv4.ip_forward', 'vm.swappiness', ''])
      assert.match(forbiddenSysctl(podWith([...ofNetwork, name])) ?? '', / not allowlisted$/, name);
  });

  it('may be spelled with slashes, and then dots are of its parts', () => {
    assert.equal(forbiddenSysctl(podWith(['net/ipv4/tcp_rmem'])), undefined);
    const names = ['net.ipv4.conf.eth0/1.x', 'net/ipv4/conf/eth0.1/y', 'net/ipv4/tcp_wmem', 'plain'];
    assert.deepEqual(Object.keys(sysctlsOf(podWith(names))), [
      'net.ipv4.conf.eth0/1.x',
      'net.ipv4.conf.eth0/1.y',
      'net.ipv4.tcp_wmem',
      'plain',
    ]);
  });
});
