import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { homeIn, listenersIn } from '../../../src/os/listeners.ts';

const output = `udp   UNCONN 0      0            0.0.0.0:8472       0.0.0.0:*
udp   UNCONN 0      0      10.0.0.1%eth0:68         0.0.0.0:*    users:(("dhcp",pid=12,fd=3))
tcp   LISTEN 0      511        127.0.0.1:26443      0.0.0.0:*    users:(("node-MainThread",pid=26724,fd=26))
tcp   LISTEN 0      128             [::]:22            [::]:*    users:(("sshd",pid=7,fd=4),("sshd",pid=8,fd=4))
`;

describe('sockets in the output of ss', () => {
  it('have an address, a port and the process that holds them', () => {
    assert.deepEqual(
      listenersIn(output, (pid) => (pid === 7 ? { unit: 'ssh.service' } : {})),
      [
        { protocol: 'udp', address: '0.0.0.0', port: 8472 },
        { protocol: 'udp', address: '10.0.0.1', port: 68, process: { pid: 12, program: 'dhcp' } },
        {
          protocol: 'tcp',
          address: '127.0.0.1',
          port: 26443,
          process: { pid: 26724, program: 'node-MainThread' },
        },
        {
          protocol: 'tcp',
          address: '[::]',
          port: 22,
          process: { pid: 7, program: 'sshd', unit: 'ssh.service' },
        },
      ],
    );
  });

  it('belong to a service of systemd only by its control group', () => {
    assert.deepEqual(homeIn('0::/system.slice/nginx.service\n'), { unit: 'nginx.service' });
    assert.deepEqual(homeIn('1:name=systemd:/system.slice/system-x.slice/x@1.service\n'), {
      unit: 'x@1.service',
    });
    assert.deepEqual(homeIn('0::/user.slice/user-0.slice/session-1.scope\n'), {});
    assert.deepEqual(homeIn(''), {});
  });

  it('belong to a container by its id, with each driver of control groups', () => {
    const container = 'a1b2'.repeat(16);
    for (const group of [
      `12:pids:/docker/${container}\n`,
      `0::/system.slice/docker-${container}.scope\n`,
      `0::/kubepods/pod1/${container}\n`,
    ])
      assert.deepEqual(homeIn(group), { container }, group);
  });
});
