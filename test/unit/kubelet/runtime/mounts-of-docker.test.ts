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
  ['an ordinary mount', {}, undefined],
  ['a read-only mount that is not recursive', { readOnly: true }, { ReadOnlyNonRecursive: true }],
  [
    'a recursively read-only mount',
    { readOnly: true, recursiveReadOnly: 'Enabled' },
    { ReadOnlyForceRecursive: true },
  ],
  [
    'a mount that is recursively read-only if possible',
    { readOnly: true, recursiveReadOnly: 'IfPossible' },
    undefined,
  ],
  ['a mount with propagation from the host', { propagation: 'HostToContainer' }, { Propagation: 'rslave' }],
  [
    'a bidirectional read-only mount',
    { readOnly: true, propagation: 'Bidirectional' },
    { Propagation: 'rshared', ReadOnlyNonRecursive: true },
  ],
] as const) {
  it(`${title} has ${options ? `the bind options ${JSON.stringify(options)}` : 'no bind options'}`, () =>
    assert.deepEqual(told(mount), options));
}
