/** Rights of users to load images, and of nodes to get their content. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { objectNameOf } from '../../../../../src/features/images/api/image-name.ts';
import { startTestServer, type TestServer } from '../../../../fixtures/api-server.ts';
import { layerWith, smallImage } from '../../../../fixtures/small-image.ts';

const images = '/apis/minik8s.io/v1/images';
const image = 'docker.io/library/app:1';
const name = objectNameOf(image);
const { content } = smallImage([layerWith('x')]);
const merge = { 'content-type': 'application/merge-patch+json' };
let server: TestServer;

const userOf = (of: string) => ({ name: of, groups: ['system:authenticated'] });
const node = (of: string) => ({
  name: `system:node:${of}`,
  groups: ['system:nodes', 'system:authenticated'],
});

before(async () => {
  server = await startTestServer();
  const made = async (path: string, body: object) => {
    const answer = await server.call('POST', path, body);
    assert.equal(answer.status, 201, answer.text);
  };
  await made(images, { metadata: { name }, spec: { image, ...content } });
  for (const one of ['n1', 'n2']) await made('/api/v1/nodes', { metadata: { name: one }, spec: {} });
  const containers = [{ name: 'c', image: 'app:1' }];
  await made('/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' },
    spec: { nodeName: 'n1', containers },
  });
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const bind = (role: string) => ({
    metadata: { name: role.replace(':', '-') },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: role }],
  });
  for (const role of ['view', 'edit', 'admin'])
    await made(`${rbac}/namespaces/default/rolebindings`, bind(role));
  await made(`${rbac}/clusterrolebindings`, {
    ...bind('edit'),
    metadata: { name: 'edit-everywhere' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'everywhere' }],
  });
  await made(`${rbac}/clusterrolebindings`, bind('minik8s:image-loader'));
});
after(() => server.stop());

for (const who of ['view', 'edit', 'admin', 'everywhere', 'nobody'])
  test(`${who} may neither load, list nor remove images`, async () => {
    const asked = [
      ['GET', images],
      ['POST', images],
      ['PATCH', `${images}/${name}`],
      ['PUT', `${images}/${name}/upload/${'0'.repeat(64)}`],
      ['POST', `${images}/${name}/upload`],
      ['GET', `${images}/${name}/archive`],
      ['DELETE', `${images}/${name}`],
    ] as const;
    for (const [method, path] of asked) {
      const body = method === 'GET' ? undefined : {};
      assert.equal(
        (await server.call(method, path, body, { user: userOf(who) })).status,
        403,
        `${method} ${path}`,
      );
    }
  });

test('a user with the role minik8s:image-loader may load, list and remove images', async () => {
  const user = userOf('minik8s:image-loader');
  const other = 'docker.io/library/other:1';
  const object = { metadata: { name: objectNameOf(other) }, spec: { image: other, ...content } };
  assert.equal((await server.call('GET', images, undefined, { user })).status, 200);
  assert.equal((await server.call('POST', images, object, { user })).status, 201);
  // This server keeps no blobs: the request was allowed.
  assert.equal((await server.call('POST', `${images}/${name}/upload`, undefined, { user })).status, 503);
  assert.equal(
    (await server.call('DELETE', `${images}/${objectNameOf(other)}`, undefined, { user })).status,
    200,
  );
});

test('a node gets the content of an image only for a pod that is bound to it, or if it is for all nodes', async () => {
  const archive = (of: string) =>
    server.call('GET', `${images}/${name}/archive`, undefined, { user: node(of) });
  assert.equal((await archive('n1')).status, 503);
  assert.equal((await archive('n2')).status, 403);
  await server.call('PATCH', `${images}/${name}`, { spec: { allNodes: true } }, { headers: merge });
  assert.equal((await archive('n2')).status, 503);
});

test('a node reports only itself in the status, with the digest of the image', async () => {
  const { config } = content;
  await server.call('PATCH', `${images}/${name}/status`, { status: { content } }, { headers: merge });
  const patch = (of: string, status: object) =>
    server.call('PATCH', `${images}/${name}/status`, { status }, { headers: merge, user: node(of) });
  assert.equal((await patch('n1', { nodes: { n1: config.digest } })).status, 200);
  assert.equal((await patch('n1', { nodes: { n2: config.digest } })).status, 403);
  assert.equal((await patch('n1', { nodes: { n1: 'sha256:other' } })).status, 403);
  assert.equal((await patch('n1', { masters: { x: config.digest } })).status, 403);
  assert.equal((await patch('n1', { content: { ...content, layers: [] } })).status, 403);
  assert.equal(
    (
      await server.call(
        'PATCH',
        `${images}/${name}`,
        { spec: { allNodes: false } },
        { headers: merge, user: node('n1') },
      )
    ).status,
    403,
  );
});
