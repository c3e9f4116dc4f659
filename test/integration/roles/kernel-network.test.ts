/**
 * Requirements of a node that its machine does not meet, rejected by the real kernel. The kernels that tests
 * run on have VXLAN built in, and no program can remove it: only the requested kind of link is simulated.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { requireKernelNetwork } from '../../../src/roles/preflight.ts';

/**
 * Requests a kind of link that no kernel has instead of vxlan; ip(8) parses no options of an unknown kind.
 */
const withoutVxlan: Exec = (file, args, options) => {
  const kind = args.indexOf('vxlan');
  return systemExec(file, kind < 0 ? args : [...args.slice(0, kind), 'minik8s-none'], options);
};

const without =
  (capability: string): Exec =>
  (file, args, options) => {
    const less = [`--bounding-set=-${capability}`, `--inh-caps=-${capability}`];
    return systemExec('setpriv', [...less, file, ...args], options);
  };

const permission =
  /Operation not permitted.*; root needs the capabilities NET_ADMIN and SYS_ADMIN here: if this is a container, start it with --privileged$/;

describe('requirements of a node, checked in the real kernel', () => {
  it('are met, and the check leaves no table or link behind', async () => {
    const state = async () => [
      (await systemExec('nft', ['list', 'tables'])).stdout.includes('minik8s-try'),
      (await systemExec('ip', ['-brief', 'link'])).stdout.split('\n').some((line) => line.startsWith('try')),
    ];
    await requireKernelNetwork(systemExec, 'vxlan');
    assert.deepEqual(await state(), [false, false]);
  });

  for (const [what, exec, message] of [
    [
      'a kind of link that the kernel does not support',
      withoutVxlan,
      /^a vxlan link cannot be used on this machine .*Error: Unknown device type\..*; load its kernel module \(modprobe vxlan\), or set overlay: host-routes on all nodes$/,
    ],
    ['a missing right to change the network', without('net_admin'), permission],
    ['a missing right to create a network namespace', without('sys_admin'), permission],
  ] as const) {
    it(`${what} is reported in one line`, async () => {
      await assert.rejects(requireKernelNetwork(exec, 'vxlan'), ({ message: said }: Error) => {
        assert.match(said, message);
        assert.doesNotMatch(said, /\n/);
        return true;
      });
    });
  }
});
