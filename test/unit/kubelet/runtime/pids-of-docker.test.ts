/** The limit of processes in the request to Docker. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ContainerConfig } from '../../../../src/kubelet/runtime/container-config.ts';
import { containerOptions } from '../../../../src/kubelet/runtime/docker-config.ts';

const config = {
  ...{ pod: {}, name: 'c', sandboxId: 's', argv: ['a'], env: [], mounts: [], resources: {}, groups: [] },
  ...{ addCapabilities: [], dropCapabilities: [], processes: 'own', seLinux: {}, sysctls: {} },
} as unknown as ContainerConfig;
const limitOf = (more: { readonly maxPids?: number }) =>
  containerOptions(config, { owner: 'o', initPath: '/i', ...more }, 0).HostConfig?.PidsLimit;

it('a container has the limit of processes of its node, and none without such a limit', () => {
  assert.equal(limitOf({ maxPids: 16_384 }), 16_384);
  assert.equal(limitOf({ maxPids: 0 }), undefined);
  assert.equal(limitOf({}), undefined);
});
