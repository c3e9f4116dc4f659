/**
 * A real Prometheus discovers its targets with both shipped configurations: by Kubernetes watches and by the
 * lists for http_sd. Both find the same targets and follow changes.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { bearerTokenAuthenticator } from '../../../src/apiserver/authentication/bearer-token.ts';
import { hostAddress } from '../../../src/roles/host-address.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessPrometheus } from '../../fixtures/prometheus.ts';
import { type ShippedPrometheus, startShippedPrometheus } from '../../fixtures/shipped-prometheus.ts';
import { applyAccess } from './apply-access.ts';

const token = 'a-token-of-prometheus';
const user = { name: 'system:serviceaccount:monitoring:prometheus', groups: ['system:authenticated'] };

describe('discovery by Prometheus', { skip: unlessPrometheus, timeout: 300_000 }, () => {
  let server: HttpsTestServer;
  let page: Server;
  let address: string;
  let port: number;
  const both: ShippedPrometheus[] = [];
  before(async () => {
    page = createServer((request, answer) => {
      answer.setHeader('content-type', 'text/plain; version=0.0.4');
      answer.end(`pages_read{of="${request.url}"} 1\n`);
    });
    // The endpoint of a Service is never loopback.
    address = await hostAddress();
    await once(page.listen(0, address), 'listening');
    ({ port } = page.address() as AddressInfo);
    server = await startHttpsTestServer({
      authenticate: bearerTokenAuthenticator(() => [{ token, user }], Date.now),
    });
    await applyAccess((path, body) => made(path, body));
    for (const file of ['prometheus.yml', 'prometheus-http-sd.yml'] as const) {
      const authority = server.authority.certificate;
      both.push(await startShippedPrometheus({ file, server: `127.0.0.1:${server.port}`, token, authority }));
    }
  });
  after(async () => {
    for (const one of both) await one.stop();
    await server.stop();
    page.close();
  });

  const made = async (path: string, body: object) => {
    const answer = await server.call('POST', path, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<{ metadata: { name: string } }>();
  };
  const pods = '/api/v1/namespaces/default/pods';
  async function makePod(name: string, annotations: object, ports: readonly object[]) {
    const metadata = { name, annotations, labels: { app: name } };
    const containers = [{ name: 'main', image: 'i:1', ports }];
    const pod = await made(pods, { metadata, spec: { nodeName: 'n1', containers } });
    const status = { phase: 'Running', podIP: address, podIPs: [{ ip: address }] };
    const put = await server.call('PUT', `${pods}/${name}/status`, { ...pod, status });
    assert.equal(put.status, 200, put.text);
  }
  async function makeService(name: string, annotations: object) {
    await made('/api/v1/namespaces/default/services', {
      metadata: { name, annotations },
      spec: { ports: [{ port: 80 }] },
    });
    await made('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
      metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: 'web', port }],
      endpoints: [
        {
          addresses: [address],
          nodeName: 'n1',
          targetRef: { kind: 'Pod', name: 'annotated', namespace: 'default' },
        },
      ],
    });
  }

  /** Waits until the condition is true for both, each independently. */
  async function until(what: string, isSo: (one: ShippedPrometheus) => Promise<boolean>) {
    for (const one of both) {
      const end = Date.now() + 90_000;
      while (!(await isSo(one).catch(() => false))) {
        const known = await one.targets().catch(String);
        if (Date.now() > end) assert.fail(`${what}: ${JSON.stringify(known)}`);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  }
  const scraped = async (one: ShippedPrometheus, pool: string) =>
    (await one.targets()).filter(({ scrapePool }) => scrapePool === pool);

  it('is the same for both configurations, with the labels that dashboards use', async () => {
    const node = await made('/api/v1/nodes', { metadata: { name: 'n1' } });
    await server.call('PUT', '/api/v1/nodes/n1/status', {
      ...node,
      status: {
        addresses: [{ type: 'InternalIP', address: '192.0.2.7' }],
        daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      },
    });
    const path = { 'prometheus.io/path': '/of/its/own', 'prometheus.io/param_of': 'all' };
    const annotated = { 'prometheus.io/scrape': 'true', 'prometheus.io/port': String(port), ...path };
    await makePod('annotated', annotated, [{ containerPort: 1, name: 'web' }]);
    await makePod('ported', {}, [
      { containerPort: port, name: 'metrics' },
      { containerPort: 2, name: 'web' },
    ]);
    await makePod('unwilling', { 'prometheus.io/scrape': 'false' }, [
      { containerPort: port, name: 'metrics' },
    ]);
    await makePod('quiet', {}, [{ containerPort: port, name: 'web' }]);
    await makeService('told', { 'prometheus.io/scrape': 'true' });
    await makeService('untold', {});

    const up = async (one: ShippedPrometheus, pool: string) =>
      (await scraped(one, pool)).filter(({ health }) => health === 'up').length === 1;
    for (const pool of ['pods', 'pod-ports', 'services']) await until(pool, (one) => up(one, pool));
    await until('the node', async (one) => (await scraped(one, 'kubelet')).length === 1);
    await until('the master', async (one) => (await scraped(one, 'apiserver')).length === 1);

    const [watching, listing] = await Promise.all(
      both.map(async (one) =>
        (await one.targets())
          .map(({ scrapePool, scrapeUrl, labels }) => ({ scrapePool, scrapeUrl, labels }))
          .sort((a, b) => a.scrapePool.localeCompare(b.scrapePool)),
      ),
    );
    assert.deepEqual(watching, listing);
    const of = (pool: string) =>
      (watching ?? []).filter(({ scrapePool }) => scrapePool === pool).map(({ labels }) => labels);
    const own = { namespace: 'default', node: 'n1', instance: `${address}:${port}` };
    assert.deepEqual(of('pods'), [{ job: 'pods', pod: 'annotated', ...own }]);
    assert.deepEqual(of('pod-ports'), [{ job: 'pod-ports', pod: 'ported', container: 'main', ...own }]);
    assert.deepEqual(of('services'), [{ job: 'services', service: 'told', pod: 'annotated', ...own }]);
    const agent = { job: 'kubelet', node: 'n1', instance: 'n1' };
    assert.deepEqual(of('kubelet'), [{ ...agent, metrics_path: '/metrics' }]);
    assert.deepEqual(of('kubelet-cadvisor'), [{ ...agent, metrics_path: '/metrics/cadvisor' }]);
    assert.deepEqual(of('kube-dns'), [{ ...agent, job: 'kube-dns', metrics_path: '/metrics/dns' }]);
    assert.deepEqual(of('kube-scheduler'), [{ job: 'kube-scheduler', instance: '192.0.2.10:6443' }]);
    const urls = (watching ?? []).map(({ scrapeUrl }) => scrapeUrl);
    for (const url of [
      `http://${address}:${port}/of/its/own?of=all`,
      `https://127.0.0.1:${server.port}/api/v1/nodes/n1/proxy/metrics/probes`,
      'https://192.0.2.10:6443/metrics/controllers',
      `https://127.0.0.1:${server.port}/metrics/objects`,
    ])
      assert.ok(urls.includes(url), `${url} in ${urls.join(' ')}`);
    for (const one of both) {
      const [sample, ...more] = await one.query('pages_read{job="pods"}');
      assert.deepEqual([sample?.metric.of, more.length], ['/of/its/own?of=all', 0]);
    }
  });

  it('follows added and removed objects', async () => {
    await server.call('DELETE', `${pods}/ported?gracePeriodSeconds=0`);
    await server.call('DELETE', '/api/v1/namespaces/default/services/told');
    await server.call('DELETE', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/told-1');
    await server.call('DELETE', '/api/v1/nodes/n1');
    for (const pool of ['pod-ports', 'services', 'kubelet', 'kube-proxy'])
      await until(`${pool} vanish`, async (one) => (await scraped(one, pool)).length === 0);
    await makePod('late', {}, [{ containerPort: port, name: 'metrics' }]);
    await until('a late pod', async (one) => {
      const [late] = await scraped(one, 'pod-ports');
      return late?.labels.pod === 'late' && late.health === 'up';
    });
    await until('its numbers', async (one) => (await one.query('pages_read{pod="late"}')).length === 1);
    await until(
      'the removed target is not scraped',
      async (one) => (await one.query('pages_read{pod="ported"}')).length === 0,
    );
  });
});
