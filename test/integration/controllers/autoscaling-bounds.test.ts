/**
 * Autoscalers that need no metric to decide: the scale subresource of every scalable kind is brought within
 * their bounds.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { statefulSetResource } from '../../../src/api/apps/v1/stateful-set.ts';
import { horizontalPodAutoscalerResource } from '../../../src/api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { replicationControllerResource } from '../../../src/api/core/v1/replication-controller.ts';
import type { Draft, KubeObject } from '../../../src/apimachinery/meta.ts';
import { apiVersionOf, type ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { startCluster } from './cluster.ts';

test('an autoscaler scales a target of any kind into its limits', async (t) => {
  const cluster = await startCluster({ nodeGracePeriodMs: 3_600_000 });
  t.after(() => cluster.stop());
  await cluster.addNode('n1');
  const create = <T extends KubeObject>(resource: ResourceRef<T>, name: string, spec: object) =>
    cluster.client
      .resource(resource)
      .create({ metadata: { name, namespace: 'default' }, spec } as unknown as Draft<T>);
  const kinds = [
    deploymentResource,
    replicaSetResource,
    statefulSetResource,
    replicationControllerResource,
  ] as unknown as ResourceRef<KubeObject & { spec: { replicas: number } }>[];
  for (const kind of kinds) {
    const name = kind.kind.toLowerCase();
    const template = {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'app', image: 'app:1' }] },
    };
    const selector = kind.group === '' ? { app: name } : { matchLabels: { app: name } };
    await create(kind, name, { replicas: 5, selector, template, serviceName: name });
    await create(horizontalPodAutoscalerResource, name, {
      minReplicas: 2,
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: apiVersionOf(kind), kind: kind.kind, name },
    });
  }
  for (const kind of kinds)
    await cluster.eventually(`the ${kind.kind} has as many replicas as it may`, async () => {
      const found = await cluster.get(kind, kind.kind.toLowerCase());
      return found?.spec.replicas === 3;
    });
  await cluster.eventually('each says why', async () => {
    const events = await cluster.list(eventResource, 'default');
    const told = events.filter(({ reason }) => reason === 'SuccessfulRescale');
    return told.length === kinds.length;
  });
  // The controller writes only the scale: permission to scale everything must not include permission to write
  // everything.
  assert.deepEqual([...cluster.refused], []);
});
