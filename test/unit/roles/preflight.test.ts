import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Exec, ExecError } from '../../../src/os/exec.ts';
import { requireKernelNetwork, requireOwnAddress, requirePrograms } from '../../../src/roles/preflight.ts';

/** A machine where the program `broken` fails with this code and error output. */
const machine =
  (broken: string, code: number | undefined, stderr = ''): Exec =>
  async (file, args) => {
    if (file !== broken) return { stdout: '', stderr: '' };
    const how = code === undefined ? 'not found; install it or correct PATH' : `exit status ${code}`;
    throw new ExecError({ file, args, stdout: '', stderr, ...(code !== undefined && { code }) }, how);
  };

describe('requirements of a node', () => {
  const lacking: readonly [string, Exec, RegExp][] = [
    [
      'a machine without nft',
      machine('nft', undefined),
      /^nft is not there on this machine .*; install it \(apt-get install nftables\)$/,
    ],
    [
      'a kernel without nf_tables',
      machine('nft', 1, 'Error: Could not process rule: Operation not supported'),
      /^nft cannot be used on this machine .*Operation not supported.*; load its kernel module \(modprobe nf_tables\)$/,
    ],
    [
      'a machine without iptables',
      machine('iptables', undefined),
      /; install it \(apt-get install iptables\)$/,
    ],
    [
      'a kernel without VXLAN',
      machine('unshare', 2, 'Error: Unknown device type.'),
      /^a vxlan link cannot be used on this machine .*Unknown device type.*modprobe vxlan\), or set overlay: host-routes on all nodes$/,
    ],
  ];
  for (const [what, exec, message] of lacking) {
    test(`${what} is reported in one line`, async () => {
      await assert.rejects(requireKernelNetwork(exec, 'vxlan'), (error: Error) => {
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /\n/);
        return true;
      });
    });
  }

  for (const [program, packageName] of [
    ['ip', 'iproute2'],
    ['mount', 'mount'],
    ['umount', 'mount'],
  ] as const)
    test(`a machine without ${program} is refused, with the package to install`, async () => {
      await assert.rejects(requirePrograms(machine(program, undefined)), {
        message: new RegExp(
          `^${program} is not there on this machine \\(.*\\); install it \\(apt-get install ${packageName}\\)$`,
        ),
      });
    });

  test('a program that rejects the option -V counts as present', async () => {
    await requirePrograms(machine('mount', 1, 'unrecognized option'));
  });

  test('a node with host routes needs no VXLAN', async () => {
    await requireKernelNetwork(machine('unshare', 2), 'host-routes');
  });

  test('the node-ip must be an address of this machine', () => {
    requireOwnAddress('127.0.0.1');
    assert.throws(
      () => requireOwnAddress('192.0.2.123'),
      /^Error: node-ip 192\.0\.2\.123 is not an address of/,
    );
  });
});
