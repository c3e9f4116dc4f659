/** A write of `/status` changes only the status; other fields in the body are ignored. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { DaemonSet } from '../../../src/api/apps/v1/daemon-set.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

const sets = '/apis/apps/v1/namespaces/default/daemonsets';
const headers = { 'content-type': 'application/merge-patch+json' };

it('a whole object with an empty specification, as Go writes it, is a patch of the status', async () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } };
  const made = await server.call('POST', sets, {
    metadata: { name: 'a' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  });
  assert.equal(made.status, 201, made.text);
  const conditions = [{ type: 'Patched', status: 'True', lastTransitionTime: null }];
  const patch = {
    metadata: { creationTimestamp: null },
    spec: { selector: null, template: { metadata: { creationTimestamp: null }, spec: { containers: null } } },
    status: { currentNumberScheduled: 0, conditions },
  };
  const patched = await server.call('PATCH', `${sets}/a/status`, patch, { headers });
  assert.equal(patched.status, 200, patched.text);
  const { spec, status } = patched.json<Pick<DaemonSet, 'spec' | 'status'>>();
  assert.deepEqual(spec, made.json().spec);
  assert.equal(status?.conditions?.[0]?.type, 'Patched');
  const main = await server.call('PATCH', `${sets}/a`, patch, { headers });
  assert.equal(main.status, 422, main.text);
});

it('a patch that changes the kind is refused', async () => {
  const refused = await server.call('PATCH', `${sets}/a/status`, { kind: 'Deployment' }, { headers });
  assert.equal(refused.status, 400, refused.text);
});

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } };
const jobTemplate = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
const selector = { matchLabels: { a: 'b' } };
const kinds: readonly (readonly [path: string, spec: object])[] = [
  ['apis/apps/v1/namespaces/default/daemonsets', { selector, template }],
  ['apis/apps/v1/namespaces/default/deployments', { selector, template }],
  ['apis/apps/v1/namespaces/default/replicasets', { selector, template }],
  ['apis/apps/v1/namespaces/default/statefulsets', { selector, template }],
  ['api/v1/namespaces/default/replicationcontrollers', { selector: { a: 'b' }, template }],
  ['apis/batch/v1/namespaces/default/jobs', { template: jobTemplate }],
  [
    'apis/batch/v1/namespaces/default/cronjobs',
    { schedule: '@daily', jobTemplate: { spec: { template: jobTemplate } } },
  ],
  ['api/v1/namespaces/default/pods', template.spec],
  ['apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', hpaSpec()],
  ['apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers', hpaSpec()],
];

function hpaSpec() {
  return { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'x' } };
}

interface Stored {
  readonly metadata: object;
  readonly spec: object;
  readonly status: object;
}

for (const [path, given] of kinds)
  it(`a new object of ${path} has the status of the server, which has no field manager`, async () => {
    const sent = { metadata: { name: 'new' }, spec: given, status: { replicas: 7, numberReady: 7 } };
    const made = await server.call('POST', `/${path}?dryRun=All`, sent);
    assert.equal(made.status, 201, made.text);
    const { status, metadata } = made.json<Stored>();
    assert.equal(typeof status, 'object');
    assert.doesNotMatch(JSON.stringify(status), /7/);
    assert.doesNotMatch(JSON.stringify(metadata), /f:status/);
  });

for (const [path, given] of kinds)
  it(`a PUT of the status of ${path} keeps the stored specification`, async () => {
    const made = await server.call('POST', `/${path}`, { metadata: { name: 'put' }, spec: given });
    assert.equal(made.status, 201, made.text);
    const { spec } = made.json<Stored>();
    const conditions = [{ type: 'Put', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const none = /autoscaling.v1\b|cronjobs/.test(path);
    const status = { ...made.json<Stored>().status, ...(!none && { conditions }) };
    for (const wanted of [undefined, null, {}, { template: { spec: { containers: null } }, replicas: -1 }]) {
      const body = { metadata: { name: 'put', labels: { a: 'b' } }, spec: wanted, status };
      const put = await server.call('PUT', `/${path}/put/status`, body);
      assert.equal(put.status, 200, put.text);
      assert.deepEqual(put.json<Stored>().spec, spec);
      if (!none) assert.partialDeepStrictEqual(put.json<Stored>().status, { conditions });
    }
    const unread = { metadata: { name: 'put' }, spec: 7, status };
    assert.equal((await server.call('PUT', `/${path}/put/status`, unread)).status, 400);
    await server.call('DELETE', `/${path}/put`, { gracePeriodSeconds: 0 });
  });

it('an invalid status is rejected', async () => {
  await server.call('POST', sets, { metadata: { name: 'wrong' }, spec: { selector, template } });
  const status = {
    currentNumberScheduled: -1,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
  };
  const refused = await server.call('PUT', `${sets}/wrong/status`, { metadata: { name: 'wrong' }, status });
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /status.currentNumberScheduled: Invalid value: -1/);
  const absent = await server.call('PUT', `${sets}/nobody/status`, { metadata: { name: 'nobody' } });
  assert.equal(absent.status, 404, absent.text);
});
