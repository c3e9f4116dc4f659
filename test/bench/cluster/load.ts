/**
 * Load starts on the pod of a Deployment with a HorizontalPodAutoscaler: the time until another pod is Ready,
 * with the built file, a real pod and the default periods. The maximum is the sum of the metrics period of 10
 * s, the autoscaler's period of 15 s, and 3 s for everything else.
 */

import { podReady } from '../../../src/api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { helloImage } from '../../e2e/harness/images.ts';
import { MultiCluster } from '../../e2e/harness/multi-cluster.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { adminTransport } from '../admin-transport.ts';
import { type Benchmark, median, type Row } from '../report.ts';

const rounds = 5;
const maxSeconds = 10 + 15 + 3;
const labels = { app: 'busy' };
const worker = 'while :; do if [ -e /tmp/load ]; then :; else sleep 1; fi; done';

const objects = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'busy' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: 'worker',
              image: helloImage,
              imagePullPolicy: 'IfNotPresent',
              command: ['sh', '-c', worker],
              resources: { requests: { cpu: '300m' }, limits: { cpu: '300m' } },
            },
          ],
        },
      },
    },
  },
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'busy' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'busy' },
      minReplicas: 1,
      maxReplicas: 2,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 10 } },
        },
      ],
      behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
    },
  },
];

async function run(): Promise<readonly Row[]> {
  const cleanups: (() => Promise<void>)[] = [];
  try {
    const cluster = await MultiCluster.start(
      { after: (fn) => cleanups.push(fn) },
      { hosts: 1, images: [helloImage] },
    );
    const transport = adminTransport(cluster.kubeconfig);
    cleanups.unshift(async () => transport.close());
    const client = createClient(transport);
    const pods = async (): Promise<readonly Pod[]> =>
      (await client.resource(podResource).list({ namespace: 'default' })).items;
    const { kubectl } = cluster;
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    await kubectl.attempt(['create', '-f', '-'], { input });
    const settled = async () => {
      const all = await pods();
      const [only] = all;
      return all.length === 1 && only && podReady(only) && only.metadata.name;
    };
    const known = async () => (await kubectl('get', 'hpa', 'busy')).includes('cpu: 0%/10%');
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const name = await waitFor('one idle pod', settled, { timeoutMs: 120_000 });
      await waitFor('the first metrics of the pod', known, { timeoutMs: 120_000, intervalMs: 500 });
      // Each round starts at a different moment of the period.
      await new Promise((resolve) => setTimeout(resolve, (round * 15_000) / rounds));
      const start = performance.now();
      await kubectl('exec', name, '--', 'touch', '/tmp/load');
      await waitFor('another pod', async () => (await pods()).filter(podReady).length === 2, {
        timeoutMs: 120_000,
        intervalMs: 50,
      });
      times.push((performance.now() - start) / 1000);
      await kubectl('exec', name, '--', 'rm', '/tmp/load');
    }
    const row = (what: string, value: number): Row => ({
      what: `load on a pod until one more is Ready, ${what} of ${rounds}`,
      ...{ value, unit: 's', target: `≤ ${maxSeconds}`, met: value <= maxSeconds },
    });
    return [row('median', median(times)), row('maximum', Math.max(...times))];
  } finally {
    for (const cleanup of cleanups) await cleanup();
  }
}

export const load: Benchmark = { name: 'load', run };
