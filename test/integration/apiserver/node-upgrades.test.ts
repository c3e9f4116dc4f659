/** Rights to order the upgrade of a node or a master, and to download the master's executable. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { executableDocument, upgradeAnnotation } from '../../../src/api/core/v1/node/upgrade.ts';
import { core, merge, type NodeWorld, startNodeWorld } from './node-world.ts';

let world: NodeWorld;
before(async () => {
  world = await startNodeWorld();
});
after(() => world.stop());

const order = JSON.stringify({ id: '1', version: '1.1.0', sha256: 'a'.repeat(64), timeoutSeconds: 60 });
const ordering = (text: string | null) => ({ metadata: { annotations: { [upgradeAnnotation]: text } } });
const rules = '/apis/rbac.authorization.k8s.io/v1';

/** Gives a user a role with these verbs, by default on nodes. */
async function giveVerbs(
  user: string,
  verbs: readonly string[],
  on: { readonly apiGroups: string[]; readonly resources: string[] } = {
    apiGroups: [''],
    resources: ['nodes'],
  },
): Promise<void> {
  await world.make(`${rules}/clusterroles`, {
    metadata: { name: user },
    rules: [{ ...on, verbs }],
  });
  await world.make(`${rules}/clusterrolebindings`, {
    metadata: { name: user },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  });
}

const patching = { 'content-type': merge };
const as = (name: string) => ({ user: { name, groups: [] }, headers: patching });

it('a node may start neither its own upgrade nor that of another node', async () => {
  for (const name of ['n1', 'n2']) {
    const { status, text } = await world.ask('PATCH', `${core}/nodes/${name}`, ordering(order));
    assert.equal(status, 403, text);
  }
  const { text } = await world.ask('PATCH', `${core}/nodes/n1/status`, ordering(order));
  assert.match(text, /needs the verb upgrade on the node/);
});

it('a user who may change nodes also needs the verb upgrade', async () => {
  const { server } = world;
  await giveVerbs('changer', ['get', 'patch']);
  await giveVerbs('upgrader', ['get', 'patch', 'upgrade']);
  const patch = (user: string, body: object) => server.call('PATCH', `${core}/nodes/n2`, body, as(user));
  assert.equal((await patch('changer', { metadata: { labels: { disk: 'ssd' } } })).status, 200);
  const refused = await patch('changer', ordering(order));
  assert.equal(refused.status, 403, refused.text);
  assert.match(refused.text, /needs the verb upgrade on the node, which cluster-admin has/);
  assert.equal((await patch('upgrader', ordering(order))).status, 200);
  assert.equal((await patch('changer', ordering(null))).status, 403, 'an order cannot be withdrawn either');
  assert.equal((await patch('upgrader', ordering('{"id":"2"}'))).status, 403, 'no order');
});

it('a user who may change the Leases of masters also needs the verb upgrade', async () => {
  const { server } = world;
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
  await world.make(leases, { metadata: { name: 'apiserver-a' }, spec: { holderIdentity: '10.0.0.1:6443' } });
  const rule = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
  await giveVerbs('lease-changer', ['get', 'patch'], rule);
  await giveVerbs('lease-upgrader', ['get', 'patch', 'upgrade'], rule);
  const patch = (user: string, body: object) => server.call('PATCH', `${leases}/apiserver-a`, body, as(user));
  assert.equal((await patch('lease-changer', { metadata: { labels: { a: 'b' } } })).status, 200);
  const refused = await patch('lease-changer', ordering(order));
  assert.equal(refused.status, 403, refused.text);
  assert.match(refused.text, /needs the verb upgrade on the lease, which cluster-admin has/);
  assert.equal((await patch('lease-upgrader', ordering(order))).status, 200);
  assert.equal(
    (await patch('lease-changer', ordering(null))).status,
    403,
    'an order cannot be withdrawn either',
  );
});

it('a node keeps writing its Node during an order, and cannot withdraw it', async () => {
  const { server, ask } = world;
  const given = await server.call('PATCH', `${core}/nodes/n1`, ordering(order), { headers: patching });
  assert.equal(given.status, 200, given.text);
  const own = { metadata: { annotations: { 'minik8s.io/upgrade-result': '{}' } } };
  assert.equal((await ask('PATCH', `${core}/nodes/n1`, own)).status, 200);
  assert.equal((await ask('PATCH', `${core}/nodes/n1`, ordering(null))).status, 403);
});

it('only nodes and administrators may download the executable', async () => {
  const { server, ask } = world;
  assert.equal((await ask('GET', executableDocument)).text, 'the executable');
  assert.equal((await server.call('GET', executableDocument)).status, 200);
  assert.equal((await server.call('GET', executableDocument, undefined, as('changer'))).status, 403);
  assert.equal((await ask('GET', `${executableDocument}/`)).status, 403);
});
