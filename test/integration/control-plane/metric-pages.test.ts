/**
 * The metrics pages of a control plane: Kubernetes' names for what has happened, access control, and
 * readability by Prometheus.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Deployment, deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import type { Client } from '../../../src/client/client.ts';
import type { ControlPlane } from '../../../src/control-plane/control-plane.ts';
import { admin } from '../../fixtures/api-server.ts';
import { createTestPlane } from '../../fixtures/control-plane.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { readAsPrometheus, unlessGo } from '../../fixtures/expfmt.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { nodeInfo } from '../controllers/cluster.ts';

const monitoring: UserInfo = { name: 'prometheus', groups: ['system:monitoring', 'system:authenticated'] };
const somebody: UserInfo = { name: 'somebody', groups: ['system:authenticated'] };

describe('pages of metrics', { skip: unlessGo }, () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  let plane: ControlPlane;
  let running: Promise<void>;
  let client: Client;

  const ask = async (path: string, user: UserInfo = admin, init: RequestInit = {}) => {
    const answering = plane.server.app.fetch(new Request(`http://localhost${path}`, init), { user });
    return clock.until(Promise.resolve(answering));
  };
  /** Returns the value of the series that has all these labels; undefined if there is none. */
  async function told(path: string, name: string, labels: Readonly<Record<string, string>> = {}) {
    const text = await (await ask(path)).text();
    const found = text.split('\n').filter((line) => {
      const [, series = '', given = ''] = /^([a-z_0-9]+)(\{.*\})? /.exec(line) ?? [];
      return (
        series === name && Object.entries(labels).every(([key, value]) => given.includes(`${key}="${value}"`))
      );
    });
    assert.ok(found.length <= 1, found.join('\n'));
    return found[0] === undefined ? undefined : Number(found[0].split(' ').at(-1));
  }

  before(async () => {
    plane = await createTestPlane(clock);
    running = plane.run(stop.signal);
    await clock.until(Promise.race([plane.ready, running]));
    client = plane.clientOf(admin);
    const nodes = client.resource(nodeResource);
    const node = await nodes.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: {} });
    const allocatable = { cpu: '4', memory: '8Gi', pods: '3' };
    const conditions = [{ type: 'Ready', status: 'True' as const }];
    await nodes.updateStatus({
      ...node,
      status: { allocatable, capacity: allocatable, conditions, nodeInfo },
    });
    await client.resource(deploymentResource).create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 5,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'app', image: 'app:1' }] },
        },
      },
    } as unknown as Draft<Deployment>);
    await eventually(clock, 'three are bound and two wait', async () => {
      const { items } = await client.resource(podResource).list({ namespace: 'default' });
      const said = items.filter(({ status }) => status?.conditions?.some(({ status }) => status === 'False'));
      return items.filter(({ spec }) => spec.nodeName).length === 3 && said.length === 2;
    });
    // Waits until all caches are up to date.
    await clock.advance(1000);
  });
  after(async () => {
    stop.abort();
    await clock.until(running);
  });

  const paths = ['/metrics', '/metrics/controllers', '/metrics/scheduler'] as const;
  for (const path of paths)
    it(`${path} is readable by Prometheus, and only by users with the right`, async () => {
      const page = await ask(path);
      assert.equal(page.status, 200);
      assert.match(page.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
      const read = readAsPrometheus(await page.text());
      assert.equal(read.kubernetes_build_info?.metrics, 1);
      assert.equal((await ask(path, monitoring)).status, 200);
      const refused = await ask(path, somebody);
      assert.equal(refused.status, 403);
      assert.doesNotMatch(await refused.text(), /kubernetes_build_info/);
      assert.equal((await ask(path, admin, { method: 'POST' })).status, 404);
    });

  it('contain each request with its result', async () => {
    const pods = { verb: 'LIST', resource: 'pods', scope: 'namespace', code: '200' };
    const before = (await told('/metrics', 'apiserver_request_total', pods)) ?? 0;
    await ask('/api/v1/namespaces/default/pods');
    await ask('/api/v1/namespaces/default/pods');
    assert.equal(await told('/metrics', 'apiserver_request_total', pods), before + 2);
    assert.equal(
      await told('/metrics', 'apiserver_request_duration_seconds_count', {
        verb: 'LIST',
        resource: 'pods',
        scope: 'namespace',
      }),
      before + 2,
    );
    await ask('/api/v1/namespaces/default/pods/nobody');
    await ask('/api/v1/namespaces/default/pods/nobody2');
    const missing = { verb: 'GET', resource: 'pods', scope: 'resource', code: '404' };
    assert.equal(await told('/metrics', 'apiserver_request_total', missing), 2);
    await ask('/api/v1/namespaces/default/configmaps', somebody);
    const forbidden = { verb: 'LIST', resource: 'configmaps', code: '403' };
    assert.equal(await told('/metrics', 'apiserver_request_total', forbidden), 1);
  });
  it('get no new series for unknown paths', async () => {
    const count = async () =>
      (await (await ask('/metrics')).text()).match(/^apiserver_request_total\{/gm)?.length;
    await ask('/api/v1/namespaces/default/nothings0');
    const before = await count();
    for (let i = 1; i < 30; i++) {
      await ask(`/api/v1/namespaces/default/nothings${i}`);
      await ask(`/apis/group${i}/v1/things`);
      await ask(`/api/v1/namespaces/default/pods/x/sub${i}`);
      await ask(`/nowhere${i}`);
    }
    assert.equal(await count(), before);
  });
  it('contain the requests to the store, and the number of objects', async () => {
    assert.equal(await told('/metrics', 'apiserver_storage_objects', { resource: 'pods' }), 5);
    assert.equal(
      await told('/metrics', 'apiserver_resource_objects', { group: 'apps', resource: 'replicasets' }),
      1,
    );
    assert.equal(await told('/metrics', 'etcd_requests_total', { operation: 'create', type: 'pods' }), 5);
    assert.equal(
      await told('/metrics', 'etcd_request_duration_seconds_count', { operation: 'create', type: 'pods' }),
      5,
    );
  });
  it("contain the work of the controllers' queues", async () => {
    const name = { name: 'deployment' };
    assert.ok(((await told('/metrics/controllers', 'workqueue_adds_total', name)) ?? 0) >= 1);
    assert.equal(await told('/metrics/controllers', 'workqueue_depth', name), 0);
    const adds = await told('/metrics/controllers', 'workqueue_work_duration_seconds_count', name);
    assert.ok((adds ?? 0) >= 1);
    const leads = { name: 'minik8s-controllers' };
    assert.equal(await told('/metrics/controllers', 'leader_election_master_status', leads), 1);
  });
  it('contain the scheduled and the pending pods, and their waiting times', async () => {
    const page = '/metrics/scheduler';
    assert.equal(await told(page, 'scheduler_schedule_attempts_total', { result: 'scheduled' }), 3);
    assert.ok(
      ((await told(page, 'scheduler_schedule_attempts_total', { result: 'unschedulable' })) ?? 0) >= 2,
    );
    assert.equal(await told(page, 'scheduler_pending_pods', { queue: 'unschedulable' }), 2);
    assert.equal(await told(page, 'scheduler_pending_pods', { queue: 'active' }), 0);
    assert.equal(await told(page, 'scheduler_pod_scheduling_attempts_count'), 3);
    assert.equal(
      await told(page, 'scheduler_pod_scheduling_sli_duration_seconds_count', { attempts: '1' }),
      3,
    );
  });
});
