/** Labels of an image, which Docker copies to each of its containers, are not the agent's own labels. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Docker } from '../../../../src/docker/client.ts';
import type { ContainerConfig } from '../../../../src/kubelet/runtime/container-config.ts';
import { containerOptions } from '../../../../src/kubelet/runtime/docker-config.ts';
import { labels } from '../../../../src/kubelet/runtime/docker-labels.ts';
import { fromInspect } from '../../../../src/kubelet/runtime/docker-state.ts';

const config = {
  ...{
    pod: { name: 'p', namespace: 'n', uid: 'u' },
    name: 'c',
    sandboxId: 's',
    argv: ['a'],
    env: [],
    mounts: [],
  },
  ...{
    image: 'i',
    specHash: 'h',
    attempt: 0,
    crashes: 0,
    gracePeriodSeconds: 30,
    terminationMessageFile: '/m',
  },
  ...{ addCapabilities: [], dropCapabilities: [], processes: 'own', seLinux: {}, sysctls: {}, groups: [] },
  resources: {},
} as unknown as ContainerConfig;

function inspected(of: Readonly<Record<string, string>>) {
  const info = {
    ...{ Id: '1', Created: '2026-01-01T00:00:00Z', Image: 'i', HostConfig: {}, Config: { Labels: of } },
    State: { Status: 'running', Running: true, StartedAt: '2026-01-01T00:00:00Z', FinishedAt: '' },
  };
  return fromInspect(info as unknown as Docker.ContainerInspectInfo, 'o');
}

it('labels of an image do not change the state that is read from a container', () => {
  const own = containerOptions(config, { owner: 'o', initPath: '/i' }, 0).Labels ?? {};
  const ofImage = Object.fromEntries(Object.values(labels).map((name) => [name, '7']));
  assert.deepEqual(inspected({ ...ofImage, ...own }), inspected(own));
  const found = inspected({ ...ofImage, ...own });
  assert.ok(found?.kind === 'container');
  assert.deepEqual([found.stopTurn, found.preStop, found.allocation], [undefined, undefined, undefined]);
});

it('an unreadable hook is ignored: the container can be stopped, and the other containers inspected', () => {
  const own = containerOptions(config, { owner: 'o', initPath: '/i' }, 0).Labels ?? {};
  const found = inspected({ ...own, [labels.preStop]: '{' });
  assert.ok(found?.kind === 'container');
  assert.equal(found.preStop, undefined);
});

it('labels of a container name its devices, and invalid labels yield none', () => {
  const deviceIds = { 'example.com/gpu': ['a', 'b'] };
  const own = containerOptions({ ...config, deviceIds }, { owner: 'o', initPath: '/i' }, 0).Labels ?? {};
  const devicesOf = (text: string | undefined) => {
    const found = inspected({ ...own, ...(text !== undefined && { [labels.devices]: text }) });
    assert.ok(found?.kind === 'container');
    return found.devices;
  };
  assert.deepEqual(devicesOf(undefined), deviceIds);
  assert.deepEqual([devicesOf(''), devicesOf('{')], [undefined, undefined]);
});
