import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installCommands, packagesFor } from '../../../../src/installation/plan/packages.ts';

test('a package that contains several programs is named once', () => {
  assert.deepEqual(packagesFor('dnf', ['mount', 'unshare', 'iptables'], false), [
    'util-linux',
    'iptables-nft',
  ]);
  assert.deepEqual(packagesFor('apt', ['ip'], false), ['iproute2']);
});

test('apt updates its lists, waits for its lock, removes nothing and asks no question; dnf asks no question', () => {
  assert.deepEqual(installCommands.apt(['a', 'b']), [
    ['apt-get', '-o', 'DPkg::Lock::Timeout=300', 'update'],
    [
      ...['apt-get', '-o', 'DPkg::Lock::Timeout=300', 'install', '--yes', '--no-remove'],
      ...['--no-install-recommends', 'a', 'b'],
    ],
  ]);
  assert.deepEqual(installCommands.dnf(['a']), [['dnf', 'install', '--assumeyes', 'a']]);
});
