/** A StatefulSet of fifty pods, one after the other, and all at once. */
import { type StatefulSet, statefulSetResource } from '../../../src/api/apps/v1/stateful-set.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import type { Benchmark } from '../report.ts';
import { simulatedCluster, template, untilReady } from './simulated-cluster.ts';

const replicas = 50;
const labels = { app: 'web' };
const statefulSet = (name: string, podManagementPolicy: string) =>
  ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'default' },
    spec: { replicas, podManagementPolicy, selector: { matchLabels: labels }, template: template(labels) },
  }) as unknown as Draft<StatefulSet>;

async function measure(policy: string) {
  const cluster = await simulatedCluster(10);
  const { made, ready } = await untilReady(cluster, replicas, () =>
    cluster.client.resource(statefulSetResource).create(statefulSet('web', policy)),
  );
  await cluster.stop();
  const what = `a StatefulSet of ${replicas}, ${policy}:`;
  return [
    { what: `${what} every pod made`, value: made, unit: 'ms', target: '< 10,000', met: made < 10_000 },
    { what: `${what} every pod ready`, value: ready, unit: 'ms' },
  ];
}

export const stateful: Benchmark = {
  name: 'stateful',
  run: async () => [...(await measure('OrderedReady')), ...(await measure('Parallel'))],
};
