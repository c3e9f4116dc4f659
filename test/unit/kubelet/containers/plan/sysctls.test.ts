/** Kernel parameters that a pod may set. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  forbiddenSysctl,
  parseUnsafeSysctls,
  sysctlsOf,
} from '../../../../../src/kubelet/containers/plan/sysctls.ts';
import { makePod } from '../../builders.ts';

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
    it(`${name} is allowed in a pod's own network namespace, not in the host's`, () => {
      assert.equal(forbiddenSysctl(podWith([name])), undefined);
      assert.equal(forbiddenSysctl(podWith([name], { hostIPC: true })), undefined);
      assert.match(
        forbiddenSysctl(podWith([name], { hostNetwork: true })) ?? '',
        / not allowed with host Net enabled$/,
      );
    });
  }

  it("kernel.shm_rmid_forced is allowed in a pod's own IPC namespace, not in the host's", () => {
    const name = 'kernel.shm_rmid_forced';
    assert.equal(forbiddenSysctl(podWith([name], { hostNetwork: true })), undefined);
    assert.match(
      forbiddenSysctl(podWith([name], { hostIPC: true })) ?? '',
      / not allowed with host IPC enabled$/,
    );
  });

  it('is forbidden if it has another name, also after an allowed one', () => {
    for (const name of ['kernel.msgmax', 'net.ipv4.ip_forward', 'vm.swappiness', ''])
      assert.match(forbiddenSysctl(podWith([...ofNetwork, name])) ?? '', / not allowlisted$/, name);
  });

  it('may be written with slashes, which become dots, while its dots become slashes', () => {
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

describe('kernel parameters that are allowed in addition', () => {
  const forbidden = (allowed: string, name: string, spec: object = {}) =>
    forbiddenSysctl(podWith([name], spec), parseUnsafeSysctls(allowed));

  it('are the named sysctls, and the sysctls with a named prefix', () => {
    assert.equal(forbidden('kernel.msgmax', 'kernel.msgmax'), undefined);
    assert.equal(forbidden('net/core/somaxconn', 'net.core.somaxconn'), undefined);
    assert.equal(forbidden(' kernel.msg*, net.core.somaxconn ', 'kernel.msgmnb'), undefined);
    assert.equal(forbidden('net.*', 'net.ipv4.ip_forward'), undefined);
    assert.match(forbidden('kernel.msgmax', 'kernel.msgmaxx') ?? '', /"kernel\.msgmaxx" not allowlisted$/);
    assert.match(forbidden('kernel.msg*', 'kernel.shmmax') ?? '', / not allowlisted$/);
    assert.match(forbidden('kernel.msg*', 'kernel.msx') ?? '', / not allowlisted$/);
    const longest = `net.${'a'.repeat(249)}`;
    assert.equal(forbidden(longest, longest), undefined);
    assert.match(forbidden('', 'kernel.msgmax') ?? '', / not allowlisted$/);
    assert.equal(forbidden('', 'net.ipv4.tcp_rmem'), undefined, 'beside the safe ones');
  });

  it('are refused in namespaces of the host', () => {
    assert.match(forbidden('kernel.msg*', 'kernel.msgmax', { hostIPC: true }) ?? '', /host IPC enabled$/);
    assert.match(forbidden('net.*', 'net.core.somaxconn', { hostNetwork: true }) ?? '', /host Net enabled$/);
  });

  for (const wrong of ['vm.swappiness', 'kernel.hostname', '*', 'kernel.*', 'n*', 'fs.*', 'kernel.semaphore'])
    it(`may not be given as ${wrong}, which includes sysctls of the whole machine`, () =>
      assert.throws(() => parseUnsafeSysctls(wrong), /not known to be of a pod's own namespace/));
  for (const wrong of ['Kernel.sem', 'kernel..sem', 'kernel.s*m', '.net', 'net.', `net.${'a'.repeat(250)}`])
    it(`may not be given as ${wrong.slice(0, 20)}, which is neither a name nor a prefix`, () =>
      assert.throws(() => parseUnsafeSysctls(`net.a,${wrong}`), /expected a name, or the start of names/));
});
