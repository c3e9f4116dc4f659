/** Notes of ctl about an object that exists in another namespace than the one that was searched. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

let server: HttpsTestServer;
let ctl: Ctl;
before(async () => {
  server = await startHttpsTestServer();
  ctl = ctlFor(await server.kubeconfigFor('admin', ['system:masters']));
  const configMaps = { web: ['shop'], log: ['shop', 'a', 'b', 'c', 'd'] };
  for (const namespace of ['shop', 'a', 'b', 'c', 'd'])
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  for (const [name, namespaces] of Object.entries(configMaps))
    for (const namespace of namespaces) {
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      assert.equal((await server.call('POST', path, { metadata: { name } })).status, 201);
    }
});
after(() => server.stop());

const missing = (name: string) => `Error from server (NotFound): configmaps "${name}" not found\n`;

for (const args of [
  ['get', 'configmap', 'web'],
  ['describe', 'configmap', 'web'],
  ['delete', 'configmap', 'web'],
  ['label', 'configmap', 'web', 'a=b'],
  ['get', 'configmap', 'web', '-n', 'a'],
])
  it(`ctl ${args.join(' ')} names the namespace in which the object exists`, async () => {
    const { status, err } = await ctl(args);
    assert.equal(status, 1);
    assert.equal(err, `${missing('web')}Note: configmaps "web" exists in namespace shop; use -n shop\n`);
  });

it('an object of several namespaces is listed with up to three of them', async () => {
  const { err } = await ctl(['get', 'configmap', 'log']);
  const note = 'Note: configmaps "log" exists in namespaces a, b, c and others; choose one with -n\n';
  assert.equal(err, missing('log') + note);
});

it('each object has a note of its own, and an object that does not exist has none', async () => {
  const { err } = await ctl(['get', 'configmap', 'web', 'nowhere', 'log']);
  assert.deepEqual(
    err.split('\n').map((line) => /^Note: configmaps "(\w+)"|NotFound/.exec(line)?.[1] ?? line.slice(0, 5)),
    ['Error', 'Error', 'Error', 'web', 'log', ''],
  );
});

it('a cluster-scoped object, and a command that finds its object, have no note', async () => {
  assert.doesNotMatch((await ctl(['get', 'namespace', 'nowhere'])).err, /Note/);
  assert.equal((await ctl(['get', 'configmap', 'web', '-n', 'shop'])).err, '');
  assert.equal((await ctl(['get', 'configmap', 'web', '--ignore-not-found'])).err, '');
});

it('a user who may not list the kind in all namespaces is shown nothing of other namespaces', async () => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  const role = {
    metadata: { name: 'r' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }],
  };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }];
  assert.equal((await server.call('POST', `${rbac}/roles`, role)).status, 201);
  const binding = { metadata: { name: 'b' }, roleRef, subjects };
  assert.equal((await server.call('POST', `${rbac}/rolebindings`, binding)).status, 201);
  const own = ctlFor(await server.kubeconfigFor('eve', []));
  const { err } = await own(['get', 'configmap', 'web']);
  assert.equal(err, missing('web'));
});
