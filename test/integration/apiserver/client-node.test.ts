/** The JavaScript client of Kubernetes, unmodified, against the real HTTPS listener. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  type V1Deployment,
  Watch,
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

  describe('patches a Deployment', () => {
    const name = 'patched';
    const images = ({ spec }: V1Deployment) =>
      spec?.template.spec?.containers.map((container) => `${container.name}=${container.image}`);
    const patch = (strategy: PatchStrategy, body: object, fieldManager?: string, force?: boolean) =>
      config
        .makeApiClient(AppsV1Api)
        .patchNamespacedDeployment(
          { name, namespace, body, ...(fieldManager && { fieldManager }), ...(force && { force }) },
          setHeaderOptions('Content-Type', strategy),
        );
    const containers = (...list: readonly object[]) => ({
      spec: { template: { spec: { containers: list } } },
    });

    before(async () => {
      const labels = { app: name };
      await config.makeApiClient(AppsV1Api).createNamespacedDeployment({
        namespace,
        body: {
          metadata: { name, annotations: { kept: 'yes', removed: 'soon' } },
          spec: {
            selector: { matchLabels: labels },
            template: {
              metadata: { labels },
              spec: {
                containers: [
                  { name: 'a', image: 'a:1' },
                  { name: 'b', image: 'b:1' },
                ],
              },
            },
          },
        },
      });
    });

    it('with a strategic merge patch, which merges containers by name', async () => {
      const patched = await patch(PatchStrategy.StrategicMergePatch, containers({ name: 'b', image: 'b:2' }));
      assert.deepEqual(images(patched)?.sort(), ['a=a:1', 'b=b:2']);
      const without = await patch(
        PatchStrategy.StrategicMergePatch,
        containers({ name: 'b', $patch: 'delete' }),
      );
      assert.deepEqual(images(without), ['a=a:1']);
    });

    it('with a merge patch, which replaces lists and removes fields that are null', async () => {
      const patched = await patch(PatchStrategy.MergePatch, {
        metadata: { annotations: { removed: null } },
        ...containers({ name: 'c', image: 'c:1' }, { name: 'd', image: 'd:1' }),
      });
      assert.deepEqual(images(patched), ['c=c:1', 'd=d:1']);
      assert.deepEqual(patched.metadata?.annotations, { kept: 'yes' });
    });

    it('with a JSON patch, whose failed test changes nothing', async () => {
      const path = '/spec/template/spec/containers/0/image';
      const set = (expected: string, value: string) =>
        patch(PatchStrategy.JsonPatch, [
          { op: 'test', path, value: expected },
          { op: 'replace', path, value },
        ]);
      assert.deepEqual(images(await set('c:1', 'c:2')), ['c=c:2', 'd=d:1']);
      await assert.rejects(set('c:1', 'c:3'), { code: 422 });
      const read = await config.makeApiClient(AppsV1Api).readNamespacedDeployment({ name, namespace });
      assert.deepEqual(images(read), ['c=c:2', 'd=d:1']);
    });

    it('by server-side apply, with conflicts between field managers', async () => {
      const configuration = (replicas: number, minReadySeconds?: number) => ({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name },
        spec: { replicas, minReadySeconds },
      });
      const apply = (body: object, manager: string, force?: boolean) =>
        patch(PatchStrategy.ServerSideApply, body, manager, force);
      const applied = await apply(configuration(3, 7), 'one', true);
      assert.deepEqual([applied.spec?.replicas, applied.spec?.minReadySeconds], [3, 7]);
      await assert.rejects(apply(configuration(4), 'two'), (error: { code?: number; body?: string }) => {
        const { details } = JSON.parse(String(error.body)) as { details: { causes: object[] } };
        assert.equal(error.code, 409);
        assert.deepEqual(details.causes, [
          { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.replicas' },
        ]);
        return true;
      });
      const forced = await apply(configuration(4), 'two', true);
      assert.equal(forced.spec?.replicas, 4);
      const owners = forced.metadata?.managedFields?.filter(({ operation }) => operation === 'Apply');
      assert.deepEqual(
        owners?.map(({ manager, fieldsV1 }) => [manager, fieldsV1]),
        [
          ['one', { 'f:spec': { 'f:minReadySeconds': {} } }],
          ['two', { 'f:spec': { 'f:replicas': {} } }],
        ],
      );
      const { minReadySeconds } = (await apply({ ...configuration(4), spec: {} }, 'one')).spec ?? {};
      assert.equal(minReadySeconds ?? 0, 0);
      await assert.rejects(patch(PatchStrategy.ServerSideApply, configuration(4)), { code: 422 });
    });

    it('as an object of any kind, with each strategy', async () => {
      const api = KubernetesObjectApi.makeApiClient(config);
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'any', namespace } };
      const put = (data: Readonly<Record<string, string>>, strategy: PatchStrategy) =>
        api.patch<V1ConfigMap>({ ...object, data }, undefined, undefined, 'any', undefined, strategy);
      assert.deepEqual((await put({ a: '1' }, PatchStrategy.ServerSideApply)).data, { a: '1' });
      assert.deepEqual((await put({ b: '2' }, PatchStrategy.MergePatch)).data, { a: '1', b: '2' });
      const strategic = await put({ c: '3' }, PatchStrategy.StrategicMergePatch);
      assert.deepEqual(strategic.data, { a: '1', b: '2', c: '3' });
    });
  });

  it('watches from a version, with a selector, until the server ends the watch', async () => {
    const api = config.makeApiClient(CoreV1Api);
    const { metadata } = await api.listNamespacedConfigMap({ namespace });
    const labels = { watched: 'yes' };
    await api.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'unwatched' } } });
    await api.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'watched', labels } } });
    await api.patchNamespacedConfigMap({
      name: 'watched',
      namespace,
      body: [{ op: 'add', path: '/data', value: { x: 'y' } }],
    });
    await api.deleteNamespacedConfigMap({ name: 'watched', namespace });
    const seen: string[] = [];
    const ended = Promise.withResolvers<unknown>();
    await new Watch(config).watch(
      '/api/v1/namespaces/default/configmaps',
      { resourceVersion: metadata?.resourceVersion, labelSelector: 'watched=yes', timeoutSeconds: 1 },
      (type: string, object: V1ConfigMap) => seen.push(`${type} ${object.metadata?.name}`),
      ended.resolve,
    );
    assert.equal(await ended.promise, null);
    assert.deepEqual(seen, ['ADDED watched', 'MODIFIED watched', 'DELETED watched']);
  });

  it('finds kinds by discovery', async () => {
    const api = KubernetesObjectApi.makeApiClient(config);
    const made = await api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'by-kind' } });
    assert.equal(made.metadata?.name, 'by-kind');
  });

  it('keeps an informer up to date', async () => {
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
    assert.equal(informer.get('live', namespace)?.metadata?.name, 'live');
    const body = [{ op: 'add', path: '/data', value: { x: 'y' } }];
    await api.patchNamespacedConfigMap({ name: 'live', namespace, body });
    await saw('update live');
    assert.deepEqual(informer.get('live', namespace)?.data, { x: 'y' });
    await api.deleteNamespacedConfigMap({ name: 'live', namespace });
    await saw('delete live');
    assert.equal(informer.get('live', namespace), undefined);
    await informer.stop();
  });
});
