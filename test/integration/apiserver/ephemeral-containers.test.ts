/** pods/NAME/ephemeralcontainers adds containers to an existing pod and changes nothing else. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const pods = '/api/v1/namespaces/default/pods';
const strategic = { headers: { 'content-type': 'application/strategic-merge-patch+json' } };
const look = { name: 'look', image: 'busybox:1' };

describe('ephemeral containers', () => {
  let server: TestServer;
  let count = 0;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  async function makePod(metadata: object = {}): Promise<string> {
    const name = `p${count++}`;
    const containers = [{ name: 'main', image: 'app:1' }];
    const made = await server.call('POST', pods, { metadata: { name, ...metadata }, spec: { containers } });
    assert.equal(made.status, 201, made.text);
    return name;
  }
  const add = (name: string, container: object, more: object = {}) =>
    server.call(
      'PATCH',
      `${pods}/${name}/ephemeralcontainers`,
      { ...more, spec: { ephemeralContainers: [container] } },
      strategic,
    );
  const read = async (name: string) => (await server.call('GET', `${pods}/${name}`)).json<Pod>();

  it('are added by a patch, with their defaults', async () => {
    const name = await makePod();
    const answer = await add(name, { ...look, targetContainerName: 'main' });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get('warning'), null);
    assert.deepEqual((await read(name)).spec.ephemeralContainers, [
      {
        ...look,
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
        targetContainerName: 'main',
      },
    ]);
    const seen = await server.call('GET', `${pods}/${name}/ephemeralcontainers`);
    assert.equal(seen.json<Pod>().spec.ephemeralContainers?.length, 1);
  });

  it('count as a generation of the pod when they are added, and only then', async () => {
    const name = await makePod();
    assert.equal((await read(name)).metadata.generation, 1);
    await add(name, look);
    assert.equal((await read(name)).metadata.generation, 2);
    await add(name, look);
    assert.equal((await read(name)).metadata.generation, 2);
  });

  it('are added by a complete pod, whose other changes are ignored', async () => {
    const name = await makePod();
    const pod = await read(name);
    pod.metadata.labels = { taken: 'no' };
    pod.spec.containers.forEach((container) => {
      container.image = 'other:1';
    });
    pod.spec.ephemeralContainers = [look as never];
    const answer = await server.call('PUT', `${pods}/${name}/ephemeralcontainers`, pod);
    assert.equal(answer.status, 200, answer.text);
    const { metadata, spec } = await read(name);
    assert.equal(metadata.labels, undefined);
    assert.deepEqual([spec.containers[0]?.image, spec.ephemeralContainers?.[0]?.name], ['app:1', 'look']);
    pod.metadata.resourceVersion = '1';
    assert.equal((await server.call('PUT', `${pods}/${name}/ephemeralcontainers`, pod)).status, 409);
  });

  it('are not changed by any other kind of write', async () => {
    const name = await makePod();
    await add(name, look);
    const changed = await add(name, { ...look, image: 'other:1' });
    assert.equal(changed.status, 422, changed.text);
    assert.match(
      changed.json<Status>().message ?? '',
      /existing ephemeral containers "look" may not be changed/,
    );
    const gone = { spec: { ephemeralContainers: null } };
    const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
    const removed = await server.call('PATCH', `${pods}/${name}/ephemeralcontainers`, gone, merge);
    assert.match(
      removed.json<Status>().message ?? '',
      /existing ephemeral containers "look" may not be removed/,
    );
    for (const body of [gone, { spec: { ephemeralContainers: [look, { ...look, name: 'more' }] } }]) {
      assert.equal((await server.call('PATCH', `${pods}/${name}`, body, merge)).status, 422);
    }
    const labels = { metadata: { labels: { a: 'b' } } };
    assert.equal((await server.call('PATCH', `${pods}/${name}`, labels, merge)).status, 200);
    assert.deepEqual(
      (await add(name, { ...look, name: 'more' })).json<Pod>().spec.ephemeralContainers?.length,
      2,
    );
  });

  it('are refused for a new pod, a template and a mirror pod', async () => {
    const spec = { containers: [{ name: 'main', image: 'app:1' }], ephemeralContainers: [look] };
    const pod = await server.call('POST', pods, { metadata: { name: 'new' }, spec });
    assert.equal(pod.status, 422);
    assert.match(pod.text, /spec.ephemeralContainers: Forbidden: cannot be set on create/);
    const template = await server.call('POST', '/api/v1/namespaces/default/podtemplates', {
      metadata: { name: 'new' },
      template: { metadata: { labels: { a: 'b' } }, spec },
    });
    assert.match(template.text, /ephemeral containers not allowed in pod template/);
    const name = await makePod({ annotations: { 'kubernetes.io/config.mirror': 'x' } });
    assert.match((await add(name, look)).text, /static pods do not support ephemeral containers/);
  });

  for (const [what, container, field, why] of [
    ['without a name', { image: 'a' }, 'name', 'Required value'],
    ['without an image', { name: 'a' }, 'image', 'Required value'],
    ['with the name of another container', { name: 'main', image: 'a' }, 'name', 'Duplicate value'],
    ['with an unknown target', { ...look, targetContainerName: 'no' }, 'targetContainerName', 'Not found'],
    ['of itself', { ...look, targetContainerName: 'look' }, 'targetContainerName', 'Not found'],
    ['with ports', { ...look, ports: [{ containerPort: 1 }] }, 'ports', 'cannot be set'],
    ['with resources', { ...look, resources: { limits: { cpu: '1' } } }, 'resources', 'cannot be set'],
    [
      'with a probe',
      { ...look, livenessProbe: { exec: { command: ['a'] } } },
      'livenessProbe',
      'cannot be set',
    ],
    [
      'with a hook',
      { ...look, lifecycle: { preStop: { exec: { command: ['a'] } } } },
      'lifecycle',
      'cannot be set',
    ],
    ['with a restart policy', { ...look, restartPolicy: 'Always' }, 'restartPolicy', 'cannot be set'],
  ] as const) {
    it(`are refused ${what}`, async () => {
      const answer = await add(await makePod(), container);
      assert.ok(answer.status === 422 || (what === 'without a name' && answer.status >= 400), answer.text);
      if (what === 'without a name') return;
      const { details } = answer.json<Status>();
      const cause = details?.causes?.find((one) => one.field === `spec.ephemeralContainers[0].${field}`);
      assert.match(cause?.message ?? '', new RegExp(why), answer.text);
    });
  }

  it('are refused with a mount of a subPath', async () => {
    const volumeMounts = [{ name: 'v', mountPath: '/v', subPath: 'a' }];
    const answer = await add(await makePod(), { ...look, volumeMounts });
    assert.match(
      answer.text,
      /volumeMounts\[0\]\.subPath: Forbidden: cannot be set for an Ephemeral Container/,
    );
  });

  it('are in discovery with the verbs get, update and patch', async () => {
    const { resources } = (await server.call('GET', '/api/v1')).json<{
      resources: { name: string; verbs: string[] }[];
    }>();
    const found = resources.find(({ name }) => name === 'pods/ephemeralcontainers');
    assert.deepEqual(found?.verbs, ['get', 'patch', 'update']);
  });
});
