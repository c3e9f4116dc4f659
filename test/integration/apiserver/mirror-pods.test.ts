/** Mirror pods, the only pods that a node may create: they represent the static pods that the node runs. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

let server: TestServer;
let uid: string;
const user = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };
const pods = '/api/v1/namespaces/default/pods';
const mirror = 'kubernetes.io/config.mirror';

before(async () => {
  server = await startTestServer();
  for (const name of ['n1', 'n2']) {
    const made = await server.call('POST', '/api/v1/nodes', { metadata: { name } });
    if (name === 'n1') uid = made.json().metadata.uid;
  }
});
after(() => server.stop());

const owner = (more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Node',
  name: 'n1',
  uid,
  controller: true,
  ...more,
});
const create = (metadata: object = {}, spec: object = {}, as = user) =>
  server.call(
    'POST',
    pods,
    {
      metadata: { name: 'web-n1', annotations: { [mirror]: 'h' }, ownerReferences: [owner()], ...metadata },
      spec: { nodeName: 'n1', containers: [{ name: 'a', image: 'b' }], ...spec },
    },
    { user: as },
  );

it('a node may create a mirror pod of its own', async () => {
  const { status, text, json } = await create({ name: 'good-n1' });
  assert.equal(status, 201, text);
  assert.equal((json() as { spec: { serviceAccountName?: string } }).spec.serviceAccountName, undefined);
  const merge = { user, headers: { 'content-type': 'application/merge-patch+json' } };
  const told = await server.call('PATCH', `${pods}/good-n1/status`, { status: { phase: 'Running' } }, merge);
  assert.equal(told.status, 200, told.text);
  const options = { gracePeriodSeconds: 0 };
  assert.equal((await server.call('DELETE', `${pods}/good-n1`, options, { user })).status, 200);
});

const secret = { name: 'v', secret: { secretName: 's' } };
const cases: readonly [what: string, why: RegExp, () => [object?, object?]][] = [
  ['no mirror', /does not have "kubernetes.io\/config.mirror" annotation/, () => [{ annotations: {} }]],
  ['bound elsewhere', /spec.nodeName set to itself/, () => [{}, { nodeName: 'n2' }]],
  ['bound nowhere', /spec.nodeName set to itself/, () => [{}, { nodeName: '' }]],
  ['without an owner', /an owner reference set to itself/, () => [{ ownerReferences: [] }]],
  [
    'owned by two nodes',
    /single owner reference/,
    () => [{ ownerReferences: [owner(), owner({ uid: 'x', controller: false })] }],
  ],
  [
    'owned by another node',
    /an owner reference set to itself/,
    () => [{ ownerReferences: [owner({ name: 'n2' })] }],
  ],
  [
    'owned by another kind',
    /an owner reference set to itself/,
    () => [{ ownerReferences: [owner({ kind: 'Pod' })] }],
  ],
  [
    'not controlled',
    /controller owner reference/,
    () => [{ ownerReferences: [owner({ controller: false })] }],
  ],
  [
    'blocking',
    /must not set blockOwnerDeletion/,
    () => [{ ownerReferences: [owner({ blockOwnerDeletion: true })] }],
  ],
  ['owned by an earlier Node', /UID mismatch/, () => [{ ownerReferences: [owner({ uid: 'other' })] }]],
  [
    'with an account',
    /reference (a service account|service accounts)/,
    () => [{}, { serviceAccountName: 'default' }],
  ],
  ['with a Secret', /reference secrets/, () => [{}, { volumes: [secret] }]],
  [
    'with a ConfigMap',
    /reference configmaps/,
    () => [{}, { volumes: [{ name: 'v', configMap: { name: 'c' } }] }],
  ],
  [
    'with a claim',
    /reference persistentvolumeclaims/,
    () => [{}, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }],
  ],
  [
    'with an ephemeral volume, whose claim may be that of another pod',
    /reference persistentvolumeclaims/,
    () => [
      {},
      {
        volumes: [
          {
            name: 'v',
            ephemeral: {
              volumeClaimTemplate: {
                spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
              },
            },
          },
        ],
      },
    ],
  ],
  ['with finalizers', /finalizers/, () => [{ finalizers: ['a.b/c'] }]],
];
for (const [what, why, more] of cases) {
  it(`a mirror pod is rejected if it is ${what}`, async () => {
    const { status, json } = await create(...more());
    assert.equal(status, 403);
    assert.match(json<Status>().message ?? '', why);
  });
}

it('a node gains no reads by the claims of an earlier mirror pod, and none by removing the annotation', async () => {
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
  const claim = {
    metadata: { name: 'old-n1-db' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  assert.equal((await server.call('POST', claims, claim)).status, 201);
  const volumes = [{ name: 'db', ephemeral: { volumeClaimTemplate: { spec: claim.spec } } }];
  // A pod as it was stored before nodes were denied creating it.
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'old-n1',
      namespace: 'default',
      uid: 'old',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: { [mirror]: 'h' },
      ownerReferences: [owner()],
    },
    spec: { nodeName: 'n1', containers: [{ name: 'a', image: 'b' }], volumes },
  };
  await server.store.create('/registry/pods/default/old-n1', Buffer.from(JSON.stringify(pod)));
  const read = () => server.call('GET', `${claims}/old-n1-db`, undefined, { user });
  assert.equal((await read()).status, 403);
  const headers = { 'content-type': 'application/merge-patch+json' };
  const without = { metadata: { annotations: { [mirror]: null } }, status: { phase: 'Running' } };
  await server.call('PATCH', `${pods}/old-n1/status`, without, { user, headers });
  assert.equal((await read()).status, 403);
  const bound = { ...pod, metadata: { ...pod.metadata, name: 'run', uid: 'run', annotations: {} } };
  const needs = [{ name: 'db', persistentVolumeClaim: { claimName: 'old-n1-db' } }];
  await server.store.create(
    '/registry/pods/default/run',
    Buffer.from(JSON.stringify({ ...bound, spec: { ...bound.spec, volumes: needs } })),
  );
  assert.equal((await read()).status, 200, 'a pod that is bound to the node needs it');
});

it('a mirror pod is rejected from other users, and from a node without its Node', async () => {
  const other = { name: 'system:node:n2', groups: user.groups };
  assert.equal((await create({}, {}, other)).status, 403);
  const gone = { name: 'system:node:n3', groups: user.groups };
  assert.equal((await create({}, { nodeName: 'n3' }, gone)).status, 403);
});
