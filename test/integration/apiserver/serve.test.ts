import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type RequestOptions, request } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { listenHttps } from '../../../src/apiserver/serve.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { createAuthority, issueCertificate } from '../../../src/pki/x509.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

describe('the HTTPS listener', () => {
  let server: HttpsTestServer;
  before(async () => {
    server = await startHttpsTestServer();
  });
  after(() => server.stop());

  const fetchStatus = async (path: string, options: RequestOptions = {}) => {
    const request = get({
      host: '127.0.0.1',
      port: server.port,
      path,
      ca: server.authority.certificate,
      ...options,
    });
    const [response] = await once(request, 'response');
    response.resume();
    await once(response, 'end');
    return response.statusCode;
  };

  it('knows the user by the certificate, on a resumed session too', async () => {
    const { key, certificate } = await server.clientCertificate('admin', ['system:masters', 'others']);
    const tls = { ca: server.authority.certificate, key, cert: certificate };
    const agent = new Agent({ keepAlive: false, maxCachedSessions: 10, ...tls });
    const reused: boolean[] = [];
    for (let i = 0; i < 3; i++) {
      const request = get({ host: '127.0.0.1', port: server.port, path: '/api/v1/pods', agent });
      const [response] = await once(request, 'response');
      reused.push((response.socket as TLSSocket).isSessionReused());
      assert.equal(response.statusCode, 200);
      response.resume();
      await once(response, 'end');
    }
    assert.ok(reused.includes(true), 'no session was resumed, so nothing was shown');
    agent.destroy();
  });

  it('counts no certificate of another authority', async () => {
    const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 60_000 };
    const other = await createAuthority('other', validity.notBefore, validity.notAfter);
    const forged = await issueCertificate(other, {
      commonName: 'admin',
      organizations: ['system:masters'],
      usages: ['client'],
      ...validity,
    });
    const status = await fetchStatus('/api/v1/pods', { key: forged.key, cert: forged.certificate });
    assert.equal(status, 401);
    assert.equal(await fetchStatus('/api/v1/pods'), 401);
    assert.equal(await fetchStatus('/livez'), 200);
  });

  it('survives requests that are none', async () => {
    for (const text of [
      'GET\r\n\r\n',
      'GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET /%zz HTTP/1.1\r\nHost: \\\r\n\r\n',
      '\0\0\0',
    ]) {
      const socket = connect({ host: '127.0.0.1', port: server.port, ca: server.authority.certificate });
      await once(socket, 'secureConnect');
      socket.on('error', () => {});
      socket.end(text);
      socket.resume();
      await once(socket, 'close');
    }
    assert.equal(await fetchStatus('/livez'), 200);
  });

  it('offers HTTP/1.1 alone', async () => {
    const socket = connect({
      host: '127.0.0.1',
      port: server.port,
      ca: server.authority.certificate,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    await once(socket, 'secureConnect');
    assert.equal(socket.alpnProtocol, 'http/1.1');
    socket.destroy();
  });

  it('says in one line what to do when the port is taken', async () => {
    const { key, certificate } = await server.clientCertificate('x', []);
    const listening = listenHttps({
      app: server.app,
      address: '127.0.0.1',
      port: server.port,
      tls: { key, cert: certificate, clientCA: server.authority.certificate },
      signal: new AbortController().signal,
      log: silentLogger,
    });
    await assert.rejects(listening, {
      message: `127.0.0.1:${server.port} is in use: stop what listens there or choose another --port`,
    });
  });

  it('sends the headers of a watch at once, and ends watches and idle connections when it stops', async () => {
    const own = await startHttpsTestServer();
    const { key, certificate } = await own.clientCertificate('admin', ['system:masters']);
    const agent = new Agent({ keepAlive: true, ca: own.authority.certificate, key, cert: certificate });
    const from = own.cache.revision;
    const path = `/api/v1/namespaces/default/pods?watch=true&resourceVersion=${from}`;
    const [response] = await once(get({ host: '127.0.0.1', port: own.port, path, agent }), 'response');
    const [idle] = await once(get({ host: '127.0.0.1', port: own.port, path: '/livez', agent }), 'response');
    idle.resume();
    await once(idle, 'end');
    response.resume();
    const ended = once(response, 'end');
    const begun = performance.now();
    await own.stop();
    await ended;
    assert.ok(performance.now() - begun < 2000);
    agent.destroy();
  });

  it('frees a watch whose client hung up', async () => {
    const timers = new Set<symbol>();
    const emptied = Promise.withResolvers<void>();
    const clock: Clock = {
      now: () => Date.now(),
      after(ms, fn) {
        const id = Symbol('timer');
        timers.add(id);
        const forget = () => {
          timers.delete(id);
          if (timers.size === 0) emptied.resolve();
        };
        const timer = systemClock.after(ms, () => {
          forget();
          fn();
        });
        return {
          cancel() {
            timer.cancel();
            forget();
          },
        };
      },
    };
    const own = await startHttpsTestServer({ clock });
    const { key, certificate } = await own.clientCertificate('admin', ['system:masters']);
    const path = '/api/v1/pods?watch=true&allowWatchBookmarks=true';
    const tls = { ca: own.authority.certificate, key, cert: certificate };
    const watching = get({ host: '127.0.0.1', port: own.port, path, ...tls });
    const [response] = await once(watching, 'response');
    assert.ok(timers.size > 0);
    response.on('error', () => {});
    watching.destroy();
    await emptied.promise;
    await own.stop();
  });

  it('refuses a body that is too large, and sends a large list whole', async () => {
    const { key, certificate } = await server.clientCertificate('admin', ['system:masters']);
    const agent = new Agent({ keepAlive: true, ca: server.authority.certificate, key, cert: certificate });
    const configMaps = '/api/v1/namespaces/default/configmaps';
    const send = async (method: string, path: string, body?: string) => {
      const headers = { 'content-type': 'application/json' };
      const outgoing = request({ host: '127.0.0.1', port: server.port, method, path, headers, agent });
      // Without a length the server learns the size only by reading.
      if (body !== undefined) outgoing.write(body);
      outgoing.end();
      const [response] = await once(outgoing, 'response');
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      return { status: response.statusCode, text: Buffer.concat(chunks).toString() };
    };
    const big = JSON.stringify({ metadata: { name: 'big' }, data: { a: 'x'.repeat(5 << 20) } });
    assert.equal((await send('POST', configMaps, big)).status, 413);
    const data = { a: 'x'.repeat(500_000) };
    for (let i = 0; i < 12; i++) {
      await send('POST', configMaps, JSON.stringify({ metadata: { name: `m${i}` }, data }));
    }
    const { items } = JSON.parse((await send('GET', configMaps)).text);
    assert.equal(items.length, 12);
    assert.ok(items.every((item: { data: { a: string } }) => item.data.a === data.a));
    agent.destroy();
  });
});
