/** GET /metrics/objects: complete, readable by Prometheus, restricted by authorization, and up to date. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { storageKey } from '../../../src/apimachinery/resource-definition.ts';
import { featureObjectMetrics } from '../../../src/control-plane/server-features.ts';
import { objectKinds } from '../../../src/kube-apiserver/object-metrics/object-kinds.ts';
import { objectMetricsPath } from '../../../src/kube-apiserver/object-metrics/page.ts';
import { encodeObject } from '../../../src/storage/codec.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { readAsPrometheus, unlessGo } from '../../fixtures/expfmt.ts';
import { type ReadFamily, readExposition } from '../../fixtures/exposition-reader.ts';
import { makeToldObjects, toldServer } from '../../fixtures/measured-objects/make.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
const pods = '/api/v1/namespaces/told/pods';

describe('/metrics/objects', () => {
  let server: TestServer;
  const log = new RecordingLogger();
  before(async () => {
    server = await startTestServer({ log, ...toldServer });
    await makeToldObjects(server);
  });
  after(() => server.stop());

  const page = async (): Promise<Map<string, ReadFamily>> => {
    const { status, headers, text } = await server.call('GET', objectMetricsPath);
    assert.equal(status, 200, text);
    assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    return readExposition(text);
  };
  /** Returns the values of a family for the pod with that name. */
  const ofPod = (families: Map<string, ReadFamily>, family: string, pod: string) =>
    [...(families.get(family)?.samples ?? [])]
      .filter(([sample]) => sample.includes(`pod="${pod}"`))
      .map(([, value]) => value);

  it('can be read completely by Prometheus', { skip: unlessGo }, async () => {
    const { text } = await server.call('GET', objectMetricsPath);
    const read = Object.entries(readAsPrometheus(text)).map(([name, { type, metrics }]) => [
      name,
      type,
      metrics,
    ]);
    const families = [...readExposition(text)].map(([name, { type, samples }]) => [
      name,
      type.toUpperCase(),
      samples.size,
    ]);
    assert.deepEqual(read.sort(), families.sort());
    assert.ok(families.length > 200, `${families.length} families`);
  });

  it('has lines for every kind', async () => {
    const families = await page();
    const missing = [...objectKinds, ...featureObjectMetrics()].filter(
      (kind) => !kind.families.some(({ name }) => families.has(name)),
    );
    assert.deepEqual(
      missing.map(({ ref }) => ref.kind),
      [],
    );
  });

  it('contains nothing from Secrets', async () => {
    const { text } = await server.call('GET', objectMetricsPath);
    assert.match(text, /kube_secret_info\{namespace="told",secret="hidden"\} 1/);
    assert.doesNotMatch(text, /c2VjcmV0/);
  });

  it('shows the current objects', async () => {
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await server.call('POST', pods, { metadata: { name: 'new' }, spec });
    assert.deepEqual(ofPod(await page(), 'kube_pod_status_phase', 'new'), [1, 0, 0, 0, 0]);
    await server.call('PATCH', `${pods}/new/status`, { status: { phase: 'Running' } }, merge);
    assert.deepEqual(ofPod(await page(), 'kube_pod_status_phase', 'new'), [0, 0, 0, 0, 1]);
    assert.deepEqual(ofPod(await page(), 'kube_pod_status_phase', 'new'), [0, 0, 0, 0, 1]);
    await server.call('DELETE', `${pods}/new?gracePeriodSeconds=0`);
    assert.deepEqual(ofPod(await page(), 'kube_pod_info', 'new'), []);
  });

  it('omits an unreadable object, reports it, and contains the other objects', async () => {
    const metadata = { name: 'odd', namespace: 'told', uid: 'u', resourceVersion: '', creationTimestamp: '' };
    const key = storageKey(podResource, 'told', 'odd');
    const revision = await server.store.create(
      key,
      encodeObject({ apiVersion: 'v1', kind: 'Pod', metadata }),
    );
    await server.clock.until(server.cache.waitUntil(revision));
    const families = await page();
    assert.deepEqual(ofPod(families, 'kube_pod_info', 'odd'), []);
    assert.deepEqual(ofPod(families, 'kube_pod_info', 'running'), [1]);
    await page();
    const said = log.of('error').filter(({ message }) => message.includes(objectMetricsPath));
    assert.deepEqual(
      said.map(({ fields }) => fields.key),
      [key],
    );
  });

  it('omits Endpoints whose lines would be a hundred times their size, and contains the other objects', async () => {
    const addresses = Array.from({ length: 500 }, (_, index) => ({
      ip: `10.9.${index >> 8}.${index & 255}`,
    }));
    const ports = Array.from({ length: 500 }, (_, index) => ({ name: `p${index}`, port: index + 1 }));
    for (const [name, subset] of [
      ['wide', { addresses, ports }],
      ['usual', { addresses, ports: ports.slice(0, 2) }],
    ] as const) {
      const body = { metadata: { name }, subsets: [subset] };
      const made = await server.call('POST', '/api/v1/namespaces/told/endpoints', body);
      assert.equal(made.status, 201, made.text);
    }
    const { text } = await server.call('GET', objectMetricsPath);
    const linesOf = (name: string) =>
      text
        .split('\n')
        .filter((line) => line.startsWith(`kube_endpoint_address{namespace="told",endpoint="${name}"`));
    assert.deepEqual([linesOf('wide').length, linesOf('usual').length], [0, 1000]);
    const said = log.of('error').filter(({ fields }) => String(fields.key).endsWith('/told/wide'));
    assert.match(String(said[0]?.fields.error), /^it has 250000 pairs of an address and a port/);
    assert.equal(said.length, 1);
  });

  it('answers HEAD without a body, and is among the listed paths of the server', async () => {
    const head = await server.call('HEAD', objectMetricsPath);
    assert.deepEqual([head.status, head.text], [200, '']);
    const { paths } = (await server.call('GET', '/')).json<{ paths: readonly string[] }>();
    assert.ok(paths.includes(objectMetricsPath));
  });

  it('is readable for users who may get the path: system:monitoring, and users with a role for it', async () => {
    const as = async (name: string, ...groups: string[]) =>
      (
        await server.call('GET', objectMetricsPath, undefined, {
          user: { name, groups: [...groups, 'system:authenticated'] },
        })
      ).status;
    assert.equal(await as('prometheus'), 403);
    assert.equal(await as('prometheus', 'system:monitoring'), 200);
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    await server.call('POST', `${rbac}/clusterroles`, {
      metadata: { name: 'objects' },
      rules: [{ verbs: ['get'], nonResourceURLs: [objectMetricsPath] }],
    });
    await server.call('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'objects' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'objects' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'prometheus' }],
    });
    assert.equal(await as('prometheus'), 200);
    assert.equal(await as('another'), 403);
  });
});
