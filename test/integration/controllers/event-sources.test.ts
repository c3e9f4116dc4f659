/** The source component of events: clients filter by it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSetResource } from '../../../src/api/apps/v1/daemon-set.ts';
import { deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { statefulSetResource } from '../../../src/api/apps/v1/stateful-set.ts';
import { horizontalPodAutoscalerResource } from '../../../src/api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import { cronJobResource } from '../../../src/api/batch/v1/cron-job.ts';
import { jobResource } from '../../../src/api/batch/v1/job.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { replicationControllerResource } from '../../../src/api/core/v1/replication-controller.ts';
import { podDisruptionBudgetResource } from '../../../src/api/policy/v1/pod-disruption-budget.ts';
import type { Draft, KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { startCluster } from './cluster.ts';

test('the events of each controller bear its name in Kubernetes', async (t) => {
  // Nodes send no heartbeats here.
  const cluster = await startCluster({ nodeGracePeriodMs: 3_600_000 });
  t.after(() => cluster.stop());
  await cluster.addNode('n1');
  const create = <T extends KubeObject>(resource: ResourceRef<T>, name: string, spec: object) =>
    cluster.client
      .resource(resource)
      .create({ metadata: { name, namespace: 'default' }, spec } as unknown as Draft<T>);
  const containers = [{ name: 'app', image: 'app:1' }];
  const workload = (app: string, selector: object = { matchLabels: { app } }) => ({
    selector,
    template: { metadata: { labels: { app } }, spec: { containers } },
  });
  const job = { template: { spec: { restartPolicy: 'Never', containers } } };
  await create(deploymentResource, 'a', workload('a'));
  await create(statefulSetResource, 'b', { ...workload('b'), serviceName: 'b' });
  await create(daemonSetResource, 'c', workload('c'));
  await create(replicationControllerResource, 'd', workload('d', { app: 'd' }));
  await create(jobResource, 'e', job);
  await create(cronJobResource, 'f', { schedule: '* * * * *', jobTemplate: { spec: job } });
  await create(horizontalPodAutoscalerResource, 'g', {
    maxReplicas: 2,
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'nothing' },
  });
  await create(podResource, 'h', { nodeName: 'n1', containers });
  await create(podDisruptionBudgetResource, 'i', {
    minAvailable: '50%',
    selector: { matchLabels: { app: 'a' } },
  });
  await cluster.client
    .resource(podResource)
    .patch('h', 'default', 'merge', { metadata: { labels: { app: 'a' } } });
  const expected = [
    'CronJob cronjob-controller',
    'DaemonSet daemonset-controller',
    'Deployment deployment-controller',
    'HorizontalPodAutoscaler horizontal-pod-autoscaler',
    'Job job-controller',
    'Pod default-scheduler',
    'PodDisruptionBudget controllermanager',
    'ReplicaSet replicaset-controller',
    'ReplicationController replication-controller',
    'StatefulSet statefulset-controller',
  ];
  const sources = async () => {
    const events = await cluster.list(eventResource, 'default');
    const named = events.filter(({ involvedObject }) => involvedObject.kind !== 'Node');
    assert.ok(named.every(({ source, reportingComponent }) => source?.component === reportingComponent));
    return [
      ...new Set(named.map((event) => `${event.involvedObject.kind} ${event.source?.component}`)),
    ].sort();
  };
  await cluster
    .eventually('all have written events', async () => (await sources()).length >= expected.length, 120_000)
    .catch(() => undefined);
  assert.deepEqual(await sources(), expected);
  assert.deepEqual([...cluster.refused], []);
});
