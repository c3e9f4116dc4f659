/** The replica count of a workload, read and written as a Scale. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type Deployment, deploymentResource } from '../../../../src/api/apps/v1/deployment.ts';
import { storageKey } from '../../../../src/apimachinery/resource-definition.ts';
import type { Status } from '../../../../src/apimachinery/status-error.ts';
import { startTestServer, storedObject, type TestServer } from '../../../fixtures/api-server.ts';

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const scale = `${deployments}/web/scale`;
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

let server: TestServer;
let made: Deployment;
beforeEach(async () => {
  server = await startTestServer();
  const spec = {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    },
  };
  made = (await server.call('POST', deployments, { metadata: { name: 'web' }, spec })).json<Deployment>();
});
afterEach(() => server.stop());

const stored = async () =>
  (await storedObject(server, storageKey(deploymentResource, 'default', 'web'))) as unknown as Deployment;

/** Fields that all answers have in common. */
const scaleOf = ({ metadata }: Deployment, replicas: number, running: number) => {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas },
    status: { replicas: running, selector: 'app=web' },
  };
};

test('a GET returns the wanted replicas, the current replicas and the selector', async () => {
  const answer = await server.call('GET', scale);
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json(), scaleOf(made, 2, 0));
  const status = { status: { replicas: 1, observedGeneration: 1 } };
  const now = (await server.call('PATCH', `${deployments}/web/status`, status, merge)).json<Deployment>();
  assert.deepEqual((await server.call('GET', scale)).json(), scaleOf(now, 2, 1));
});

describe('a Scale is written', () => {
  const { uid, resourceVersion } = { uid: 'UID', resourceVersion: 'VERSION' };
  for (const [title, method, body, replicas] of [
    ['by itself', 'PUT', { spec: { replicas: 5 } }, 5],
    ['with its kind', 'PUT', { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 0 } }, 0],
    [
      'with the uid and the resourceVersion of the object',
      'PUT',
      { metadata: { uid, resourceVersion }, spec: { replicas: 3 } },
      3,
    ],
    ['to 0 replicas by an empty spec', 'PUT', { spec: {} }, 0],
    ['to 0 replicas by an empty body', 'PUT', {}, 0],
    ['by a patch', 'PATCH', { spec: { replicas: 4 } }, 4],
    ['by a patch with the uid of the object', 'PATCH', { metadata: { uid }, spec: { replicas: 4 } }, 4],
    ['by a patch that changes nothing', 'PATCH', {}, 2],
    ['to 0 replicas by a patch with null', 'PATCH', { spec: { replicas: null } }, 0],
  ] as const)
    test(title, async () => {
      const text = JSON.stringify(body)
        .replace(uid, made.metadata.uid ?? '')
        .replace(resourceVersion, made.metadata.resourceVersion ?? '');
      const answer = await server.call(method, scale, text, method === 'PATCH' ? merge : {});
      assert.equal(answer.status, 200, answer.text);
      const now = await stored();
      assert.equal(now.spec.replicas, replicas);
      assert.deepEqual(answer.json(), scaleOf(now, replicas, 0));
      const { replicas: _, ...rest } = now.spec;
      const { replicas: before, ...restBefore } = made.spec;
      assert.deepEqual([before, rest], [2, restBefore]);
    });

  test('without a new resourceVersion if replicas does not change', async () => {
    for (const [method, body, options] of [
      ['PUT', { spec: { replicas: 2 } }],
      ['PATCH', { spec: { replicas: 2 } }, merge],
    ] as const) {
      assert.equal((await server.call(method, scale, body, options)).status, 200);
      assert.equal((await stored()).metadata.resourceVersion, made.metadata.resourceVersion);
    }
  });

  test('by each type of patch that a Scale has', async () => {
    const type = (name: string) => ({ headers: { 'content-type': `application/${name}-patch+json` } });
    const operations = [{ op: 'replace', path: '/spec/replicas', value: 7 }];
    assert.equal((await server.call('PATCH', scale, operations, type('json'))).status, 200);
    assert.equal((await stored()).spec.replicas, 7);
    const strategic = await server.call('PATCH', scale, { spec: { replicas: 8 } }, type('strategic-merge'));
    assert.equal(strategic.status, 200, strategic.text);
    assert.equal((await stored()).spec.replicas, 8);
  });
});

describe('a Scale is not written', () => {
  for (const [title, method, body, code, message] of [
    ['by a dry run', 'PUT?dryRun=All', { spec: { replicas: 5 } }, 200, undefined],
    ['by a dry run of a patch', 'PATCH?dryRun=All', { spec: { replicas: 5 } }, 200, undefined],
    ['with negative replicas', 'PUT', { spec: { replicas: -1 } }, 422, /must be greater than or equal to 0/],
    [
      'with negative replicas by a patch',
      'PATCH',
      { spec: { replicas: -1 } },
      422,
      /Scale.* "web" is invalid/,
    ],
    [
      'with a fraction of a replica',
      'PUT',
      { spec: { replicas: 1.5 } },
      400,
      /replicas must be an integer of 32 bits, not 1\.5$/,
    ],
    [
      'to a text',
      'PUT',
      { spec: { replicas: '1' } },
      400,
      /replicas must be an integer of 32 bits, not "1"$/,
    ],
    [
      'with replicas beyond 32 bits',
      'PUT',
      { spec: { replicas: 2 ** 31 } },
      400,
      /of 32 bits, not 2147483648$/,
    ],
    [
      'with replicas beyond 32 bits by a patch',
      'PATCH',
      { spec: { replicas: 1e10 } },
      400,
      /of 32 bits, not 10000000000$/,
    ],
    ['to a list', 'PUT', { spec: [] }, 400, /^spec must be an object$/],
    [
      'to a Scale of another version',
      'PUT',
      { kind: 'Scale', apiVersion: 'apps/v1', spec: { replicas: 5 } },
      400,
      /^the body must be a Scale of autoscaling\/v1, not of "apps\/v1"$/,
    ],
    ['to another kind', 'PUT', { kind: 'Deployment' }, 400, /^the body must be a Scale, not "Deployment"$/],
    ['to another kind by a patch', 'PATCH', { kind: 'Pod' }, 400, /^the body must be a Scale, not "Pod"$/],
    ['of another uid', 'PUT', { metadata: { uid: 'x' }, spec: { replicas: 5 } }, 409, /UID/],
    [
      'of another name',
      'PUT',
      { metadata: { name: 'b' }, spec: { replicas: 5 } },
      400,
      /does not match the name/,
    ],
    ['of another name by a patch', 'PATCH', { metadata: { name: 'b' } }, 400, /does not match the name/],
    ['of another namespace', 'PUT', { metadata: { namespace: 'b' } }, 400, /does not match the namespace/],
    [
      'of another version',
      'PUT',
      { metadata: { resourceVersion: '1' }, spec: { replicas: 5 } },
      409,
      /has been modified/,
    ],
  ] as const)
    test(title, async () => {
      const [verb = '', query = ''] = method.split('?');
      const answer = await server.call(verb, `${scale}?${query}`, body, verb === 'PATCH' ? merge : {});
      assert.equal(answer.status, code, answer.text);
      if (message) assert.match(answer.json<Status>().message ?? '', message);
      else assert.equal(answer.json<Deployment>().spec.replicas, 5);
      assert.equal((await stored()).spec.replicas, 2);
    });

  test('for a missing object', async () => {
    const missing = scale.replace('web', 'none');
    for (const [method, body] of [['GET'], ['PUT', {}], ['PATCH', {}]] as const)
      assert.equal((await server.call(method, missing, body, merge)).status, method === 'PUT' ? 415 : 404);
    assert.equal((await server.call('PUT', missing, {})).status, 404);
  });

  test('with negative replicas, and details.causes names spec.replicas', async () => {
    const { details } = (await server.call('PUT', scale, { spec: { replicas: -1 } })).json<Status>();
    assert.deepEqual(
      [details?.group, details?.kind, details?.name, details?.causes?.[0]?.field],
      ['autoscaling', 'Scale', 'web', 'spec.replicas'],
    );
  });
});
