import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type RequestOptions, request } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { listenHttps } from '../../../src/apiserver/transport/serve.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { replaceable } from '../../../src/base/current.ts';
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

  it('authenticates the user by the certificate, on a resumed session too', async () => {
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

  it('rejects a certificate of another authority', async () => {
    const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 };
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

  it('answers an unauthenticated client at once and closes the connection, even if the body is incomplete', async () => {
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    for (const [asked, size, status] of [
      [`POST ${path}`, 'Content-Length: 100000000', 401],
      [`POST ${path}`, 'Transfer-Encoding: chunked', 401],
      ['GET /livez', 'Content-Length: 100000000', 200],
    ] as const) {
      const socket = connect({ host: '127.0.0.1', port: server.port, ca: server.authority.certificate });
      await once(socket, 'secureConnect');
      socket.write(`${asked} HTTP/1.1\r\nHost: x\r\n${size}\r\n\r\n1\r\n{`);
      let text = '';
      for await (const chunk of socket) text += chunk;
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(text, /\r\nconnection: close\r\n/i);
    }
  });

  it('survives invalid requests', async () => {
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

  /** Returns the status line of the answer to the raw text, sent as an administrator or anonymously. */
  const raw = async (text: string, isAdmin: boolean) => {
    const identity = isAdmin ? await server.clientCertificate('admin', ['system:masters']) : undefined;
    const tls = identity && { key: identity.key, cert: identity.certificate };
    const ca = server.authority.certificate;
    const socket = connect({ host: '127.0.0.1', port: server.port, ca, ...tls });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    socket.write(text);
    let answer = '';
    for await (const chunk of socket) {
      answer += chunk;
      if (answer.includes('\r\n\r\n')) break;
    }
    socket.destroy();
    return answer.split('\r\n')[0];
  };
  const exec = '/api/v1/namespaces/default/pods/web/exec?command=x&stdout=1';
  const webSocket = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';

  it('rejects a request with two Host headers, including upgrade requests', async () => {
    for (const path of ['/livez', '/api/v1/pods']) {
      for (const second of ['Host: b', 'host: a', 'HOST:b']) {
        assert.match(
          (await raw(`GET ${path} HTTP/1.1\r\nHost: a\r\n${second}\r\n\r\n`, true)) ?? '',
          / 400 /,
        );
      }
    }
    const upgrade = `GET ${exec} HTTP/1.1\r\nHost: a\r\n${webSocket}`;
    assert.match((await raw(`${upgrade}hOST: b\r\n\r\n`, true)) ?? '', / 400 /);
    assert.match((await raw(`${upgrade}\r\n`, true)) ?? '', / 404 /);
    // Upgrade requests have the same limits on headers and parameters; a long command is a single parameter.
    const asking = (query: string, headers = '') =>
      raw(`GET ${exec}${query} HTTP/1.1\r\nHost: a\r\n${webSocket}${headers}\r\n`, true);
    assert.match((await asking('&a'.repeat(10_000))) ?? '', / 414 /);
    assert.match((await asking(`&command=${'x'.repeat(300_000)}`)) ?? '', / 404 /);
    const protocols = `Sec-WebSocket-Protocol: ${'a,'.repeat(9000)}\r\n`;
    assert.match((await asking('', protocols)) ?? '', / 400 /);
    assert.match((await raw('GET /livez HTTP/1.1\r\nHost: a\r\nX-Host: b\r\n\r\n', true)) ?? '', / 200 /);
  });

  it('rejects . and .. as names in a path', async () => {
    const maps = '/api/v1/namespaces/kept/configmaps';
    const create = { metadata: { name: 'kept' } };
    assert.equal((await server.call('POST', '/api/v1/namespaces', create)).status, 201);
    assert.equal((await server.call('POST', maps, create)).status, 201);
    for (const name of ['..', '%2e%2E', '.', '%2e', './', '#kept'])
      assert.match(
        (await raw(`DELETE ${maps}/${name} HTTP/1.1\r\nHost: a\r\n\r\n`, true)) ?? '',
        / 400 /,
        name,
      );
    assert.equal((await server.call('GET', `${maps}/kept`)).status, 200);
    const namespace = (await server.call('GET', '/api/v1/namespaces/kept')).json();
    assert.equal(namespace.metadata.deletionTimestamp, undefined);
  });

  it('accepts long heads, as Go’s servers do, and shorter ones without a client certificate', async () => {
    const kb = 1024;
    // A client that is still sending may not receive the answer.
    const cutOff = /^$| 431 /;
    for (const [isAdmin, size, expected] of [
      [true, 900 * kb, / 200 /],
      [true, 1100 * kb, cutOff],
      [false, 60 * kb, / 200 /],
      [false, 70 * kb, cutOff],
    ] as const) {
      const text = 'x'.repeat(size);
      for (const request of [
        `GET /livez?${text} HTTP/1.1\r\nHost: a\r\n\r\n`,
        `GET /livez HTTP/1.1\r\nHost: a\r\nX: ${text}\r\n\r\n`,
      ]) {
        assert.match((await raw(request, isAdmin)) ?? '', expected, `${isAdmin} ${size}`);
      }
    }
  });

  it('keeps a watch whose timeout exceeds the maximum of Node’s timers', async () => {
    const { key, certificate } = await server.clientCertificate('admin', ['system:masters']);
    const tls = { ca: server.authority.certificate, key, cert: certificate };
    const maps = '/api/v1/namespaces/kube-public/configmaps';
    const watching = get({
      host: '127.0.0.1',
      port: server.port,
      path: `${maps}?watch=true&timeoutSeconds=2147484`,
      agent: false,
      ...tls,
    });
    const [response] = await once(watching, 'response');
    for (let number = 0; number < 3; number++) {
      await server.call('POST', maps, { metadata: { name: `late-${number}` } });
    }
    const chunks = response[Symbol.asyncIterator]();
    for (let seen = ''; !seen.includes('late-2'); ) {
      const { done, value } = await chunks.next();
      assert.equal(done, false, 'the watch has ended');
      seen += value;
    }
    watching.destroy();
  });

  it('refuses impersonation on upgrade requests, too', async () => {
    const said = await raw(
      `GET ${exec} HTTP/1.1\r\nHost: a\r\n${webSocket}impersonate-USER: bob\r\n\r\n`,
      true,
    );
    assert.match(said ?? '', / 403 /);
  });

  it('presents its authority, and a renewed certificate on new connections', async () => {
    const now = Date.now();
    const issue = (commonName: string) =>
      issueCertificate(server.authority, {
        commonName,
        hosts: ['127.0.0.1'],
        usages: ['server'],
        notBefore: now - 60_000,
        notAfter: now + 600_000,
      });
    const identity = replaceable(await issue('old'));
    const stopping = new AbortController();
    const own = await listenHttps({
      app: server.app,
      address: '127.0.0.1',
      port: 0,
      tls: { identity, clientCA: server.authority.certificate },
      signal: stopping.signal,
      clock: systemClock,
      log: silentLogger,
    });
    const shown = async () => {
      const socket = connect({ host: '127.0.0.1', port: own.port, ca: server.authority.certificate });
      await once(socket, 'secureConnect');
      const { subject, issuerCertificate } = socket.getPeerCertificate(true);
      socket.destroy();
      return [subject.CN, issuerCertificate.subject.CN];
    };
    assert.deepEqual(await shown(), ['old', 'test']);
    identity.replace(await issue('new'));
    assert.deepEqual(await shown(), ['new', 'test']);
    stopping.abort();
    await own.closed;
  });

  it('reports in one line what to do when the port is taken', async () => {
    const identity = replaceable(await server.clientCertificate('x', []));
    const listening = listenHttps({
      app: server.app,
      address: '127.0.0.1',
      port: server.port,
      tls: { identity, clientCA: server.authority.certificate },
      signal: new AbortController().signal,
      clock: systemClock,
      log: silentLogger,
    });
    await assert.rejects(listening, {
      message: `127.0.0.1:${server.port} is in use: stop the process that listens there or choose another --port`,
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
    await own.stop();
    await ended;
    agent.destroy();
  });

  it('releases a watch whose client disconnected', async () => {
    const timers = new Set<symbol>();
    const emptied = Promise.withResolvers<void>();
    const clock: Clock = {
      ...systemClock,
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

  it('rejects a body that is too large, and sends a large list completely', async () => {
    const { key, certificate } = await server.clientCertificate('admin', ['system:masters']);
    const agent = new Agent({ keepAlive: true, ca: server.authority.certificate, key, cert: certificate });
    const configMaps = '/api/v1/namespaces/default/configmaps';
    const send = async (method: string, path: string, body?: string) => {
      const headers = { 'content-type': 'application/json' };
      const outgoing = request({ host: '127.0.0.1', port: server.port, method, path, headers, agent });
      // Without a Content-Length the server finds the size only by reading the body.
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
