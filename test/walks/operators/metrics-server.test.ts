/**
 * metrics-server, unchanged, as a Deployment behind an APIService: `kubectl top` and an autoscaler use its
 * answers, and use the answers of the cluster itself while metrics-server is not registered.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1APIService, V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import { Cluster } from '../../e2e/harness/cluster.ts';
import { docker } from '../../e2e/harness/docker.ts';
import { Host } from '../../e2e/harness/host.ts';
import { helloImage } from '../../e2e/harness/images.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { makeProgramImage, metricsServer, moduleFolder, unlessBuilt } from '../../fixtures/operators.ts';

const repository = 'minik8s-test/metrics-server';
const image = `${repository}:${process.pid}`;
const labels = { app: 'busy' };

/** A Deployment whose pod always uses some processor time. */
const busy = {
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
            name: 'main',
            image: helloImage,
            imagePullPolicy: 'IfNotPresent',
            command: ['sh', '-c', 'while :; do :; done'],
            resources: { requests: { cpu: '100m' }, limits: { cpu: '100m' } },
          },
        ],
      },
    },
  },
};
const patience = { timeoutMs: 240_000, intervalMs: 1000 };

/** Copies the manifests of the module into the directory; only the name of the image is changed. */
async function manifests(directory: string): Promise<string> {
  const folder = await moduleFolder('sigs.k8s.io/metrics-server@v0.9.0');
  const root = join(directory, 'metrics-server');
  await cp(join(folder, 'manifests/base'), join(root, 'base'), { recursive: true });
  const images = [
    {
      name: 'gcr.io/k8s-staging-metrics-server/metrics-server',
      newName: repository,
      newTag: String(process.pid),
    },
  ];
  writeFileSync(join(root, 'kustomization.yaml'), JSON.stringify({ resources: ['base'], images }));
  return root;
}

test('metrics-server runs behind an APIService', { skip: unlessBuilt(metricsServer) }, async (context) => {
  context.after(() => docker('image', 'rm', '-f', image).then(() => undefined));
  await makeProgramImage(metricsServer, image);
  const host = await Host.start(context, { images: [helloImage, image] });
  const cluster = await Cluster.start(context, { host });
  const { kubectl } = cluster;
  const nodes = '/apis/metrics.k8s.io/v1beta1/nodes';
  const raw = async () =>
    JSON.parse(await kubectl('get', '--raw', nodes)) as {
      readonly items: readonly { readonly metadata: { readonly labels?: object }; readonly window: string }[];
    };
  const top = (what: string) => kubectl('top', what, '--no-headers', ...(what === 'pods' ? ['-A'] : []));

  const file = join(host.directory, 'busy.json');
  writeFileSync(file, JSON.stringify(busy));
  await kubectl('apply', '-f', file);
  await waitFor('usage of the cluster itself', async () => (await raw()).items.length === 1, patience);

  await context.test('metrics-server gets requests once it is available', async () => {
    await kubectl('apply', '-k', await manifests(host.directory));
    await waitFor(
      'metrics-server is available',
      async () => {
        const found = await kubectl.json<V1APIService>('get', 'apiservice', 'v1beta1.metrics.k8s.io');
        const one = found.status?.conditions?.find(({ type }) => type === 'Available');
        if (one?.status === 'True') return true;
        throw new Error(`${one?.reason} ${one?.message}`);
      },
      patience,
    );
    await waitFor('its usage of the node', async () => (await raw()).items.length === 1, patience);
    await waitFor('top', async () => /^e2e +\d+m +\d+% +\d+Mi +\d+%/.test(await top('nodes')), patience);
    assert.match(await top('pods'), /^default +busy-\S+ +\d+m +\d+Mi/m);
    assert.match(
      await kubectl('explain', 'nodemetrics.usage', '--api-version', 'metrics.k8s.io/v1beta1'),
      /usage/,
    );
  });

  await context.test(
    'the usage that metrics-server reports determines the replicas of an autoscaler',
    async () => {
      await kubectl('autoscale', 'deployment', 'busy', '--cpu-percent=5', '--min=1', '--max=3');
      await waitFor(
        'more pods',
        async () => {
          const found = await kubectl.json<V2HorizontalPodAutoscaler>('get', 'hpa', 'busy');
          if ((found.status?.desiredReplicas ?? 0) > 1) return true;
          throw new Error(JSON.stringify(found.status));
        },
        patience,
      );
    },
  );

  await context.test(
    'metrics-server gets requests even while it does not answer, and the cluster answers again after its removal',
    async () => {
      await kubectl('scale', 'deployment', 'metrics-server', '-n', 'kube-system', '--replicas=0');
      await waitFor(
        '503',
        async () => (await kubectl.attempt(['get', '--raw', nodes])).stderr.includes('ServiceUnavailable'),
        patience,
      );
      assert.match(await kubectl('get', 'pods'), /busy-/);
      await kubectl('delete', 'apiservice', 'v1beta1.metrics.k8s.io');
      await waitFor('usage of the cluster itself', async () => (await raw()).items.length === 1, patience);
      assert.match(await top('nodes'), /^e2e +\d+m/);
    },
  );
});
