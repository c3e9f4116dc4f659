/**
 * Kubernetes' sample API server, unchanged, with an etcd beside it in its pod: its kinds are read and written
 * through the aggregation, described, deleted with their namespace, and collected with their owners; while
 * the server hangs, the cluster continues to work.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1APIService, V1Namespace } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { Cluster } from '../../e2e/harness/cluster.ts';
import { docker } from '../../e2e/harness/docker.ts';
import { Host } from '../../e2e/harness/host.ts';
import { helloImage } from '../../e2e/harness/images.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { insideEtcd } from '../../fixtures/etcd-binary.ts';
import { makeProgramImage, moduleFolder, sampleApiServer, unlessBuilt } from '../../fixtures/operators.ts';

const server = `minik8s-test/sample-apiserver:${process.pid}`;
const etcd = `minik8s-test/etcd:${process.pid}`;
const patience = { timeoutMs: 240_000, intervalMs: 1000 };
const version = 'v1alpha1.wardle.example.com';

interface Workload {
  readonly kind: string;
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: { image: string; args?: string[] }[] } };
  };
}

/** Returns the manifests of the module; only the images, and the flags of etcd's image, are changed. */
async function manifests(): Promise<readonly object[]> {
  const folder = await moduleFolder('k8s.io/sample-apiserver@v0.32.5');
  const example = join(folder, 'artifacts/example');
  const objects = readdirSync(example).flatMap((file) =>
    parseAllDocuments(readFileSync(join(example, file), 'utf8')).map((one) => one.toJS() as Workload),
  );
  const workload = objects.find(({ kind }) => kind === 'Deployment') ?? assert.fail('there is a Deployment');
  const [main, beside] = workload.spec.template.spec.containers;
  Object.assign(main ?? {}, { image: server, imagePullPolicy: 'IfNotPresent' });
  const flags = ['data-dir=/tmp/etcd', 'listen-client-urls=http://127.0.0.1:2379'];
  Object.assign(beside ?? {}, {
    image: etcd,
    imagePullPolicy: 'IfNotPresent',
    args: [...flags, 'advertise-client-urls=http://127.0.0.1:2379'].map((flag) => `--${flag}`),
  });
  // The namespace of the others comes first.
  return objects.toSorted((a, b) => Number(b.kind === 'Namespace') - Number(a.kind === 'Namespace'));
}

const flunder = (name: string, namespace: string, ownerReferences: readonly object[] = []) => ({
  apiVersion: 'wardle.example.com/v1alpha1',
  kind: 'Flunder',
  metadata: { name, namespace, labels: { walk: 'yes' }, ownerReferences },
  spec: { reference: 'first' },
});

test('the sample API server runs behind an APIService', {
  skip: unlessBuilt(sampleApiServer),
}, async (context) => {
  context.after(() => docker('image', 'rm', '-f', server, etcd).then(() => undefined));
  await makeProgramImage(sampleApiServer, server);
  await makeProgramImage(insideEtcd, etcd);
  const host = await Host.start(context, { images: [helloImage, server, etcd] });
  const cluster = await Cluster.start(context, { host });
  const { kubectl } = cluster;
  const apply = async (...items: readonly object[]) => {
    const file = join(host.directory, 'items.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    return kubectl('apply', '-f', file);
  };
  const availability = async (reason: string) =>
    waitFor(
      reason,
      async () => {
        const found = await kubectl.json<V1APIService>('get', 'apiservice', version);
        const one = found.status?.conditions?.find(({ type }) => type === 'Available');
        if (one?.reason === reason) return true;
        throw new Error(`${one?.reason} ${one?.message}`);
      },
      patience,
    );
  const names = async (namespace: string) =>
    (await kubectl('get', 'flunders', '-n', namespace, '-o', 'name', '--ignore-not-found')).trim();
  const isGone = (what: string, ...args: string[]) =>
    waitFor(
      `${what} is gone`,
      async () => (await kubectl('get', ...args, '--ignore-not-found', '-o', 'name')).trim() === '',
      patience,
    );

  await context.test('the sample API server becomes available', async () => {
    await apply(...(await manifests()));
    await availability('Passed');
  });

  await context.test('discovery and OpenAPI contain the kinds of the sample API server', async () => {
    await waitFor(
      'its kinds',
      async () =>
        /^flunders +wardle.example.com\/v1alpha1 +true +Flunder/m.test(
          await kubectl('api-resources', '--api-group', 'wardle.example.com'),
        ),
      patience,
    );
    await waitFor(
      'its description',
      async () => (await kubectl.attempt(['explain', 'flunders.spec'])).stdout.includes('reference'),
      patience,
    );
    const v2 = JSON.parse(await kubectl('get', '--raw', '/openapi/v2')) as { readonly definitions: object };
    assert.ok(Object.keys(v2.definitions).some((name) => name.endsWith('wardle.v1alpha1.Flunder')));
  });

  await context.test(
    'objects of the sample API server can be created, listed, watched, patched and deleted',
    async () => {
      const watched = kubectl(
        'get',
        'flunders',
        '--watch-only',
        '--output-watch-events',
        '--request-timeout=20s',
      );
      await apply(flunder('one', 'default'), flunder('two', 'default'));
      assert.equal(await names('default'), 'flunder.wardle.example.com/one\nflunder.wardle.example.com/two');
      await apply({ ...flunder('one', 'default'), spec: { reference: 'second' } });
      await kubectl('patch', 'flunder', 'two', '--type=merge', '-p', '{"metadata":{"labels":{"more":"1"}}}');
      const out = await kubectl('get', 'flunders', '-l', 'more=1', '-o', 'name');
      assert.equal(out.trim(), 'flunder.wardle.example.com/two');
      await kubectl('delete', 'flunder', 'one');
      assert.match((await kubectl.attempt(['get', 'flunder', 'one'])).stderr, /NotFound.*"one" not found/);
      await kubectl('delete', 'flunders', '--all');
      assert.equal(await names('default'), '');
      assert.match(await watched, /ADDED +one.*MODIFIED +one.*DELETED +one/s);
    },
  );

  await context.test(
    'objects of the sample API server are deleted with their namespace and with their owners',
    async () => {
      await kubectl('create', 'namespace', 'left');
      await kubectl('create', 'configmap', 'owner');
      const uid = (await kubectl('get', 'configmap', 'owner', '-o', 'jsonpath={.metadata.uid}')).trim();
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
      await apply(
        flunder('in', 'left'),
        flunder('owned', 'default', [reference]),
        flunder('free', 'default'),
      );
      await kubectl('delete', 'namespace', 'left', '--timeout=60s');
      await isGone('the namespace', 'namespace', 'left');
      await kubectl('delete', 'configmap', 'owner');
      await isGone('the owned flunder', 'flunder', 'owned');
      assert.equal(await names('default'), 'flunder.wardle.example.com/free');
    },
  );

  await context.test(
    'a sample API server that hangs delays only the deletion of its namespaces',
    async () => {
      await kubectl('create', 'namespace', 'held');
      await apply(flunder('kept', 'held'));
      await kubectl('create', 'configmap', 'other', '-n', 'held');
      const containers = await host.docker('ps', '-q', '--filter', 'name=wardle-server');
      for (const id of containers.split('\n')) await host.docker('pause', id);
      await availability('FailedDiscoveryCheck');
      await kubectl('delete', 'namespace', 'held', '--wait=false');
      await waitFor(
        'the condition',
        async () => {
          const { status } = await kubectl.json<V1Namespace>('get', 'namespace', 'held');
          const one = status?.conditions?.find(({ type }) => type === 'NamespaceDeletionDiscoveryFailure');
          return one?.status === 'True' && one.message?.includes('wardle.example.com/v1alpha1');
        },
        patience,
      );
      await isGone('the other object', 'configmap', 'other', '-n', 'held');
      assert.match(await kubectl('api-resources', '--api-group', 'apps'), /deployments/);
      for (const id of containers.split('\n')) await host.docker('unpause', id);
      await availability('Passed');
      await isGone('the namespace', 'namespace', 'held');
    },
  );
});
