/** Mounts of a container in the request to Docker. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ContainerConfig, Mount } from '../../../../src/kubelet/runtime/container-config.ts';
import { containerOptions } from '../../../../src/kubelet/runtime/docker-config.ts';

function told(mount: Partial<Mount>): unknown {
  const mounts = [{ source: '/s', target: '/t', readOnly: false, ...mount }];
  const config = {
    ...{ pod: {}, name: 'c', sandboxId: 's', argv: ['a'], env: [], mounts, resources: {}, groups: [] },
    ...{ addCapabilities: [], dropCapabilities: [], processes: 'own', seLinux: {}, sysctls: {} },
  } as unknown as ContainerConfig;
  const { HostConfig } = containerOptions(config, { owner: 'o', initPath: '/i' }, 0);
  return HostConfig?.Mounts?.[0]?.BindOptions;
}

for (const [title, mount, options] of [
  ['an ordinary one', {}, undefined],
  ['a read-only one, without what is below', { readOnly: true }, { ReadOnlyNonRecursive: true }],
  [
    'one that is read-only with all below',
    { readOnly: true, recursiveReadOnly: 'Enabled' },
    { ReadOnlyForceRecursive: true },
  ],
  ['one that is read-only as far as it goes', { readOnly: true, recursiveReadOnly: 'IfPossible' }, undefined],
  ['one that sees the machine', { propagation: 'HostToContainer' }, { Propagation: 'rslave' }],
  [
    'one that the machine sees, read-only',
    { readOnly: true, propagation: 'Bidirectional' },
    { Propagation: 'rshared', ReadOnlyNonRecursive: true },
  ],
] as const) {
  it(title, () => assert.deepEqual(told(mount), options));
}
