/** The JavaScript client of Kubernetes, unmodified, against the real HTTPS listener. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  type V1ConfigMap,
} from '@kubernetes/client-node';
import { storedObject } from '../../fixtures/api-server.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

describe('@kubernetes/client-node', { timeout: 300_000 }, () => {
  let server: HttpsTestServer;
  let config: KubeConfig;
  const namespace = 'default';

  before(async () => {
    server = await startHttpsTestServer();
    config = new KubeConfig();
    config.loadFromFile(await server.kubeconfigFor('admin', ['system:masters']));
  });
  after(() => server.stop());

  it('creates, reads, replaces, patches, lists and deletes', async () => {
    const api = config.makeApiClient(CoreV1Api);
    const made = await api.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: 'js' }, data: { a: '1' } },
    });
    assert.ok(made.metadata?.uid);
    const read = await api.readNamespacedConfigMap({ name: 'js', namespace });
    assert.deepEqual(read.data, { a: '1' });
    await api.replaceNamespacedConfigMap({ name: 'js', namespace, body: { ...read, data: { a: '2' } } });
    await assert.rejects(api.replaceNamespacedConfigMap({ name: 'js', namespace, body: read }), {
      code: 409,
    });
    const patch = [{ op: 'add', path: '/data/b', value: '3' }];
    await api.patchNamespacedConfigMap({ name: 'js', namespace, body: patch });
    const stored = (await storedObject(server, '/registry/configmaps/default/js')) as unknown as {
      data: object;
    };
    assert.deepEqual(stored.data, { a: '2', b: '3' });
    const list = await api.listNamespacedConfigMap({ namespace, labelSelector: '!none', limit: 1 });
    assert.equal(list.items.length, 1);
    await api.deleteNamespacedConfigMap({ name: 'js', namespace });
    assert.equal(await storedObject(server, '/registry/configmaps/default/js'), undefined);
  });

  it('finds kinds by discovery', async () => {
    const api = KubernetesObjectApi.makeApiClient(config);
    const made = await api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'by-kind' } });
    assert.equal(made.metadata?.name, 'by-kind');
  });

  it('informs', async () => {
    const api = config.makeApiClient(CoreV1Api);
    await api.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'before' } } });
    const informer = makeInformer<V1ConfigMap>(config, '/api/v1/namespaces/default/configmaps', () =>
      api.listNamespacedConfigMap({ namespace }),
    );
    const seen: string[] = [];
    const waiting = new Map<string, () => void>();
    const note = (event: string) => (object: V1ConfigMap) => {
      const line = `${event} ${object.metadata?.name}`;
      seen.push(line);
      waiting.get(line)?.();
    };
    const saw = (line: string) =>
      new Promise<void>((resolve) => {
        if (seen.includes(line)) resolve();
        else waiting.set(line, resolve);
      });
    informer.on('add', note('add'));
    informer.on('update', note('update'));
    informer.on('delete', note('delete'));
    await informer.start();
    await saw('add before');
    await api.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'live' } } });
    await saw('add live');
    const body = [{ op: 'add', path: '/data', value: { x: 'y' } }];
    await api.patchNamespacedConfigMap({ name: 'live', namespace, body });
    await saw('update live');
    await api.deleteNamespacedConfigMap({ name: 'live', namespace });
    await saw('delete live');
    await informer.stop();
  });
});
