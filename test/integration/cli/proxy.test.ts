/** `ctl proxy` to a server of its own: streams, connections and attacks. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { answerOf, type StartedProxy, startCtl } from './proxy-rig.ts';

describe('ctl proxy to a server of its own', { timeout: 120_000 }, () => {
  let http: Server;
  let seen: IncomingMessage | undefined;
  let proxy: StartedProxy;
  let ctl: Ctl;
  let server: string;
  let directory: string;

  before(async () => {
    const sockets = new WebSocketServer({ noServer: true });
    http = createServer((incoming, answer) => {
      seen = incoming;
      if (incoming.url === '/base/cut' || incoming.url === '/cut') {
        answer.writeHead(200, { 'content-length': 100 });
        answer.write('begun', () => answer.destroy());
      } else if (incoming.url === '/silent') return;
      else if (incoming.url === '/big') answer.end(Buffer.alloc(64 * 1024 * 1024));
      else
        answer
          .writeHead(
            200,
            [
              ['Set-Cookie', 'a'],
              ['Set-Cookie', 'b'],
              ['Keep-Alive', 'x'],
            ].flat(),
          )
          .end('ok');
    });
    http.on('upgrade', (incoming, socket, head) => {
      seen = incoming;
      if (incoming.url !== '/echo') return socket.end('HTTP/1.1 418 Teapot\r\nX-Why: tea\r\n\r\nno socket');
      sockets.handleUpgrade(incoming, socket, head, (opened) => {
        opened.send('hello');
        opened.on('message', (data) => opened.send(`echo ${data}`));
      });
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    server = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    directory = await mkdtemp(join(tmpdir(), 'proxy-own-'));
    ctl = ctlFor(undefined);
    proxy = await startCtl(ctl, [
      '--port=0',
      '--server',
      server,
      '--token=s3cret',
      '--as=jo',
      '--as-group=g',
    ]);
  });
  after(async () => {
    await proxy.stop();
    http.closeAllConnections();
    http.close();
    await rm(directory, { recursive: true });
  });

  it('listens on loopback only', () => assert.match(proxy.place, /^127\.0\.0\.1:\d+$/));

  it('passes messages of a WebSocket both ways', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/echo`, ['one', 'two']);
    const got: string[] = [];
    socket.on('message', (data) => got.push(String(data)));
    await once(socket, 'open');
    socket.send('x'.repeat(100_000));
    while (got.length < 2) await once(socket, 'message');
    assert.deepEqual([got[0], got[1]?.length], ['hello', 100_005]);
    assert.equal(seen?.headers.authorization, 'Bearer s3cret');
    assert.equal(seen?.headers['sec-websocket-protocol'], 'one,two');
    socket.close();
    await once(socket, 'close');
  });

  it('passes on an answer without an upgrade', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/other`);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    assert.deepEqual([response.statusCode, response.headers['x-why']], [418, 'tea']);
    assert.equal(await text(response), 'no socket');
  });

  it('refuses requests and WebSockets of pages of other sites', async () => {
    for (const origin of ['http://evil.example', 'null', 'https://localhost.evil.example'])
      assert.equal((await answerOf(proxy.port, '/', { headers: { origin } })).status, 403, origin);
    for (const origin of ['http://localhost:3000', 'http://127.0.0.1'])
      assert.equal((await answerOf(proxy.port, '/', { headers: { origin } })).status, 200, origin);
    const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/echo`, { origin: 'http://evil.example' });
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    assert.equal(response.statusCode, 403);
    socket.on('error', () => undefined);
    socket.terminate();
  });

  it("adds the user's identity, and nothing of it if the client names an identity", async () => {
    const headersOf = async (headers: Readonly<Record<string, string>>) => {
      await answerOf(proxy.port, '/', { headers });
      const { authorization, 'impersonate-user': user, 'impersonate-group': group } = seen?.headers ?? {};
      return [authorization, user, group, seen?.headers.host];
    };
    const host = server.replace('http://', '');
    assert.deepEqual(await headersOf({}), ['Bearer s3cret', 'jo', 'g', host]);
    assert.deepEqual(await headersOf({ 'impersonate-user': 'me' }), ['Bearer s3cret', 'me', undefined, host]);
    assert.deepEqual(await headersOf({ authorization: 'Bearer own' }), ['Bearer own', 'jo', 'g', host]);
    assert.deepEqual(await headersOf({ connection: 'authorization' }), ['Bearer s3cret', 'jo', 'g', host]);
  });

  it('keeps repeated headers of an answer, and drops those of the connection', async () => {
    const { headers } = await answerOf(proxy.port, '/');
    assert.deepEqual(headers['set-cookie'], ['a', 'b']);
    assert.notEqual(headers['keep-alive'], 'x');
  });

  it('breaks off an answer that the server breaks off', async () => {
    await assert.rejects(answerOf(proxy.port, '/cut'), /aborted|hang up|ECONNRESET/);
  });

  it('refuses a request with two hosts, and one whose path is encoded wrongly', async () => {
    const raw = async (head: string) => {
      const socket = connect(proxy.port, '127.0.0.1');
      socket.write(`${head}\r\nConnection: close\r\n\r\n`);
      return (await text(socket)).slice(9, 12);
    };
    assert.equal(await raw('GET / HTTP/1.1\r\nHost: localhost'), '200');
    assert.equal(await raw('GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example'), '400');
    assert.equal(await raw('GET /%zz HTTP/1.1\r\nHost: localhost'), '400');
    assert.equal(await raw('GET /%ff HTTP/1.1\r\nHost: localhost'), '400');
    assert.equal(await raw('OPTIONS * HTTP/1.1\r\nHost: localhost'), '400');
    assert.equal(await raw('GET / HTTP/1.0'), '400');
    assert.equal(await raw('GET /a\\..\\b HTTP/1.1\r\nHost: localhost'), '200');
    assert.equal(seen?.url, '/a%5C..%5Cb');
  });

  it('forwards no path with encoded dots, which the server could read as another one', async () => {
    seen = undefined;
    for (const path of ['/a/b/log%2F..%2Fexec', '/a/..%2fb', '/%2e%2E/b', '/a//b', '/a/%2e/b', '/a%2F%2Fb'])
      assert.equal((await answerOf(proxy.port, path)).status, 301, path);
    assert.equal(seen, undefined);
    for (const host of [
      'evil.example#localhost',
      'localhost@evil.example',
      'localhost,evil.example',
      'LOCALHOST.',
    ])
      assert.equal((await answerOf(proxy.port, '/', { headers: { host } })).status, 403, host);
    assert.equal(seen, undefined);
  });

  it('answers other clients while a client reads nothing and another one sends nothing', async () => {
    const slow = connect(proxy.port, '127.0.0.1');
    slow.write('GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n');
    slow.pause();
    const silent = connect(proxy.port, '127.0.0.1');
    silent.write('GET / HTTP/1.1\r\nHost: loc');
    for (let count = 0; count < 20; count++) assert.equal((await answerOf(proxy.port, '/')).status, 200);
    assert.ok(process.memoryUsage().arrayBuffers < 512 * 1024 * 1024);
    slow.destroy();
    silent.destroy();
  });

  it('ends a request to the server when its client leaves before the answer', async () => {
    const outgoing = request({ host: '127.0.0.1', port: proxy.port, path: '/silent', agent: false }).end();
    outgoing.on('error', () => undefined);
    const [incoming, answer] = (await once(http, 'request')) as [IncomingMessage, ServerResponse];
    assert.equal(incoming.url, '/silent');
    outgoing.destroy();
    await once(answer, 'close');
  });

  it('says that the server does not answer', async () => {
    const lost = await startCtl(ctl, ['--port=0', '--server=http://127.0.0.1:1']);
    const { status, body } = await answerOf(lost.port, '/version');
    assert.deepEqual([status, /connection refused/.test(body)], [500, true]);
    await lost.stop();
  });

  it("puts the path of the server's URL in front only with --append-server-path", async () => {
    const args = ['--port=0', '--server', `${server}/base/`];
    const without = await startCtl(ctl, args);
    await answerOf(without.port, '/version');
    assert.equal(seen?.url, '/version');
    assert.match((await without.stop())?.err ?? '', /use --append-server-path/);
    const withPath = await startCtl(ctl, [...args, '--append-server-path']);
    await answerOf(withPath.port, '/version?a=b');
    assert.equal(seen?.url, '/base/version?a=b');
    assert.equal((await withPath.stop())?.err, '');
  });

  it('serves files and lists of a folder, and nothing outside it', async () => {
    await mkdir(join(directory, 'site', 'a b'), { recursive: true });
    await writeFile(join(directory, 'site', 'a b', '<x>.txt'), 'x');
    await writeFile(join(directory, 'secret'), 'secret');
    await symlink(join(directory, 'nosuch'), join(directory, 'site', 'broken'));
    const files = await startCtl(ctl, ['--port=0', '--server', server, `--www=${join(directory, 'site')}`]);
    const get = async (path: string, method = 'GET') => {
      const { status, body, headers } = await answerOf(files.port, `/static/${path}`, { method });
      return [status, headers.location ?? body];
    };
    assert.deepEqual(await get('a%20b'), [301, 'a%20b/']);
    assert.match(String((await get('a%20b/'))[1]), /<a href="\.\/%3Cx%3E\.txt">&lt;x&gt;\.txt<\/a>/);
    assert.deepEqual(await get('a%20b/%3Cx%3E.txt'), [200, 'x']);
    assert.deepEqual(await get('a%20b/%3Cx%3E.txt', 'HEAD'), [200, '']);
    assert.equal((await get('', 'POST'))[0], 405);
    for (const path of ['..%2fsecret', '%2e%2e/secret', 'a%00b', 'broken', 'a%20b/%3Cx%3E.txt/'])
      assert.notEqual((await get(path))[0], 200, path);
    await files.stop();
    // A file of the kernel that nobody may read, not even root.
    const odd = await startCtl(ctl, ['--port=0', '--server', server, '--www=/sys/bus/cpu']);
    const { status, body } = await answerOf(odd.port, '/static/drivers_probe');
    assert.deepEqual([status, body], [403, '403 Forbidden\n']);
    await odd.stop();
  });
});
