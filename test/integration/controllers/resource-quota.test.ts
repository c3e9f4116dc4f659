/**
 * The status of a quota follows creations, deletions and endings of objects, and reservations that were never
 * stored.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { type ResourceQuota, resourceQuotaResource } from '../../../src/api/core/v1/resource-quota.ts';
import { secretResource } from '../../../src/api/core/v1/secret.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { deepEqual } from '../../../src/apimachinery/equality.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import type { Draft, KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { isForbidden } from '../../../src/apimachinery/status-error.ts';
import { resyncMs } from '../../../src/controllers/quotas/resource-quota.ts';
import { settleMs } from '../../../src/controllers/quotas/resource-quota-plan.ts';
import { registry } from '../../../src/features/kinds.ts';
import { customKind } from '../../../src/kube-apiserver/custom-resources/custom-kind.ts';
import { startTestServer } from '../../fixtures/api-server.ts';
import { type Cluster, startCluster } from './cluster.ts';

const kinds = new KindSet(registry);
let cluster: Cluster;

before(async () => {
  cluster = await startCluster({ server: await startTestServer({ kinds }) });
});
after(() => cluster.stop());

type Amounts = Readonly<Record<string, string>>;

const create = <T extends KubeObject>(kind: ResourceRef<T>, name: string, fields: object = {}) =>
  cluster.until(
    cluster.client.resource(kind).create({
      apiVersion: kind.group ? `${kind.group}/${kind.version}` : kind.version,
      kind: kind.kind,
      metadata: { name, namespace: 'default' },
      ...fields,
    } as unknown as Draft<T>),
  );
const remove = (kind: ResourceRef, name: string) =>
  cluster.until(cluster.client.resource(kind).delete(name, 'default', { gracePeriodSeconds: 0 }));
const quota = (name: string, hard: Amounts, spec: object = {}) =>
  create(resourceQuotaResource, name, { spec: { hard, ...spec } });
const pod = (name: string, cpu = '100m', spec: object = {}) =>
  create(podResource, name, {
    spec: { containers: [{ name: 'a', image: 'b', resources: { requests: { cpu } } }], ...spec },
  });

const usedOf = async (name: string) => (await cluster.get(resourceQuotaResource, name))?.status?.used;

/** Waits until the quota shows `used`, at most `within` milliseconds. */
const shows = (name: string, used: Amounts, within = settleMs + 1_000) =>
  cluster.eventually(
    `${name} shows ${JSON.stringify(used)}`,
    async () => deepEqual(await usedOf(name), used),
    within,
  );

async function editStatus(name: string, change: (pod: Pod) => void): Promise<void> {
  const found = (await cluster.get(podResource, name)) as Pod;
  change(found);
  await cluster.until(cluster.client.resource(podResource).updateStatus(found));
}

describe('the status of a quota', () => {
  it('is computed at once, and again when the limits change', async () => {
    await pod('before', '300m');
    await quota('life', { pods: '3', 'requests.cpu': '1' });
    await shows('life', { pods: '1', 'requests.cpu': '300m' }, 1_000);
    const { status } = (await cluster.get(resourceQuotaResource, 'life')) as ResourceQuota;
    assert.deepEqual(status?.hard, { pods: '3', 'requests.cpu': '1' });
    await cluster.edit(resourceQuotaResource, 'life', (object) => {
      object.spec = { hard: { pods: '4', 'limits.ephemeral-storage': '2' } };
    });
    await shows('life', { pods: '1', 'limits.ephemeral-storage': '0' }, 1_000);
  });

  it('shows deletions within a second, while other clients keep creating', async () => {
    await pod('one');
    await shows('life', { pods: '2', 'limits.ephemeral-storage': '0' }, 1_000);
    await remove(podResource, 'before');
    await pod('two');
    await shows('life', { pods: '2', 'limits.ephemeral-storage': '0' }, 1_000);
  });

  it('does not count the resources of an ended pod, but counts it as an object', async () => {
    await quota('objects', { 'count/pods': '9' });
    await shows('objects', { 'count/pods': '2' });
    await editStatus('one', (found) => {
      found.status = { ...found.status, phase: 'Succeeded' };
    });
    await shows('life', { pods: '1', 'limits.ephemeral-storage': '0' });
    assert.deepEqual(await usedOf('objects'), { 'count/pods': '2' });
  });

  it('releases at once the usage of objects that were created and deleted between two counts', async () => {
    await quota('short', { 'count/secrets': '9' });
    await shows('short', { 'count/secrets': '0' }, 1_000);
    for (let time = 0; time < 3; time++) {
      await create(secretResource, 'brief');
      await remove(secretResource, 'brief');
    }
    await shows('short', { 'count/secrets': '0' }, 1_000);
  });

  it('does not count a pod after its deadline, although no agent ends it', async () => {
    cluster.agent.mayEnd = () => false;
    await create(podResource, 'stuck', {
      metadata: { name: 'stuck', namespace: 'default', finalizers: ['example.com/held'] },
      spec: { containers: [{ name: 'a', image: 'b' }] },
    });
    await shows('life', { pods: '2', 'limits.ephemeral-storage': '0' });
    const options = { gracePeriodSeconds: 10 };
    await cluster.until(cluster.client.resource(podResource).delete('stuck', 'default', options));
    await shows('life', { pods: '2', 'limits.ephemeral-storage': '0' });
    await shows('life', { pods: '1', 'limits.ephemeral-storage': '0' }, 25_000);
    assert.ok(await cluster.get(podResource, 'stuck'));
  });

  it('counts a Service by its type', async () => {
    await quota('services', { services: '9', 'services.nodeports': '9', 'services.loadbalancers': '9' });
    await shows('services', { services: '1', 'services.nodeports': '0', 'services.loadbalancers': '0' });
    await create(serviceResource, 'web', { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
    await shows('services', { services: '2', 'services.nodeports': '1', 'services.loadbalancers': '1' });
    await cluster.edit(serviceResource, 'web', ({ spec }) => {
      spec.type = 'ClusterIP';
      delete spec.allocateLoadBalancerNodePorts;
      for (const port of spec.ports ?? []) delete port.nodePort;
    });
    await shows('services', { services: '2', 'services.nodeports': '0', 'services.loadbalancers': '0' });
  });

  it('releases the usage charged for an object that was never stored', async () => {
    await quota('lost', { configmaps: '5' });
    const there = String((await cluster.list(configMapResource, 'default')).length);
    await shows('lost', { configmaps: there });
    const found = (await cluster.get(resourceQuotaResource, 'lost')) as ResourceQuota;
    const status = { ...found.status, used: { configmaps: '4' } };
    await cluster.until(cluster.client.resource(resourceQuotaResource).updateStatus({ ...found, status }));
    // A write that has reserved is retried this long while etcd is away, and it may have to wait for its
    // turn.
    await cluster.pass(20_000);
    assert.deepEqual(await usedOf('lost'), { configmaps: '4' });
    await cluster.pass(settleMs - 20_100);
    assert.deepEqual(await usedOf('lost'), { configmaps: '4' });
    await shows('lost', { configmaps: there }, 1_000);
  });

  it('is computed again periodically', async () => {
    const found = (await cluster.get(resourceQuotaResource, 'lost')) as ResourceQuota;
    await cluster.pass(resyncMs + 1_000);
    assert.deepEqual((await cluster.get(resourceQuotaResource, 'lost'))?.metadata, found.metadata);
  });
});

describe('a kind that is added while the controllers run', () => {
  it('is counted when it is created', async () => {
    const hard = { 'count/widgets.example.com': '1' };
    await quota('widgets', hard);
    await cluster.eventually('the limits are told', async () =>
      deepEqual((await cluster.get(resourceQuotaResource, 'widgets'))?.status, { hard, used: {} }),
    );
    const widget = customKind(
      {
        ...{ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true },
        schema: { type: 'object' },
      },
      kubernetesFields,
    );
    kinds.add(widget);
    await shows('widgets', { 'count/widgets.example.com': '0' });
    await create(widget, 'a');
    await shows('widgets', { 'count/widgets.example.com': '1' });
    await assert.rejects(create(widget, 'b'), (error: unknown) => {
      assert.ok(isForbidden(error), String(error));
      assert.match(
        String(error),
        /exceeded quota: widgets, requested: count\/widgets.example.com=1, used: count\/widgets.example.com=1, limited: count\/widgets.example.com=1/,
      );
      return true;
    });
    await remove(widget, 'a');
    await shows('widgets', { 'count/widgets.example.com': '0' });
    await create(widget, 'b');
  });
});
