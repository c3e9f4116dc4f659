/**
 * Autoscalers on a real API server and scheduler, with simulated agents and the answers of a real Prometheus.
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Deployment, deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import {
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalerResource,
} from '../../../src/api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import type { MetricSpec } from '../../../src/api/autoscaling/v2/types.gen.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { podReady } from '../../../src/api/core/v1/pod/conditions.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { MetricSource } from '../../../src/controllers/autoscaling/outside-metrics.ts';
import { createAuthority, issueCertificate } from '../../../src/pki/x509.ts';
import { openPrometheus } from '../../../src/roles/master/prometheus.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { type Prometheus, startPrometheus, unlessPrometheus } from '../../fixtures/prometheus.ts';
import { type Cluster, startCluster } from './cluster.ts';

const day = 24 * 3600 * 1000;
const unset = {
  'prometheus-url': undefined,
  'prometheus-ca': undefined,
  'prometheus-token-file': undefined,
  'prometheus-queries': undefined,
};
const queries = `
apiVersion: minik8s.io/v1
kind: MetricQueries
pods:
- {metric: half, query: 'sum by (pod) (requests{$selector}) / 2'}
- {metric: nameless, query: 'sum(requests{$selector})'}
external:
- {metric: everywhere, query: 'sum(jobs{$selector})', allNamespaces: true}
- {metric: nothing, query: 'sum(jobs{$selector}) / 0 - sum(jobs{$selector}) / 0'}
- {metric: wrong, query: 'jobs{$selector} + on() requests{$selector}'}
`;

const average = (averageValue: string) => ({ type: 'AverageValue', averageValue });
const ofPods = (name: string, target: string, selector?: object): MetricSpec => ({
  type: 'Pods',
  pods: { metric: { name, ...(selector && { selector }) }, target: average(target) },
});
const ofService = (name: string, service: string, value: string): MetricSpec => ({
  type: 'Object',
  object: {
    metric: { name },
    describedObject: { apiVersion: 'v1', kind: 'Service', name: service },
    target: { type: 'Value', value },
  },
});
const external = (name: string, target: string, selector?: object): MetricSpec => ({
  type: 'External',
  external: { metric: { name, ...(selector && { selector }) }, target: average(target) },
});

describe('autoscalers with metrics of Prometheus', { skip: unlessPrometheus, timeout: 200_000 }, () => {
  let prometheus: Prometheus;
  let cluster: Cluster;
  let directory: string;
  let source: MetricSource;
  const opened = new AsyncDisposableStack();
  const open = async (settings: object) => {
    const found = await openPrometheus({ ...unset, ...settings }, systemClock, opened);
    assert.ok(found);
    return found;
  };

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'minik8s-autoscaling-'));
    const file = join(directory, 'queries.yaml');
    await writeFile(file, queries);
    prometheus = await startPrometheus();
    source = await open({ 'prometheus-url': prometheus.url, 'prometheus-queries': file });
    const clock = new FakeClock();
    cluster = await startCluster({
      clock,
      autoscaling: {
        metricSource: {
          queries: source.queries,
          // Prometheus uses the machine's time.
          ask: (query) => clock.elsewhere(source.ask(query)),
        },
      },
    });
    await cluster.addNode('n1');
  });
  after(async () => {
    await cluster?.stop();
    await opened.disposeAsync();
    await prometheus?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const read = async (name: string) => {
    const hpa = await cluster.get(horizontalPodAutoscalerResource, name);
    assert.ok(hpa);
    return hpa;
  };
  const active = async (name: string) =>
    (await read(name)).status?.conditions?.find(({ type }) => type === 'ScalingActive');
  const pods = async (name: string) => {
    const all = await cluster.list(podResource, 'default');
    return all
      .filter((pod) => pod.metadata.labels?.app === name && podReady(pod))
      .map((pod) => pod.metadata.name);
  };
  const has = (name: string, count: number) =>
    cluster.eventually(`${count} pods of ${name}`, async () => {
      const all = await pods(name);
      return all.length === count && all;
    });
  const target = async (name: string, replicas: number) => {
    const labels = { app: name };
    const draft = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace: 'default' },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
      },
    };
    await cluster.client.resource(deploymentResource).create(draft as unknown as Draft<Deployment>);
    return has(name, replicas);
  };
  const autoscale = async (name: string, ...metrics: MetricSpec[]) => {
    const draft = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name, namespace: 'default' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
        minReplicas: 1,
        maxReplicas: 8,
        metrics,
        behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
      },
    };
    await cluster.client
      .resource(horizontalPodAutoscalerResource)
      .create(draft as unknown as Draft<HorizontalPodAutoscaler>);
  };
  /** Returns the message of the condition when the condition is not active. */
  const trouble = (name: string) =>
    cluster.eventually(`trouble of ${name}`, async () => {
      const condition = await active(name);
      return condition?.status === 'False' && `${condition.reason}: ${condition.message}`;
    });

  it('scale by a metric of their pods, up and down, and not by the metric of other pods', async () => {
    const [a, b] = await target('web', 2);
    const series = (value: number) => [
      `requests{namespace="default",pod="${a}",path="/a"} ${value / 2}`,
      `requests{namespace="default",pod="${a}",path="/b"} ${value / 2}`,
      `requests{namespace="default",pod="${b}",path="/a"} ${value}`,
      `requests{namespace="other",pod="${a}"} 1000`,
      'requests{namespace="default",pod="elsewhere"} 1000',
    ];
    await prometheus.says(series(20));
    await autoscale('web', ofPods('requests', '10'));
    await has('web', 4);
    const { status } = await read('web');
    assert.deepEqual(status?.currentMetrics, [
      { type: 'Pods', pods: { metric: { name: 'requests' }, current: { averageValue: '20' } } },
    ]);
    const events = await cluster.list(eventResource, 'default');
    assert.ok(
      events.some(({ message }) => message === 'New size: 4; reason: pods metric requests above target'),
    );
    // The new pods report nothing yet: they count as being at their target.
    await prometheus.says(series(1));
    await has('web', 3);
  });

  it('scale by a query of the administrator, by an object metric and by an external metric; the highest result is used', async () => {
    await target('shop', 1);
    const [pod] = await pods('shop');
    await prometheus.says([
      `requests{namespace="default",pod="${pod}"} 30`,
      'hits{namespace="default",service="shop"} 40',
      'hits{namespace="default",service="other"} 4000',
      'jobs{namespace="default",queue="a"} 2',
      'jobs{namespace="other",queue="a"} 3',
      'jobs{namespace="other",queue="b"} 300',
    ]);
    await autoscale(
      'shop',
      ofPods('half', '10'),
      ofService('hits', 'shop', '10'),
      external('everywhere', '1', { matchLabels: { queue: 'a' } }),
    );
    await has('shop', 5);
    const { status } = await read('shop');
    assert.deepEqual(
      status?.currentMetrics?.map(({ pods: own, object, external: outside }) => {
        const current = (own ?? object ?? outside)?.current;
        return current?.value ?? current?.averageValue;
      }),
      ['15', '40', '5'],
    );
  });

  it('send no query beyond their rights for any name of the metric', async () => {
    await target('hostile', 1);
    const hostile = ['x"} or vector(1e9) or {a="', 'x\\', '\n', '`', '\u0000', '{{', '$selector', '.*', 'é'];
    await prometheus.says(['jobs{namespace="other",queue="a"} 3']);
    for (const [index, text] of hostile.entries()) {
      const name = `hostile${index}`;
      await target(name, 1);
      const selector = {
        matchLabels: { queue: text },
        matchExpressions: [{ key: 'queue', operator: 'In', values: [text, '.+'] }],
      };
      await autoscale(name, external('jobs', '1', selector), external('everywhere', '1', selector));
      assert.match(
        await trouble(name),
        /: no metrics returned from external metrics API$/,
        JSON.stringify(text),
      );
    }
  });

  const unknown: [string, MetricSpec, RegExp][] = [
    [
      'nothing',
      ofPods('absent', '1'),
      /^FailedGetPodsMetric: .*: no metrics returned from custom metrics API$/,
    ],
    ['no number', external('nothing', '1'), /^FailedGetExternalMetric: .*: its value is NaN$/],
    ['an error', external('wrong', '1'), /Prometheus answered 422, execution: .*duplicate series/],
    ['lines without pods', ofPods('nameless', '1'), /its query must answer with the label pod/],
    [
      'of another namespace',
      ofService('hits', 'x', '1'),
      /no metrics returned from custom metrics API on Service default\/x$/,
    ],
  ];
  for (const [what, metric, expected] of unknown)
    it(`report that the answer is ${what}, and do not scale`, async () => {
      const name = `unknown-${unknown.findIndex(([one]) => one === what)}`;
      const [pod] = await target(name, 1);
      await prometheus.says([
        'jobs{namespace="default",queue="a"} 1',
        'jobs{namespace="default",queue="b"} 1',
        `requests{namespace="default",pod="${pod}",a="1"} 1`,
        `requests{namespace="default",pod="${pod}",a="2"} 1`,
        'hits{namespace="other",service="x"} 1000',
      ]);
      await autoscale(name, metric);
      assert.match(await trouble(name), expected);
      assert.equal((await pods(name)).length, 1);
    });

  it('report that Prometheus hangs, and continue when it answers again', async () => {
    await target('patient', 1);
    await prometheus.says(['jobs{namespace="default"} 1']);
    prometheus.freeze();
    try {
      await autoscale('patient', external('jobs', '1'));
      assert.match(await trouble('patient'), /Prometheus at http:\S+ does not answer: nothing within 5 s$/);
    } finally {
      prometheus.thaw();
    }
    await prometheus.says(['jobs{namespace="default"} 3']);
    await has('patient', 3);
  });

  it('report a foreign authority and a closed port, and send the token to no other server', async () => {
    const now = Date.now();
    const authority = await createAuthority('authority', now - day, now + day);
    const identity = await issueCertificate(authority, {
      commonName: 'prometheus',
      hosts: ['127.0.0.1'],
      notBefore: now - day,
      notAfter: now + day,
      usages: ['server'],
    });
    const other = await createAuthority('other', now - day, now + day);
    const file = async (name: string, content: string) => {
      const path = join(directory, name);
      await writeFile(path, content, { mode: 0o600 });
      return path;
    };
    const [ca, wrong, token] = await Promise.all([
      file('ca.crt', authority.certificate),
      file('other.crt', other.certificate),
      file('token', 'secret-1\n'),
    ]);
    const seen: string[] = [];
    const server = createServer({ key: identity.key, cert: identity.certificate }, (request, answer) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      answer.writeHead(302, { location: 'http://192.0.2.1/' }).end('elsewhere');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    opened.defer(() => void server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/base/`;
    const right = { 'prometheus-url': url, 'prometheus-ca': ca, 'prometheus-token-file': token };
    const asked = await open(right);
    await assert.rejects(asked.ask('up'), /Prometheus answered 302, but not with JSON/);
    // Replaces the token, as a renewal does.
    await writeFile(token, 'secret-2\n');
    await assert.rejects(asked.ask('up'), /302/);
    assert.deepEqual(seen, [
      'POST /base/api/v1/query Bearer secret-1',
      'POST /base/api/v1/query Bearer secret-2',
    ]);
    await assert.rejects(
      (await open({ ...right, 'prometheus-ca': wrong })).ask('up'),
      /does not answer: .*certificate/,
    );
    await assert.rejects(
      (await open({ 'prometheus-url': url })).ask('up'),
      /does not answer: its certificate is not signed by the given authority/,
    );
    await assert.rejects(
      (await open({ 'prometheus-url': 'http://127.0.0.1:1' })).ask('up'),
      /connection refused/,
    );
    assert.equal(seen.length, 2);
    const refused: [object, RegExp][] = [
      [{ 'prometheus-ca': ca }, /--prometheus-ca needs --prometheus-url/],
      [
        { ...right, 'prometheus-url': 'http://192.0.2.1:9090', 'prometheus-ca': undefined },
        /needs an https URL/,
      ],
      [{ ...right, 'prometheus-url': 'http://127.0.0.1:9090' }, /--prometheus-ca needs an https URL/],
      [{ ...right, 'prometheus-token-file': '/nowhere' }, /cannot read \/nowhere/],
      [{ ...right, 'prometheus-queries': '/nowhere' }, /cannot read \/nowhere/],
    ];
    for (const [settings, expected] of refused) await assert.rejects(open(settings), expected);
    await chmod(token, 0o644);
    await assert.rejects(open(right), /users other than its owner may read/);
  });
});
