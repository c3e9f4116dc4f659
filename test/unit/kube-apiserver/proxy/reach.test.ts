/** Backends of requests for /proxy, and the errors when there is none. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startTestServer } from '../../../fixtures/api-server.ts';
import { LaggingStore } from '../../../fixtures/lagging-store.ts';
import { Agents } from '../subresources/agents.ts';
import { Backend, type Echoed, echo, namespace } from './backend.ts';

const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const sliceOf = (service: string, name: string, port: number, pod = 'web') => ({
  metadata: { name, labels: { 'kubernetes.io/service-name': service } },
  addressType: 'IPv4',
  endpoints: [
    {
      addresses: ['10.0.0.1'],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', namespace: 'default', name: pod },
    },
  ],
  ports: [{ name: '', port }],
});

let backend: Backend;
before(async () => {
  backend = await Backend.start();
  const { agents } = backend;
  for (const name of ['web', 'lonely'])
    await agents.create(`${namespace}/services`, { metadata: { name }, spec: { ports: [{ port: 80 }] } });
  await agents.create(slices, sliceOf('web', 'web-1', 9000));
  await agents.create(slices, sliceOf('other', 'other-1', 9001));
  await agents.create('/api/v1/nodes', {
    metadata: { name: 'n1' },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    },
  });
});
after(() => backend.stop());
beforeEach(() => {
  backend.handle = echo;
  backend.overPlainText();
  backend.agents.asked.length = 0;
  backend.connections.length = 0;
});

test('a Service is resolved to the pod of one of its own endpoints', async () => {
  for (const id of ['web', 'web:80', 'http:web:']) {
    const answer = await backend.agents.ask(`${namespace}/services/${id}/proxy/x`);
    assert.equal(((await answer.json()) as Echoed).url, '/x');
  }
  assert.deepEqual(
    backend.agents.asked.map(({ path }) => path),
    Array(3).fill('/connect/default/web/9000'),
  );
});

test('a node leads to its agent, over its registered address', async () => {
  for (const id of ['n1', 'n1:10250', 'https:n1:']) {
    const answer = await backend.agents.ask(`/api/v1/nodes/${id}/proxy/pods`);
    assert.equal(((await answer.json()) as Echoed).url, '/pods');
  }
  assert.deepEqual(backend.agents.asked, []);
  backend.handle = (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:10250/x' }).end();
  const moved = await backend.agents.ask('/api/v1/nodes/n1/proxy/');
  // The address in the agent's own redirect is not one that leads through the proxy.
  assert.equal(moved.headers.get('location'), 'http://127.0.0.1:10250/x');
});

test('a pod that was just created is reached, even if the cache does not show it', async () => {
  let lagging: LaggingStore | undefined;
  const agents = await Agents.start({
    wrapStore: (store) => {
      lagging = new LaggingStore(store);
      return lagging.store;
    },
  });
  const make = async (path: string, body: object) => {
    lagging?.holdEvents();
    await agents.create(path, body);
  };
  const refusals = [];
  for (const [path, collection, body] of [
    [
      `${namespace}/pods/late/proxy/`,
      `${namespace}/pods`,
      { spec: { containers: [{ name: 'c', image: 'i' }] } },
    ],
    [`${namespace}/services/late/proxy/`, `${namespace}/services`, { spec: { ports: [{ port: 80 }] } }],
    ['/api/v1/nodes/late:22/proxy/', '/api/v1/nodes', {}],
  ] as const) {
    await make(collection, { metadata: { name: 'late' }, ...body });
    const refusal = agents.refusal(path);
    await agents.server.clock.settle();
    lagging?.releaseEvents();
    refusals.push(await refusal);
  }
  // All objects were found: only an address is missing.
  assert.deepEqual(refusals, [
    '400 address not allowed',
    '503 no endpoints available for service "late"',
    '400 address not allowed',
  ]);
  await agents.server.stop();
});

describe('no backend is reached', () => {
  const web = `${namespace}/pods/web/proxy/`;
  const secure = `${namespace}/pods/https:web:443/proxy/`;
  const trouble = '503 error trying to reach service: ';

  for (const [path, refusal] of [
    [`${namespace}/pods/ftp:web:1/proxy/`, '400 invalid pod request "ftp:web:1"'],
    [`${namespace}/services/ftp:web:1/proxy/`, '400 invalid service request "ftp:web:1"'],
    ['/api/v1/nodes/ftp:n1:1/proxy/', '400 invalid node request "ftp:n1:1"'],
    [`${namespace}/pods/none/proxy/`, '404 pods "none" not found'],
    [`${namespace}/services/none/proxy/`, '404 services "none" not found'],
    ['/api/v1/nodes/none/proxy/', '404 nodes "none" not found'],
    [`${namespace}/services/lonely/proxy/`, '503 no endpoints available for service "lonely"'],
    // A node whose address is the master's own machine must not be reached.
    ['/api/v1/nodes/n1:22/proxy/', '400 address not allowed'],
  ] as const)
    test(`by ${path}`, async () => {
      assert.equal(await backend.agents.refusal(path), refusal);
    });

  test('when the agent refuses, with its reason', async () => {
    backend.agents.agree = async () => new Response(` ${'x'.repeat(1001)}\n`, { status: 502 });
    assert.equal(await backend.agents.refusal(web), `${trouble}${'x'.repeat(1000)}`);
    backend.agents.agree = async () => new Response('connection refused\n', { status: 502 });
    assert.equal(await backend.agents.refusal(web), `${trouble}connection refused`);
  });

  test('by a server without agents', async () => {
    const refusal = '503 this server is not connected to the node agents';
    const none = await startTestServer();
    const pod = {
      metadata: { name: 'web' },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
    };
    await none.call('POST', `${namespace}/pods`, pod);
    const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
    await none.call('PATCH', `${namespace}/pods/web/status`, { status: { podIP: '10.0.0.1' } }, merge);
    await none.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
    for (const path of [web, '/api/v1/nodes/n1/proxy/']) {
      const answer = await none.call('GET', path);
      assert.equal(`${answer.status} ${answer.json<{ message: string }>().message}`, refusal);
    }
    await none.stop();
  });

  test('when the backend hangs up', async () => {
    backend.handle = (request) => void request.socket.destroy();
    assert.equal(await backend.agents.refusal(web), `${trouble}socket hang up`);
  });

  for (const status of ['000', '600', '999'])
    test(`when it answers ${status}`, async () => {
      backend.overBytes(`HTTP/1.1 ${status} What\r\ncontent-length: 0\r\n\r\n`);
      assert.equal(
        await backend.agents.refusal(web),
        `${trouble}it answered with the status ${Number(status)}`,
      );
      // The client does not read the answer any more.
      const [connection] = backend.connections.splice(0);
      if (connection && !connection.destroyed) await once(connection, 'close');
    });

  test('when it does not speak HTTP', async () => {
    backend.overBytes('hello\n');
    assert.match(await backend.agents.refusal(web), /^503 error trying to reach service: Parse Error/);
  });

  test('except by its last status', async () => {
    backend.overBytes('HTTP/1.1 599 What\r\ncontent-length: 0\r\n\r\n');
    assert.equal((await backend.agents.ask(web)).status, 599);
  });

  test('when it does not speak TLS', async () => {
    backend.overBytes('hello\n');
    assert.match(await backend.agents.refusal(secure), /^503 error trying to reach service: .*wrong version/);
  });

  test('when it sends nothing for half a minute', async () => {
    const [near, far] = duplexPair();
    backend.agents.agree = async () => ({ headers: {}, socket: near });
    const { clock } = backend.agents.server;
    let answered = false;
    const refusal = backend.agents.refusal(secure).finally(() => {
      answered = true;
    });
    await once(far, 'data');
    await clock.advance(29_999);
    assert.equal(answered, false);
    await clock.advance(1);
    assert.equal(await refusal, `${trouble}no connection within 30000 ms`);
    assert.equal(near.destroyed, true);
  });

  test('once the client has disconnected', async () => {
    const [near, far] = duplexPair();
    backend.agents.agree = async () => ({ headers: {}, socket: near });
    const { clock } = backend.agents.server;
    const before = clock.pending;
    const client = new AbortController();
    const asked = backend.agents.ask(secure, { signal: client.signal });
    await once(far, 'data');
    client.abort();
    assert.ok((await asked).status >= 400);
    assert.deepEqual([near.destroyed, clock.pending], [true, before]);
  });
});

test('a connection that is closed before its use is reported as closed', async () => {
  backend.agents.agree = async () => {
    const [near] = duplexPair();
    near.destroy();
    await once(near, 'close');
    return { headers: {}, socket: near };
  };
  assert.equal(
    await backend.agents.refusal(`${namespace}/pods/web/proxy/`),
    '503 error trying to reach service: the connection was closed',
  );
});
