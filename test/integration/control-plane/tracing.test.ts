/**
 * One trace through the control plane: from the write of a Deployment to the binding of its pods, and the
 * trace annotations of the objects.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Deployment, deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Draft, KubeObject } from '../../../src/apimachinery/meta.ts';
import { traceAnnotation, traceNoteOf } from '../../../src/apimachinery/trace-note.ts';
import { authenticatedGroup, mastersGroup, type UserInfo } from '../../../src/apiserver/request/user.ts';
import type { FinishedSpan } from '../../../src/base/tracing/span.ts';
import { createTracer } from '../../../src/base/tracing/tracer.ts';
import { tracedStore } from '../../../src/storage/traced-store.ts';
import { admin } from '../../fixtures/api-server.ts';
import { createTestPlane } from '../../fixtures/control-plane.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { createMemoryStore } from '../../fixtures/memory-store.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { pathTo, treeOf } from '../../fixtures/span-tree.ts';
import { nodeInfo } from '../controllers/cluster.ts';

const human: UserInfo = { name: 'ada', groups: [mastersGroup, authenticatedGroup] };
const traceId = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const traceparent = (flags = '01', trace = traceId) => `00-${trace}-00f067aa0ba902b7-${flags}`;

/** Starts a control plane with one node; returns it with the spans that it has ended. */
async function start(context: TestContext, rate = 1, isTraced = true) {
  const clock = new FakeClock();
  const spans: FinishedSpan[] = [];
  const random = new SeededRandom(3);
  const tracer = createTracer({ clock, random, rate, take: (span) => spans.push(span) });
  const memory = createMemoryStore();
  const traced = { store: tracedStore(memory), tracer };
  const plane = await createTestPlane(clock, isTraced ? traced : { store: memory });
  const stop = new AbortController();
  const running = plane.run(stop.signal);
  await clock.until(Promise.race([plane.ready, running]));
  context.after(async () => {
    stop.abort();
    await clock.until(running);
  });
  const client = plane.clientOf(admin);
  const nodes = client.resource(nodeResource);
  const node = await nodes.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: {} });
  const allocatable = { cpu: '4', memory: '8Gi', pods: '110' };
  const conditions = [{ type: 'Ready', status: 'True' as const }];
  await nodes.updateStatus({ ...node, status: { allocatable, capacity: allocatable, conditions, nodeInfo } });
  const ask = plane.server.handlerFor(human);
  const send = async (
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<KubeObject> => {
    const answer = await clock.until(
      ask(
        new Request(`http://test${path}`, {
          method,
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        }),
      ),
    );
    const object = (await clock.until(answer.json())) as KubeObject;
    assert.ok(answer.ok, JSON.stringify(object));
    return object;
  };
  const until = <T>(what: string, probe: () => Promise<T | undefined | false>) =>
    eventually(clock, what, probe);
  return { clock, spans, client, send, until };
}

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const deployment = (replicas = 1, metadata: object = {}): Draft<Deployment> => {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', ...metadata },
    spec: { replicas, selector: { matchLabels: labels }, template },
  } as unknown as Draft<Deployment>;
};

type Plane = Awaited<ReturnType<typeof start>>;

const boundPods = ({ until, client }: Plane, count: number) =>
  until(`${count} pods are bound`, async () => {
    const { items } = await client.resource(podResource).list({ namespace: 'default' });
    return items.filter(({ spec }) => spec.nodeName).length === count && items;
  });

test('the write of a Deployment, its reconciles and the binding of its pod are one trace', async (context) => {
  const plane = await start(context);
  const { spans, send, client, until } = plane;
  await send('POST', deployments, deployment(), { traceparent: traceparent() });
  const [pod] = await boundPods(plane, 1);
  assert.ok(pod);
  await until('the span of the binding', async () => spans.some(({ name }) => name === 'bind'));
  const own = spans.filter((span) => span.context.traceId === traceId);
  const [request, ...others] = own.filter(({ parent }) => parent === '00f067aa0ba902b7');
  assert.deepEqual(others, []);
  assert.equal(request?.name, 'POST /apis/apps/v1/namespaces/{:namespace}/deployments');
  assert.equal(request.attributes['url.path'], deployments);
  assert.equal(request.attributes['http.response.status_code'], 201);
  const tree = treeOf(own, request.context.spanId);
  for (const line of [
    'apiserver authorization',
    'apiserver admission mutate',
    'apiserver admission validate',
    'apiserver Create etcd3',
    'controller-manager reconcile deployment',
    'controller-manager reconcile replicaset',
    'scheduler schedule',
    '  scheduler queue',
    '  scheduler decide',
    '  scheduler bind',
    '    apiserver POST /api/v1/namespaces/{:namespace}/pods/{:name}/binding',
    '      apiserver Update etcd3',
  ])
    assert.ok(tree.includes(line), `${line} is missing in\n${tree.join('\n')}`);
  const podMade = own.find(({ name }) => name === 'POST /api/v1/namespaces/{:namespace}/pods');
  assert.ok(podMade);
  assert.deepEqual(pathTo(own, podMade).slice(1), [
    'controller-manager reconcile replicaset',
    'apiserver POST /api/v1/namespaces/{:namespace}/pods',
  ]);
  for (const span of own)
    assert.ok(
      span.parent === '00f067aa0ba902b7' || own.some(({ context }) => context.spanId === span.parent),
      `${span.name} has a parent that was not recorded`,
    );
  const note = traceNoteOf(pod);
  assert.equal(note, `00-${traceId}-${request.context.spanId}-01`);
  const [set] = (await client.resource(replicaSetResource).list({ namespace: 'default' })).items;
  assert.ok(set);
  assert.equal(traceNoteOf(set), note);
  assert.equal(set.spec.template?.metadata?.annotations?.[traceAnnotation], undefined);
});

test('the annotation has no manager and causes no conflict, no change and no rollout; a value from a client is dropped', async (context) => {
  const plane = await start(context);
  const { send, clock, client } = plane;
  const path = `${deployments}/web?fieldManager=me`;
  const forged = {
    annotations: { [traceAnnotation]: traceparent('01', 'bad0bad0bad0bad0bad0bad0bad0bad0'), own: 'a' },
  };
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  const first = await send('PATCH', path, deployment(1, forged), { ...apply, traceparent: traceparent() });
  assert.match(traceNoteOf(first) ?? '', new RegExp(`^00-${traceId}-`));
  assert.ok(!JSON.stringify(first.metadata.managedFields).includes(traceAnnotation));
  await boundPods(plane, 1);
  await clock.advance(10_000);
  const before = await client.resource(deploymentResource).get('web', 'default');
  const again = await send('PATCH', path, deployment(1, forged), { ...apply, traceparent: traceparent() });
  assert.equal(
    again.metadata.resourceVersion,
    before.metadata.resourceVersion,
    'nothing changes, nothing is written',
  );
  const { managedFields: _, ...metadata } = before.metadata;
  const { [traceAnnotation]: __, ...annotations } = metadata.annotations ?? {};
  const put = { ...before, metadata: { ...metadata, annotations } };
  const same = await send('PUT', `${deployments}/web`, put, { traceparent: traceparent() });
  assert.equal(traceNoteOf(same), traceNoteOf(first), 'a client that does not know it does not remove it');
  const second = 'decafbaddecafbaddecafbaddecafbad';
  const scaled = await send('PATCH', path, deployment(2), {
    ...apply,
    traceparent: traceparent('01', second),
  });
  assert.match(traceNoteOf(scaled) ?? '', new RegExp(`^00-${second}-`));
  const pods = await boundPods(plane, 2);
  assert.deepEqual(
    new Set(pods.map((pod) => traceNoteOf(pod)?.slice(3, 35))),
    new Set([traceId, second]),
    'a pod belongs to the trace that created it',
  );
  assert.equal((await client.resource(replicaSetResource).list({ namespace: 'default' })).items.length, 1);
  const labels = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', labels: { a: 'b' } } };
  const taken = await send('PATCH', `${deployments}/web?fieldManager=other`, labels, apply);
  const third = traceNoteOf(taken)?.slice(3, 35) ?? '';
  assert.match(third, /^[0-9a-f]{32}$/);
  assert.ok(![traceId, second].includes(third), 'a later write by a user replaces it');
});

test('a write whose trace is not recorded removes the annotation; a dry run and a status write keep it', async (context) => {
  const plane = await start(context, 0);
  const { send } = plane;
  const made = await send('POST', deployments, deployment(), { traceparent: traceparent() });
  const note = traceNoteOf(made);
  assert.ok(note);
  const dry = await send(
    'PATCH',
    `${deployments}/web?dryRun=All`,
    { metadata: { labels: { a: 'b' } } },
    { 'content-type': 'application/merge-patch+json' },
  );
  assert.equal(traceNoteOf(dry), note);
  const status = await send(
    'PATCH',
    `${deployments}/web/status`,
    { status: { observedGeneration: 0, replicas: 7 } },
    { 'content-type': 'application/merge-patch+json' },
  );
  assert.equal(traceNoteOf(status), note);
  const labelled = await send(
    'PATCH',
    `${deployments}/web`,
    { metadata: { labels: { a: 'b' } } },
    { 'content-type': 'application/merge-patch+json', traceparent: traceparent('00') },
  );
  assert.equal(traceNoteOf(labelled), undefined);
});

test('without a tracer the annotation is stored like any other', async (context) => {
  const { send, client, spans } = await start(context, 1, false);
  const sent = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', annotations: { [traceAnnotation]: 'x' } },
  };
  await send('POST', '/api/v1/namespaces/default/configmaps', sent, { traceparent: traceparent() });
  const stored = await client.resource(configMapResource).get('c', 'default');
  assert.equal(traceNoteOf(stored), 'x');
  assert.deepEqual(spans, []);
});
