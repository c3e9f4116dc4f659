/**
 * One trace from `ctl apply` of a Deployment to the start of its container, as a collector receives it; and
 * an unreachable collector.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { V1PodList } from '@kubernetes/client-node';
import { receiveOtlp } from '../fixtures/otlp-receiver.ts';
import { pathTo, treeOf } from '../fixtures/span-tree.ts';
import { Cluster, executable } from './harness/cluster.ts';
import { isReady } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { waitFor } from './harness/wait-for.ts';

const run = promisify(execFile);
const secret = 'not-for-collectors-4711';
const labels = { app: 'web' };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'main', image: helloImage, env: [{ name: 'PASSWORD', value: secret }] }],
      },
    },
  },
};

test('a command, the work of the controllers, and the start of the container are one trace', async (context) => {
  const host = await Host.start(context);
  const receiver = await receiveOtlp(host.gateway);
  context.after(() => receiver.close());
  const cluster = await Cluster.start(context, { host, flags: ['--tracing-endpoint', receiver.url] });
  const manifest = join(host.directory, 'web.json');
  await writeFile(manifest, JSON.stringify(deployment));
  const ctl = (environment: Record<string, string>, ...args: string[]) =>
    run(executable, ['ctl', ...args], { env: { KUBECONFIG: cluster.kubeconfig, ...environment } });

  await context.test('the collector receives the complete tree of spans', async () => {
    await ctl({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }, 'apply', '-f', manifest);
    const start = await waitFor('the span of the start', () =>
      receiver.spans.find(({ name }) => name === 'start pod'),
    );
    const { traceId } = start.context;
    const own = () => receiver.spans.filter((span) => span.context.traceId === traceId);
    const roots = await waitFor('every span that others are in', () => {
      const known = new Set(own().map((span) => span.context.spanId));
      const open = own().filter(({ parent }) => parent === undefined || !known.has(parent));
      return open.every(({ parent }) => parent === undefined) && open;
    });
    assert.deepEqual(
      roots.map(({ service, name }) => `${service} ${name}`),
      ['ctl ctl apply'],
    );
    const tree = treeOf(own(), undefined);
    const missing = [
      'ctl ctl apply',
      '  apiserver POST /apis/apps/v1/namespaces/{:namespace}/deployments',
      '    apiserver Create etcd3',
      '    apiserver admission mutate',
      '    apiserver admission validate',
      '    apiserver authentication',
      '    apiserver authorization',
      '    controller-manager reconcile deployment',
      '      apiserver POST /apis/apps/v1/namespaces/{:namespace}/replicasets',
      '    controller-manager reconcile replicaset',
      '      apiserver POST /api/v1/namespaces/{:namespace}/pods',
      '    kubelet start pod',
      '      kubelet syncPod',
      '        kubelet createSandbox',
      '        kubelet startContainer',
      '          kubelet create_container',
      '          kubelet start_container',
      '    scheduler schedule',
      '      scheduler bind',
      '        apiserver POST /api/v1/namespaces/{:namespace}/pods/{:name}/binding',
      '      scheduler decide',
      '      scheduler queue',
    ].filter((line) => !tree.includes(line));
    assert.deepEqual(missing, [], tree.join('\n'));
    const started = own().find(({ name }) => name === 'start_container');
    assert.ok(started && started.from <= started.to && started.from >= start.from);
    const ready = own().find(
      ({ name, attributes }) =>
        name.startsWith('PATCH') && String(attributes['url.path']).endsWith('/status'),
    );
    assert.ok(ready, 'the status that the pod is Ready');
    assert.equal(pathTo(own(), ready)[0], 'ctl ctl apply');
    assert.equal(
      receiver.bodies.some((body) => body.includes(secret)),
      false,
    );
  });

  await context.test('TRACEPARENT contains the trace of a command, and whether it is recorded', async () => {
    const outer = 'decafbaddecafbaddecafbaddecafbad';
    await ctl(
      { TRACEPARENT: `00-${outer}-00f067aa0ba902b7-01` },
      'scale',
      'deployment',
      'web',
      '--replicas=2',
    );
    await waitFor('the start of the second pod, in that trace', () =>
      receiver.spans.some(({ name, context }) => name === 'start pod' && context.traceId === outer),
    );
    const unrecorded = 'abadcafeabadcafeabadcafeabadcafe';
    await ctl(
      { TRACEPARENT: `00-${unrecorded}-00f067aa0ba902b7-00` },
      'scale',
      'deployment',
      'web',
      '--replicas=3',
    );
    await waitFor('three ready pods', async () => {
      const { items } = await cluster.kubectl.json<V1PodList>('get', 'pods', '-l', 'app=web');
      return items.length === 3 && items.every(isReady);
    });
    assert.equal(
      receiver.spans.some(({ context }) => context.traceId === unrecorded),
      false,
    );
  });

  await context.test('an unreachable collector delays no request', async () => {
    await receiver.close();
    const { stdout, stderr } = await ctl(
      { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      'scale',
      'deployment',
      'web',
      '--replicas=1',
    );
    assert.match(stdout, /deployment.apps\/web scaled/);
    assert.match(stderr, /^warning: spans of traces were dropped: no answer from http:/);
    await waitFor('one pod', async () => {
      const { items } = await cluster.kubectl.json<V1PodList>('get', 'pods', '-l', 'app=web');
      return items.length === 1;
    });
  });
});
