/**
 * HorizontalPodAutoscalers and `top` on real pods of two nodes: scale-up under load, stabilization, and
 * scale-down without load, at the rates of the object.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type {
  CoreV1EventList,
  V1Deployment,
  V1EndpointSliceList,
  V1PodList,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';
import { helloImage } from './harness/images.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

const labels = { app: 'busy' };
const clusterIP = '10.96.0.91';
/**
 * Answers with its name and uses the processor while the file exists. It requests all that it may use, and
 * the target is a small part of that, so that it is reached even if other programs use this machine.
 */
const worker =
  'mkdir /www; echo "$HOSTNAME" >/www/index.html; httpd -p 8080 -h /www; while :; do if [ -e /tmp/load ]; then :; else sleep 1; fi; done';
const deployment = {
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
            resources: { requests: { cpu: '150m', memory: '16Mi' }, limits: { cpu: '150m' } },
          },
        ],
      },
    },
  },
};
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'busy' },
  spec: { clusterIP, selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
};
/**
 * An autoscaler with this target utilization of the requests. It scales up at once, and down by one pod in
 * five seconds after six seconds in which fewer pods were needed.
 */
const autoscaler = (resource: string, averageUtilization: number) => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: resource },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'busy' },
    minReplicas: 1,
    maxReplicas: 3,
    metrics: [
      { type: 'Resource', resource: { name: resource, target: { type: 'Utilization', averageUtilization } } },
    ],
    behavior: {
      scaleUp: { policies: [{ type: 'Percent', value: 100, periodSeconds: 1 }] },
      scaleDown: {
        stabilizationWindowSeconds: 6,
        policies: [{ type: 'Pods', value: 1, periodSeconds: 5 }],
      },
    },
  },
});
/** Each attempt starts a program. */
const slowly = { timeoutMs: 120_000, intervalMs: 500 };

test('an autoscaler adjusts the number of pods to their load', async (context: TestContext) => {
  const cluster = await MultiCluster.start(context, {
    hosts: 2,
    images: [helloImage],
    masterFlags: ['--hpa-sync-period', '2s'],
  });
  const { kubectl } = cluster;
  const create = (...items: object[]) =>
    kubectl.attempt(['create', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    });
  const ready = async () =>
    (await kubectl.json<V1Deployment>('get', 'deployment', 'busy')).status?.readyReplicas ?? 0;
  const pods = async () =>
    (await kubectl.json<V1PodList>('get', 'pods', '-l', 'app=busy')).items.map(({ metadata, spec }) => ({
      name: metadata?.name ?? '',
      node: spec?.nodeName,
    }));
  const exec = (pod: string, command: string) => kubectl('exec', pod, '--', 'sh', '-c', command);
  const use = async (resource: string) => {
    const { status } = await kubectl.json<V2HorizontalPodAutoscaler>('get', 'hpa', resource);
    const [metric] = status?.currentMetrics ?? [];
    return { desired: status?.desiredReplicas, percent: metric?.resource?.current.averageUtilization ?? 0 };
  };
  const sizes = async (name: string) => {
    const { items } = await kubectl.json<CoreV1EventList>(
      ...['get', 'events', '--field-selector', `reason=SuccessfulRescale,involvedObject.name=${name}`],
    );
    return items.flatMap(({ message }) => /New size: (\d)/.exec(message ?? '')?.[1] ?? []).sort();
  };

  await context.test('metrics of nodes and pods are served', async () => {
    const { code, stderr } = await create(deployment, service, autoscaler('cpu', 8));
    assert.equal(code, 0, stderr);
    await waitFor('one pod', async () => (await ready()) === 1, slowly);
    const lines = await waitFor('the metrics of the pod', () => kubectl('top', 'pods'), slowly);
    assert.match(lines, /^NAME +CPU\(cores\) +MEMORY\(bytes\)\s*\nbusy-\S+ +\d+m +\d+Mi/);
    assert.match(await kubectl('top', 'nodes'), /^NAME .*\n(\S+ +\d+m +\d+% +\d+Mi +\d+%\s*\n?){2}$/);
  });

  await context.test('load adds pods on both nodes, and the Service leads to the new ones', async () => {
    const [first] = await pods();
    await exec(first?.name ?? '', 'touch /tmp/load');
    await waitFor('more pods', async () => (await ready()) >= 2, slowly);
    for (const { name } of await pods()) await exec(name, 'touch /tmp/load').catch(() => undefined);
    await waitFor('as many as allowed', async () => (await ready()) === 3, slowly);
    const all = await pods();
    for (const { name } of all) await exec(name, 'touch /tmp/load');
    assert.deepEqual([...new Set(all.map(({ node }) => node))].sort(), ['node-0', 'node-1']);
    const { items } = await kubectl.json<V1EndpointSliceList>(
      ...['get', 'endpointslices', '-l', 'kubernetes.io/service-name=busy'],
    );
    const endpoints = items.flatMap((slice) => slice.endpoints ?? []);
    assert.deepEqual(
      endpoints.map(({ targetRef }) => targetRef?.name).sort(),
      all.map(({ name }) => name).sort(),
    );
    const answered = new Set<string>();
    await waitFor(
      'an answer of each pod',
      async () => {
        answered.add((await cluster.hosts.at(0).run('curl', '-s', '-m', '5', `http://${clusterIP}/`)).trim());
        return all.every(({ name }) => answered.has(name));
      },
      { timeoutMs: 60_000, intervalMs: 50 },
    );
  });

  await context.test('the number of pods is kept while the load lasts', async () => {
    await waitFor('metrics of all pods', async () => (await use('cpu')).percent > 8, slowly);
    assert.equal((await use('cpu')).desired, 3);
    assert.equal(await ready(), 3);
  });

  await context.test(
    'pods are removed one after the other without load, at the configured rate',
    async () => {
      for (const { name } of await pods()) await exec(name, 'rm /tmp/load');
      await waitFor('one pod again', async () => (await pods()).length === 1, slowly);
      assert.deepEqual(await sizes('cpu'), ['1', '2', '2', '3']);
      await kubectl('delete', 'hpa', 'cpu');
    },
  );

  await context.test('memory in use adds pods, and released memory removes them', async () => {
    const { code, stderr } = await create(autoscaler('memory', 60));
    assert.equal(code, 0, stderr);
    const [first] = await pods();
    // Data without line ends is kept in tail's own memory.
    await exec(first?.name ?? '', '(head -c 25000000 /dev/zero; sleep 600) | tail >/dev/null 2>&1 &');
    await waitFor('more pods', async () => (await ready()) >= 2, slowly);
    await waitFor('metrics of two pods', async () => (await use('memory')).desired !== 1, slowly);
    assert.ok((await ready()) >= 2);
    await exec(first?.name ?? '', 'killall tail');
    await waitFor('one pod again', async () => (await pods()).length === 1, slowly);
  });
});
