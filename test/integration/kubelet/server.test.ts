/** The agent's own server: over real TLS, with a simulated engine behind it. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { systemClock } from '../../../src/base/clock.ts';
import { replaceable } from '../../../src/base/current.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { ContainerConfig } from '../../../src/kubelet/runtime/container-config.ts';
import type { ContainerState } from '../../../src/kubelet/runtime/runtime.ts';
import { Access } from '../../../src/kubelet/server/access.ts';
import { serveKubelet } from '../../../src/kubelet/server/server.ts';
import { openCredentials } from '../../../src/pki/credentials.ts';
import type { KeyAndCertificate } from '../../../src/pki/x509.ts';
import { reportSources } from '../../fixtures/agent-reports.ts';
import { attribute, clientCertificate, name, newKey } from '../../fixtures/der.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { SimulatedRuntime } from '../../fixtures/simulated-runtime.ts';
import { makePod, reference } from '../../unit/kubelet/builders.ts';
import { type AccessCluster, accessCluster } from './access-cluster.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
}

describe('node agent server', () => {
  const runtime = new SimulatedRuntime({
    clock: systemClock,
    random: new SeededRandom(1),
    images: new Map(),
  });
  const stop = new AbortController();
  const pod = makePod({ initContainers: [{ name: 'first', image: 'app:1' }] });
  let directory = '';
  let port = 0;
  let running: Promise<void>;
  let renew: (commonName: string) => Promise<void>;
  let id = '';
  let own: RequestOptions;
  let stranger: RequestOptions;
  let member: RequestOptions;
  let authority: KeyAndCertificate;
  let api: AccessCluster;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'minik8s-server-'));
    const credentials = await openCredentials(join(directory, 'pki'), Date.now);
    const others = await openCredentials(join(directory, 'others'), Date.now);
    authority = credentials.authority;
    const server = (commonName: string) =>
      credentials.leaf({
        file: 's',
        commonName,
        organizations: [],
        hosts: ['127.0.0.1', '127.0.0.2'],
        usages: ['server'],
      });
    const identity = replaceable<KeyAndCertificate | undefined>(undefined);
    renew = async (commonName) => identity.replace(await server(commonName));
    const client = async (from: typeof credentials, organizations: string[]) => {
      const leaf = await from.leaf({
        file: organizations[0] ?? 'c',
        commonName: 'x',
        organizations,
        hosts: [],
        usages: ['client'],
      });
      return { ca: credentials.authority.certificate, cert: leaf.certificate, key: leaf.key };
    };
    api = await accessCluster();
    own = await client(credentials, ['system:masters']);
    member = await client(credentials, ['system:nodes']);
    stranger = await client(others, ['system:masters']);
    const sandbox = await runtime.runSandbox({ ip: '10.0.0.1', hostname: 'web' });
    const config = { pod: reference, name: 'main', sandboxId: sandbox.id, attempt: 0 };
    id = await runtime.createContainer(config as ContainerConfig);
    await runtime.startContainer(id);
    const containers = async () => [(await runtime.inspect(id)) as ContainerState];
    let seen = await containers();
    const { promise: listening, resolve } = Promise.withResolvers<number>();
    running = serveKubelet(
      {
        hosts: ['127.0.0.1', '127.0.0.2'],
        port: 0,
        tls: { identity, clientCA: credentials.authority.certificate },
        access: new Access({ client: api.client, clock: systemClock, log: silentLogger, nodeName: 'node-1' }),
        reports: { ...reportSources(() => [pod]), doctor: async () => ({ time: 7 }) },
        runtime,
        clock: systemClock,
        log: silentLogger,
        pods: () => [pod],
        nodeIP: '127.0.0.1',
        observe: () => ({ sandboxes: [sandbox], containers: seen }),
        onListening: resolve,
      },
      stop.signal,
    );
    await renew('node');
    port = await listening;
    seen = await containers();
  });
  after(async () => {
    stop.abort();
    await running;
    await api.stop();
    await rm(directory, { recursive: true });
  });

  function get(path: string, as: RequestOptions = own, method = 'GET', onStart = (_type?: string) => {}) {
    return new Promise<Answer>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, method, agent: false, ...as }, (response) => {
        onStart(response.headers['content-type']);
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  const unauthorized = { status: 401, text: 'Unauthorized' };
  const nameless = () => ({ ca: own.ca });
  const holding = (token: string) => ({ ...nameless(), headers: { authorization: `Bearer ${token}` } });

  it('sends the report of doctor only to clients with all rights to nodes/proxy', async () => {
    assert.deepEqual(await get('/doctor'), { status: 200, text: '{"time":7}' });
    assert.equal((await get('/doctor?address=192.0.2.1')).text, '{"time":7}');
    assert.equal((await get('/doctor', own, 'POST')).status, 405);
    assert.equal((await get('/doctor', member)).status, 403);
    assert.deepEqual(await get('/doctor', nameless()), unauthorized);
  });

  it('answers at each of its addresses, and requires a certificate there too', async () => {
    for (const host of ['127.0.0.1', '127.0.0.2']) {
      assert.equal((await get('/healthz', { ...own, host })).status, 200, host);
      assert.deepEqual(await get('/healthz', { ...nameless(), host }), unauthorized, host);
    }
  });

  it('rejects clients without a certificate of the cluster or a token', async () => {
    for (const path of ['/healthz', '/pods', '/none', '/containerLogs/shop/web/main', '/metrics/resource']) {
      assert.deepEqual(await get(path, nameless()), unauthorized);
      assert.deepEqual(await get(path, stranger), unauthorized);
      assert.deepEqual(await get(path, holding('nobody')), unauthorized);
    }
  });

  it('gives a client with a token only the access of its role', async () => {
    assert.equal((await get('/metrics/resource', holding('metrics'))).status, 200);
    assert.equal((await get('/metrics', holding('metrics'))).status, 200);
    assert.deepEqual(await get('/stats/summary', holding('metrics')), {
      status: 403,
      text: 'Forbidden (user=metrics, verb=get, resource=nodes, subresource(s)=[stats])',
    });
    assert.equal((await get('/containerLogs/shop/web/main', holding('metrics'))).status, 403);
    assert.equal((await get('/metrics/resource', holding('metrics'), 'POST')).status, 403);
    assert.equal((await get('/pods', holding('pods'))).status, 200);
    assert.equal((await get('/healthz', holding('pods'))).status, 403);
    // The role for all paths without a subresource of their own.
    for (const path of ['/pods', '/runningpods/', '/healthz', '/configz', '/containerLogs/shop/web/main'])
      assert.equal((await get(path, holding('proxy'))).status, 200, path);
    assert.equal((await get('/metrics', holding('proxy'))).status, 403);
  });

  it('authorizes the path that is served, however it is spelled', async () => {
    for (const path of [
      '/metrics/../pods',
      '/metrics/%2e%2e/pods',
      '//metrics/pods',
      '/x/../pods',
      '/metrics\\..\\pods',
    ])
      assert.notEqual((await get(path, holding('metrics'))).status, 200, path);
    assert.deepEqual(await get('/%', own), { status: 400, text: 'the URL cannot be read' });
  });

  it('sends one review of each token and each access to the API server', async () => {
    const before = api.asked();
    for (let times = 0; times < 5; times++) await get('/metrics/resource', holding('often'));
    assert.deepEqual(api.asked() - before, 2, 'one review of the token and one of the access');
    await Promise.all(Array.from({ length: 20 }, () => get('/metrics', holding('metrics'))));
    assert.equal(api.asked() - before, 2);
  });

  it('rejects all clients while the API server is unreachable, except the API server itself', async () => {
    api.goAway();
    try {
      const { status, text } = await get('/metrics/resource', holding('late'));
      assert.equal(status, 500);
      assert.match(text, /cannot decide which user a token belongs to/);
      assert.equal((await get('/healthz')).status, 200);
    } finally {
      api.comeBack();
    }
    assert.equal((await get('/metrics/resource', holding('late'))).status, 200);
  });

  it('rejects a certificate whose name is ambiguous, whatever its group', async () => {
    const masters = attribute('O', 'system:masters');
    const status = async (commonName: string) => {
      const key = newKey();
      const named = name([masters], [attribute('CN', commonName)]);
      const cert = clientCertificate(authority, named, key, Date.now());
      return (await get('/healthz', { ca: own.ca, cert, key: key.export({ type: 'pkcs8', format: 'pem' }) }))
        .status;
    };
    assert.equal(await status('kube-apiserver'), 200);
    assert.equal(await status('kube-apiserver\0.example'), 401);
    assert.equal(await status('a\nO=b'), 401);
  });

  it('presents a renewed certificate to new connections, and still requires certificates of clients', async () => {
    const shown = () =>
      new Promise((resolve, reject) => {
        const sent = request(
          { host: '127.0.0.1', port, path: '/healthz', agent: false, ...own },
          (response) => {
            resolve((response.socket as TLSSocket).getPeerCertificate().subject.CN);
            response.resume();
          },
        );
        sent.on('error', reject).end();
      });
    assert.equal(await shown(), 'node');
    await renew('renewed');
    assert.equal(await shown(), 'renewed');
    assert.deepEqual(await get('/healthz', nameless()), unauthorized);
    assert.deepEqual(await get('/healthz', stranger), unauthorized);
  });

  it('refuses a certificate without the right group', async () => {
    assert.equal((await get('/pods', member)).status, 403);
  });

  it('answers with its health and its pods', async () => {
    assert.deepEqual(await get('/healthz'), { status: 200, text: 'ok' });
    const list = JSON.parse((await get('/pods')).text);
    assert.equal(list.kind, 'PodList');
    assert.equal(list.items[0].metadata.name, 'web');
  });

  it('sends a log, or a part of it', async () => {
    for (const line of ['one', 'two', 'three']) runtime.print(id, line);
    const log = '/containerLogs/shop/web/main';
    assert.deepEqual(await get(log), { status: 200, text: 'one\ntwo\nthree\n' });
    assert.equal((await get(`${log}?tailLines=1`)).text, 'three\n');
    assert.equal((await get(`${log}?limitBytes=6`)).text, 'one\ntw');
    assert.match((await get(`${log}?timestamps=true&tailLines=1`)).text, /^\d{4}-.*Z three\n$/);
    assert.equal((await get(`${log}?sinceTime=2999-01-01T00:00:00Z`)).text, '');
  });

  for (const [path, status, message] of [
    ['/containerLogs/shop/web/other', 400, 'container other is not valid for pod web'],
    [
      '/containerLogs/shop/web/first',
      400,
      'container "first" in pod "web" is waiting to start: PodInitializing',
    ],
    ['/containerLogs/shop/none/main', 404, 'pod "none" not found in namespace "shop"'],
    [
      '/containerLogs/shop/web/main?previous=true',
      400,
      'previous terminated container "main" in pod "web" not found',
    ],
    ['/containerLogs/shop/web/main?tailLines=x', 400, 'tailLines: "x" is not a whole number of at least 0'],
    ['/containerLogs/shop/web/main?sinceTime=x', 400, 'sinceTime: "x" is not a time; write RFC 3339'],
    ['/none', 404, 'page not found'],
  ] as const) {
    it(`refuses ${path}`, async () => assert.deepEqual(await get(path), { status, text: message }));
  }

  it('refuses a query of more than 10,000 parameters', async () => {
    const text = 'the query has more than 10000 parameters';
    assert.deepEqual(await get(`/healthz?${'a&'.repeat(10_001)}`), { status: 414, text });
    assert.equal((await get(`/healthz?${'a&'.repeat(9_999)}`)).status, 200);
  });

  it('refuses methods that write', async () => {
    assert.equal((await get('/pods', own, 'POST')).status, 405);
  });

  it('follows a log until the container ends', async () => {
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const following = get('/containerLogs/shop/web/main?follow=true&tailLines=0', own, 'GET', () =>
      resolve(),
    );
    await started;
    runtime.print(id, 'late');
    runtime.exit(id, 0);
    assert.deepEqual(await following, { status: 200, text: 'late\n' });
  });
});
