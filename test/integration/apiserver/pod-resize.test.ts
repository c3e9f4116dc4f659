/** pods/NAME/resize changes the CPU and memory of containers, and nothing else. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { ResourceQuota } from '../../../src/api/core/v1/resource-quota.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const strategic = { headers: { 'content-type': 'application/strategic-merge-patch+json' } };
const amounts = (cpu: string, memory: string, limit: string) => ({
  requests: { cpu, memory },
  limits: { cpu: limit, memory },
});

describe('a resize', () => {
  let server: TestServer;
  let count = 0;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const at = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;

  async function makePod(resources: object, more: object = {}, namespace = 'default'): Promise<string> {
    const name = `p${count++}`;
    const containers = [{ name: 'main', image: 'app:1', resources }];
    const body = { metadata: { name }, spec: { containers, ...more } };
    const made = await server.call('POST', at(namespace), body);
    assert.equal(made.status, 201, made.text);
    return name;
  }
  const resize = (name: string, resources: object, more: object = {}, namespace = 'default') =>
    server.call(
      'PATCH',
      `${at(namespace)}/${name}/resize`,
      { spec: { containers: [{ name: 'main', resources, ...more }] } },
      strategic,
    );
  const read = async (name: string, namespace = 'default') =>
    (await server.call('GET', `${at(namespace)}/${name}`)).json<Pod>();
  async function refused(name: string, resources: object, why: RegExp): Promise<void> {
    const answer = await resize(name, resources);
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.json<Status>().message ?? '', why);
  }

  it('changes requests and limits of a container, and increments the generation of the pod', async () => {
    const name = await makePod(amounts('100m', '64Mi', '200m'));
    const before = await read(name);
    const answer = await resize(name, amounts('150m', '96Mi', '300m'));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get('warning'), null);
    const { spec, metadata } = await read(name);
    assert.deepEqual(spec.containers[0]?.resources, amounts('150m', '96Mi', '300m'));
    assert.equal(metadata.generation, (before.metadata.generation ?? 0) + 1);
    const seen = await server.call('GET', `${at('default')}/${name}/resize`);
    assert.deepEqual(seen.json<Pod>().spec, spec);
  });

  it('ignores all other changes of a complete pod', async () => {
    const name = await makePod(amounts('100m', '64Mi', '200m'));
    const pod = await read(name);
    pod.metadata.labels = { taken: 'no' };
    pod.status = { phase: 'Failed' };
    pod.spec.nodeName = 'elsewhere';
    pod.spec.containers = [
      {
        ...(pod.spec.containers[0] as object),
        image: 'other:1',
        resources: amounts('1', '64Mi', '1'),
      } as never,
      { name: 'more', image: 'other:1', resources: {} } as never,
    ];
    pod.spec.containers[0] = {
      ...(pod.spec.containers[0] as never as object),
      resources: amounts('100m', '32Mi', '300m'),
      resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }],
    } as never;
    const answer = await server.call('PUT', `${at('default')}/${name}/resize`, pod);
    assert.equal(answer.status, 200, answer.text);
    const { metadata, spec, status } = await read(name);
    assert.equal(metadata.labels, undefined);
    assert.equal(status?.phase, 'Pending');
    assert.equal(spec.nodeName, undefined);
    assert.equal(spec.containers.length, 1);
    assert.equal(spec.containers[0]?.image, 'app:1');
    assert.deepEqual(spec.containers[0]?.resources, amounts('100m', '32Mi', '300m'));
    assert.equal(spec.containers[0]?.resizePolicy?.[0]?.restartPolicy, 'RestartContainer');
  });

  it('changes sidecars, and not init containers that run to completion', async () => {
    const resources = amounts('100m', '64Mi', '200m');
    const list = [
      { name: 'step', image: 'app:1', resources },
      { name: 'side', image: 'app:1', restartPolicy: 'Always', resources },
    ];
    const name = await makePod(resources, { initContainers: list });
    const ask = (one: object) =>
      server.call('PATCH', `${at('default')}/${name}/resize`, { spec: { initContainers: [one] } }, strategic);
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    const more = amounts('150m', '64Mi', '300m');
    const answer = await ask({ name: 'side', resources: more, resizePolicy });
    assert.equal(answer.status, 200, answer.text);
    const [step, side] = (await read(name)).spec.initContainers ?? [];
    assert.deepEqual([side?.resources, side?.resizePolicy, side?.image], [more, resizePolicy, 'app:1']);
    assert.deepEqual(step?.resources, resources);
    const refusal = await ask({ name: 'step', resources: more });
    assert.equal(refusal.status, 422, refusal.text);
    assert.match(refusal.text, /resources for non-sidecar init containers are immutable/);
    const removed = await ask({ name: 'side', resources: { limits: { memory: null } } });
    assert.match(
      removed.text,
      /spec\.initContainers\[1\]\.resources\.limits: Forbidden: resource limits cannot be removed/,
    );
  });

  it('is the only way to change resources', async () => {
    const name = await makePod(amounts('100m', '64Mi', '200m'));
    const containers = [{ name: 'main', resources: amounts('150m', '64Mi', '200m') }];
    const answer = await server.call(
      'PATCH',
      `${at('default')}/${name}`,
      { spec: { containers } },
      strategic,
    );
    assert.equal(answer.status, 422);
  });

  it('is refused if it would replace the pod', async () => {
    const name = await makePod(amounts('100m', '64Mi', '200m'));
    await refused(name, { requests: { cpu: '200m', memory: '64Mi' } }, /Pod QOS Class may not change/);
    await refused(name, { requests: { cpu: null } }, /resource requests cannot be removed|QOS/);
    await refused(name, { limits: { memory: null } }, /resource limits cannot be removed/);
    await refused(
      name,
      { requests: { 'ephemeral-storage': '1Gi' } },
      /only cpu and memory resources are mutable/,
    );
    await refused(name, { requests: { cpu: '300m' } }, /must be less than or equal to cpu limit of 200m/);
    await refused(name, { requests: { cpu: '-1' } }, /must be greater than or equal to 0/);
    assert.deepEqual((await read(name)).spec.containers[0]?.resources, amounts('100m', '64Mi', '200m'));
  });

  it('is refused for a static pod, and on a node that does not support it', async () => {
    const name = await makePod(amounts('100m', '64Mi', '200m'));
    const status = `${at('default')}/${name}/status`;
    const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
    const running = { name: 'main', state, ready: true, restartCount: 0, image: 'app:1', imageID: 'x' };
    const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
    await server.call('PATCH', status, { status: { containerStatuses: [running] } }, merge);
    await refused(name, amounts('150m', '64Mi', '200m'), /node without support for resize/);
    await server.call(
      'PATCH',
      status,
      { status: { containerStatuses: [{ ...running, resources: {} }] } },
      merge,
    );
    assert.equal((await resize(name, amounts('150m', '64Mi', '200m'))).status, 200);
  });

  it('is rejected if its changes of a container are invalid', async () => {
    const policy = (resourceName: string, restartPolicy: string) => ({ resourceName, restartPolicy });
    const cases: readonly [object[], object, RegExp][] = [
      [[policy('disk', 'NotRequired')], {}, /Unsupported value: "disk": supported values: "cpu", "memory"/],
      [[policy('cpu', 'Maybe')], {}, /Unsupported value: "Maybe"/],
      [[policy('cpu', 'NotRequired'), policy('cpu', 'NotRequired')], {}, /Duplicate value: "cpu"/],
      [[policy('cpu', 'RestartContainer')], { restartPolicy: 'Never' }, /must be 'NotRequired' when/],
    ];
    for (const [resizePolicy, spec, why] of cases) {
      const containers = [{ name: 'main', image: 'app:1', resizePolicy }];
      const body = { metadata: { name: 'refused' }, spec: { containers, ...spec } };
      const answer = await server.call('POST', at('default'), body);
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.json<Status>().message ?? '', why);
    }
  });

  it('is subject to the LimitRanges and quotas of its namespace', async () => {
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'held' } });
    await server.call('POST', '/api/v1/namespaces/held/limitranges', {
      metadata: { name: 'most' },
      spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] },
    });
    await server.call('POST', '/api/v1/namespaces/held/resourcequotas', {
      metadata: { name: 'all' },
      spec: { hard: { 'requests.memory': '128Mi' } },
    });
    const hard = { 'requests.memory': '128Mi' };
    const status = { hard, used: { 'requests.memory': '0' } };
    const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
    await server.call('PATCH', '/api/v1/namespaces/held/resourcequotas/all/status', { status }, merge);
    await server.clock.settle();
    const name = await makePod(amounts('100m', '64Mi', '200m'), {}, 'held');
    const tooMuchCpu = await resize(name, amounts('100m', '64Mi', '1500m'), {}, 'held');
    assert.equal(tooMuchCpu.status, 403, tooMuchCpu.text);
    assert.match(tooMuchCpu.text, /maximum cpu usage per Container is 1, but limit is 1500m/);
    const tooMuchMemory = await resize(name, amounts('100m', '192Mi', '200m'), {}, 'held');
    assert.equal(tooMuchMemory.status, 403, tooMuchMemory.text);
    assert.match(tooMuchMemory.text, /exceeded quota: all, requested: requests.memory=128Mi/);
    assert.equal((await resize(name, amounts('100m', '96Mi', '200m'), {}, 'held')).status, 200);
    const used = async () =>
      (await server.call('GET', '/api/v1/namespaces/held/resourcequotas/all')).json<ResourceQuota>().status
        ?.used;
    assert.equal((await used())?.['requests.memory'], '96Mi');
  });
});
