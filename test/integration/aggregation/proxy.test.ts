/** Requests for a group of an extension server, which is a real HTTPS server behind a Service. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, it } from 'node:test';
import { replaceable } from '../../../src/base/current.ts';
import { maxWaiting } from '../../../src/kube-apiserver/aggregation/aggregator.ts';
import { createAuthority, issueCertificate } from '../../../src/pki/x509.ts';
import {
  addExtensionService,
  apiService,
  type ExtensionServer,
  encoded,
  services,
  setAvailable,
  startExtensionServer,
  usualAnswer,
} from '../../fixtures/extension-server.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const name = 'v1.ext.example';
const things = '/apis/ext.example/v1/namespaces/default/things';
const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 };

describe('requests for an extension server', () => {
  let server: HttpsTestServer;
  let extension: ExtensionServer;

  before(async () => {
    const proxyAuthority = await createAuthority('front-proxy', validity.notBefore, validity.notAfter);
    const client = await issueCertificate(proxyAuthority, {
      commonName: 'front-proxy-client',
      usages: ['client'],
      ...validity,
    });
    extension = await startExtensionServer(proxyAuthority);
    server = await startHttpsTestServer({
      nodeConnection: extension.agents,
      frontProxy: { client: replaceable(client) },
    });
    await addExtensionService(server);
    const made = await server.call('POST', services, apiService({ caBundle: encoded(extension.authority) }));
    assert.equal(made.status, 201, made.text);
  });
  after(async () => {
    await server.stop();
    await extension.stop();
  });
  beforeEach(() => {
    extension.answerBy(usualAnswer);
  });

  const answer = (fn: (request: IncomingMessage, response: ServerResponse) => void) => extension.answerBy(fn);
  /** Returns the requests of clients; the server itself reads the discovery in the background. */
  const received = () =>
    extension.requests.filter(({ headers }) => headers['x-remote-user'] !== 'system:kube-aggregator');
  /** Sends a request over the network. */
  const send = async (
    path: string,
    options: { method?: string; headers?: Record<string, string>; body?: string; groups?: string[] } = {},
  ) => {
    const { key, certificate } = await server.clientCertificate('anna', options.groups ?? ['system:masters']);
    const request = httpsRequest({
      host: '127.0.0.1',
      port: server.port,
      path,
      method: options.method ?? 'GET',
      headers: options.headers ?? {},
      ca: server.authority.certificate,
      key,
      cert: certificate,
      agent: false,
    });
    request.on('error', () => undefined);
    request.end(options.body);
    return request;
  };
  const answered = async (path: string, options: Parameters<typeof send>[1] = {}) => {
    const [response] = (await once(await send(path, options), 'response')) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  };

  it('are answered with 503 until it is available', async () => {
    const found = await answered(things);
    assert.deepEqual([found.status, found.text], [503, 'service unavailable\n']);
    assert.equal(received().length, 0);
    await setAvailable(server, name);
    assert.equal((await answered('/apis/ext.example/v1')).status, 200);
  });

  it('carry the user, and no header with which the client could impersonate another user', async () => {
    answer((request, response) => response.end(JSON.stringify(request.headers)));
    const { text: seen, status } = await answered(`${things}?limit=5&a=%2F`, {
      headers: {
        'x-remote-user': 'admin',
        'X-Remote-Group': 'system:masters',
        'x-remote-extra-scopes': 'all',
        'x-remote-uid': '1',
        authorization: 'Bearer secret',
        accept: 'application/vnd.kubernetes.protobuf',
      },
    });
    assert.equal(status, 200, seen);
    const headers = JSON.parse(seen);
    assert.equal(headers['x-remote-user'], 'anna');
    assert.equal(headers['x-remote-group'], 'system:masters, system:authenticated');
    assert.equal(headers['x-remote-uid'], undefined);
    assert.equal(headers['x-remote-extra-scopes'], undefined);
    assert.equal(headers.authorization, undefined);
    assert.equal(headers.accept, 'application/vnd.kubernetes.protobuf');
    assert.equal(headers.host, 'ext.default.svc:443');
    assert.equal(received().at(-1)?.url, `${things}?limit=5&a=%2F`);
    assert.equal(extension.clients.at(-1), 'front-proxy-client');
  });

  it('carry an impersonated user with uid and extra fields', async () => {
    answer((request, response) => response.end(JSON.stringify(request.headers)));
    const { text: seen, status } = await answered(things, {
      headers: {
        'impersonate-user': 'bert',
        'impersonate-group': 'system:masters',
        'impersonate-uid': '42',
        'impersonate-extra-example.com%2Froles': 'a',
      },
    });
    assert.equal(status, 200, seen);
    const headers = JSON.parse(seen);
    assert.equal(headers['x-remote-user'], 'bert');
    assert.equal(headers['x-remote-uid'], '42');
    assert.equal(headers['x-remote-extra-example.com%2froles'], 'a');
    assert.equal(headers['impersonate-user'], undefined);
  });

  it('are rejected if the user lacks the right, and do not reach the server', async () => {
    const before = received().length;
    assert.equal((await answered(things, { groups: ['devs'] })).status, 403);
    assert.equal(received().length, before);
  });

  it('pass bodies and answers unchanged', async () => {
    answer((request, response) => {
      response.writeHead(201, { 'content-type': 'application/vnd.kubernetes.protobuf', 'x-own': 'yes' });
      response.write(`${request.method} ${request.headers['content-type']} `);
      request.pipe(response);
    });
    const found = await answered(things, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
      body: 'k8s\0xyz',
    });
    assert.equal(found.status, 201);
    assert.equal(found.text, 'POST application/vnd.kubernetes.protobuf k8s\0xyz');
    assert.equal(found.headers['x-own'], 'yes');
    assert.match(found.headers['audit-id'] as string, /-/);
  });

  it('share one connection', async () => {
    const before = extension.connections();
    for (let i = 0; i < 5; i++) assert.equal((await answered('/apis/ext.example/v1')).status, 200);
    assert.ok(extension.connections() - before <= 1, String(extension.connections() - before));
  });

  it('that watch receive each event when it is sent', async () => {
    let stream: ServerResponse | undefined;
    answer((_, response) => {
      stream = response;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"type":"ADDED"}\n');
    });
    const request = await send(`${things}?watch=true`);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const [first] = await once(response, 'data');
    assert.equal(String(first), '{"type":"ADDED"}\n');
    stream?.write('{"type":"DELETED"}\n');
    const [second] = await once(response, 'data');
    assert.equal(String(second), '{"type":"DELETED"}\n');
    const closed = once(stream as ServerResponse, 'close');
    request.destroy();
    await closed;
  });

  it('can upgrade their connection', async () => {
    extension.onUpgrade((request, socket) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\n`,
      );
      socket.write(`hello ${request.headers['x-remote-user']}`);
      socket.on('data', (data) => socket.end(`echo ${data}`));
    });
    const request = await send(`${things}/a/connect`, {
      headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
    });
    const [response, socket, head] = await once(request, 'upgrade');
    assert.equal(response.statusCode, 101);
    const greeting = head.length > 0 ? head : (await once(socket, 'data'))[0];
    assert.equal(String(greeting), 'hello anna');
    socket.write('ping');
    assert.equal(String((await once(socket, 'data'))[0]), 'echo ping');
    socket.destroy();
  });

  it('get the errors of the server, but none of its redirects', async () => {
    answer((_, response) => response.writeHead(500).end('broken'));
    const failed = await answered(things);
    assert.deepEqual([failed.status, failed.text], [500, 'broken']);
    answer((_, response) => response.writeHead(302, { location: 'https://elsewhere' }).end());
    const led = await answered(things);
    assert.equal(led.status, 502);
    assert.equal(led.headers.location, undefined);
    assert.match(led.text, /attempted to redirect this request, which is not permitted/);
  });

  it('end with 503 if the answer breaks off or its headers are too large', async () => {
    answer((request) => request.socket.destroy());
    assert.equal((await answered(things)).status, 503);
    answer((_, response) => response.writeHead(200, { big: 'x'.repeat(2_000_000) }).end());
    assert.equal((await answered(things)).status, 503);
  });

  it('that are not answered delay no other requests, and are limited in number', async () => {
    answer(() => undefined);
    const before = received().length;
    const waiting = await Promise.all(Array.from({ length: maxWaiting }, () => send(things)));
    while (received().length < before + maxWaiting) await new Promise((done) => setImmediate(done));
    const more = await answered(things);
    assert.equal(more.status, 429, more.text);
    assert.equal((await answered('/api/v1/namespaces/default')).status, 200);
    assert.equal((await answered('/apis')).status, 200);
    const [first] = received().slice(-maxWaiting);
    const closed = once(first?.socket ?? assert.fail(), 'close');
    for (const request of waiting) request.destroy();
    await closed;
  });

  it('are not sent to a server with a wrong certificate', async () => {
    const other = await createAuthority('other', validity.notBefore, validity.notAfter);
    const edit = async (spec: object) => {
      const found = (await server.call('GET', `${services}/${name}`)).json();
      const changed = await server.call('PUT', `${services}/${name}`, {
        ...found,
        spec: { ...(found.spec as object), ...spec },
      });
      assert.equal(changed.status, 200, changed.text);
    };
    const before = received().length;
    await edit({ caBundle: encoded(other.certificate) });
    const refused = await answered(things);
    assert.equal(refused.status, 503);
    assert.match(refused.text, /^error trying to reach service: .*certificate/);
    assert.equal(received().length, before);
    await edit({ caBundle: undefined, insecureSkipTLSVerify: true });
    answer((_, response) => response.end('unverified'));
    assert.equal((await answered(things)).text, 'unverified');
  });

  it('are not forwarded if their group is a built-in one', async () => {
    const claim = await server.call('POST', services, apiService({ insecureSkipTLSVerify: true }, 'apps'));
    assert.equal(claim.status, 201, claim.text);
    await setAvailable(server, 'v1.apps');
    const before = received().length;
    assert.equal((await answered('/apis/apps/v1/deployments')).status, 200);
    assert.equal(received().length, before);
  });

  it('for metrics reach a server that registers for them, and return to the built-in one afterwards', async () => {
    const metrics = 'v1beta1.metrics.k8s.io';
    const nodes = '/apis/metrics.k8s.io/v1beta1/nodes';
    assert.equal(JSON.parse((await answered(nodes)).text).kind, 'NodeMetricsList');
    const claim = apiService({ insecureSkipTLSVerify: true }, 'metrics.k8s.io', 'v1beta1');
    const made = await server.call('POST', services, claim);
    assert.equal(made.status, 201, made.text);
    await setAvailable(server, metrics);
    answer((_, response) => response.end('of metrics-server'));
    assert.equal((await answered(nodes)).text, 'of metrics-server');
    assert.equal((await server.call('GET', nodes)).text, 'of metrics-server', 'for controllers too');
    assert.equal((await server.call('DELETE', `${services}/${metrics}`)).status, 200);
    assert.equal(JSON.parse((await answered(nodes)).text).kind, 'NodeMetricsList');
  });

  it('end when the APIService is deleted', async () => {
    assert.equal((await server.call('DELETE', `${services}/${name}`)).status, 200);
    assert.equal((await answered(things)).status, 404);
  });
});
