/** Answers whose body is complete when they are sent: over HTTP/1.1, and over the HTTP/2 of agents. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type RequestOptions, request } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { Hono } from 'hono';
import type { ApiServer } from '../../../src/apiserver/app.ts';
import { listenHttps } from '../../../src/apiserver/transport/serve.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { replaceable } from '../../../src/base/current.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { createHttp2Transport } from '../../../src/client/http2-transport.ts';
import { issueCertificate } from '../../../src/pki/x509.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
/** More than one DATA frame of HTTP/2. */
const data = { text: 'ü'.repeat(20_000) };

describe('a complete answer', () => {
  let server: HttpsTestServer;
  let tls: { readonly ca: string; readonly key: string; readonly cert: string };
  before(async () => {
    server = await startHttpsTestServer();
    const { key, certificate } = await server.clientCertificate('admin', ['system:masters']);
    tls = { ca: server.authority.certificate, key, cert: certificate };
    assert.equal((await server.call('POST', maps, { metadata: { name: 'large' }, data })).status, 201);
  });
  after(() => server.stop());

  const ask = async (path: string, options: RequestOptions = {}) => {
    const outgoing = request({ host: '127.0.0.1', port: server.port, path, ...tls, ...options });
    outgoing.end();
    const [response] = await once(outgoing, 'response');
    const port: number = response.socket.localPort;
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const { statusCode: status, headers } = response;
    return { status, headers, body: Buffer.concat(chunks), port };
  };

  it('has a length, and leaves the connection usable for the next', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ...tls });
    const ports = new Set<number>();
    for (const [path, status, expected] of [
      [`${maps}/large`, 200, /ü{20000}/],
      [`${maps}/large?resourceVersion=0`, 200, /ü{20000}/],
      [`${maps}/%C3%BC`, 404, /configmaps \\"ü\\" not found/],
      [maps, 200, /ConfigMapList.*ü{20000}/],
      ['/version', 200, /gitVersion/],
      ['/livez', 200, /^ok$/],
      ['/nope', 404, /404 page not found/],
    ] as const) {
      const { port, headers, body, ...answer } = await ask(path, { agent });
      ports.add(port);
      assert.equal(answer.status, status, path);
      assert.match(body.toString(), expected);
      assert.equal(headers['content-length'], String(body.length), path);
      assert.equal(headers['transfer-encoding'], undefined);
      assert.equal(headers['x-hono-already-sent'], undefined);
    }
    assert.equal(ports.size, 1);
    agent.destroy();
  });

  it('has no body for HEAD', async () => {
    for (const path of [`${maps}/large`, `${maps}/none`, '/livez']) {
      const { status, body } = await ask(path, { method: 'HEAD' });
      assert.equal(status, path.endsWith('none') ? 404 : 200);
      assert.equal(body.length, 0);
    }
  });

  it('is complete on the connection of an agent', async () => {
    const url = `https://127.0.0.1:${server.port}`;
    const transport = createHttp2Transport({ server: url, ...tls, clock: systemClock });
    for (const [path, status, expected] of [
      [`${maps}/large`, 200, /ü{20000}/],
      [`${maps}/%C3%BC`, 404, /configmaps \\"ü\\" not found/],
    ] as const) {
      const answer = await transport.request({ method: 'GET', path });
      assert.equal(answer.status, status);
      const chunks: Uint8Array[] = [];
      for await (const chunk of answer.body) chunks.push(chunk);
      assert.match(Buffer.concat(chunks).toString(), expected);
    }
    transport.close();
  });

  it('is not considered sent because of a header of a backend', async () => {
    const { authority } = server;
    const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
    const identity = await issueCertificate(authority, {
      commonName: 'kube-apiserver',
      hosts: ['127.0.0.1'],
      usages: ['server'],
      ...validity,
    });
    const app = new Hono();
    app.all('*', () => new Response(null, { status: 204, headers: { 'X-Hono-Already-Sent': 'true' } }));
    const stop = new AbortController();
    const { port, closed } = await listenHttps({
      app: app as unknown as ApiServer['app'],
      address: '127.0.0.1',
      port: 0,
      tls: { identity: replaceable(identity), clientCA: authority.certificate },
      signal: stop.signal,
      clock: systemClock,
      log: silentLogger,
    });
    assert.equal((await ask('/', { port, agent: false })).status, 204);
    stop.abort();
    await closed;
  });

  it('can be the answer to an impersonated user', async () => {
    assert.equal((await ask(maps, { headers: { 'Impersonate-User': 'bob' } })).status, 403);
    assert.equal((await ask('/version', { headers: { 'impersonate-GROUP': 'x' } })).status, 400);
  });
});
