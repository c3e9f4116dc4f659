/** `ctl proxy`: beside kubectl 1.32 for what is accepted and refused, and alone for streams and attacks. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import { type Ctl, ctlFor, noHome, type Result } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { kubectlOf, unlessKubectl } from '../../fixtures/kubectls.ts';

interface Proxy {
  /** Text behind `Starting to serve on `. */
  readonly place: string;
  readonly port: number;
  /** Interrupts the proxy; resolves when it has ended. */
  stop(): Promise<Result | undefined>;
}

const placeIn = (out: string) => /^Starting to serve on (\S+)\n/m.exec(out)?.[1];
const portIn = (place: string) => Number(place.slice(place.lastIndexOf(':') + 1));

async function startCtl(ctl: Ctl, args: readonly string[]): Promise<Proxy> {
  const stopping = new AbortController();
  const started = Promise.withResolvers<string>();
  const onOut = (out: string) => started.resolve(placeIn(out) ?? out);
  const ended = ctl(['proxy', ...args], { signal: stopping.signal, onOut });
  const place = await Promise.race([
    started.promise,
    ended.then(({ err }) => Promise.reject(new Error(`the proxy ended: ${err}`))),
  ]);
  const stop = () => {
    stopping.abort();
    return ended;
  };
  return { place, port: portIn(place), stop };
}

async function startKubectl(kubeconfig: string, args: readonly string[]): Promise<Proxy> {
  const env = { KUBECONFIG: kubeconfig, HOME: noHome, PATH: '' };
  const child = spawn(kubectlOf('1.32')?.path ?? '', ['proxy', ...args], { env, stdio: 'pipe' });
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  const place = placeIn(first.toString()) ?? '';
  const stop = async () => {
    child.kill();
    await once(child, 'close');
    return undefined;
  };
  return { place, port: portIn(place), stop };
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function answerOf(port: number, path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: incoming.statusCode, body: await text(incoming), headers: incoming.headers };
}

const pods = '/api/v1/namespaces/default/pods';
const cases: readonly (readonly [path: string, asked?: Asked])[] = [
  ['/version'],
  ['/api/v1/namespaces/default'],
  ['/api/v1/namespaces?limit=1&fieldSelector=metadata.name%3Ddefault'],
  ['/api/v1/namespaces/default/configmaps', { method: 'POST', body: '{"metadata":{"name":"made"}}' }],
  ['/nosuch'],
  ['/version', { headers: { host: 'localhost' } }],
  ['/version', { headers: { host: 'localhost:1' } }],
  ['/version', { headers: { host: 'evil.example' } }],
  ['/version', { headers: { host: 'localhost.evil.example:8001' } }],
  ['/version', { headers: { host: '127.0.0.1.evil.example' } }],
  ['http://evil.example/version', { headers: { host: 'localhost' } }],
  [`${pods}/x/exec?command=sh`],
  [`${pods}/x/attach`, { method: 'POST' }],
  [`${pods}/x%2Fexec`],
  [`${pods}/x/%65xec`],
  [`${pods}/x/exec%20`],
  [`${pods}/x/%2565xec`],
  [`/api/v1/namespaces/default/configmaps/a%2fb`],
  [`/api/v1/namespaces/default/configmaps/a:b@c;d=e`],
];

const filtered: readonly (readonly [path: string, asked?: Asked])[] = [
  ['/k8s/api/v1/namespaces/default'],
  ['/k8s/api/v1/namespaces/kube-system'],
  ['/k8s/version'],
  ['/k8s'],
  ['/api/v1/namespaces/default'],
  ['/k8s/api/v1/namespaces/default', { method: 'DELETE' }],
  ['/k8s/api/v1/namespaces/default', { headers: { host: 'my.example' } }],
  ['/k8s/api/v1/namespaces/default/../kube-system'],
  ['/files/a.txt'],
  ['/files/below/'],
  ['/files/nosuch'],
];

describe('ctl proxy beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubeconfig: string;
  let directory: string;

  before(async () => {
    ({ server, ctl, kubeconfig } = await startBesideKubectl());
    directory = await mkdtemp(join(tmpdir(), 'proxy-'));
    await mkdir(join(directory, 'below'));
    await writeFile(join(directory, 'a.txt'), 'text of a\n');
    await writeFile(join(directory, 'below', 'index.html'), '<p>index</p>');
  });
  after(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });

  /** Returns what both proxies answer; a redirection by its status and its target. */
  const compare = async (args: readonly string[], asked: typeof cases) => {
    const [ours, theirs] = await Promise.all([startCtl(ctl, args), startKubectl(kubeconfig, args)]);
    const shownOf = async ({ port }: Proxy, [path, more]: (typeof cases)[number]) => {
      const { status, body, headers } = await answerOf(port, path, more);
      const stable = body.replaceAll(/"(?:uid|creationTimestamp|resourceVersion|time)": ?"[^"]*"/g, '');
      return status === 301 ? [path, more, status, headers.location] : [path, more, status, stable];
    };
    try {
      for (const each of asked) {
        const shown = await shownOf(theirs, each);
        if (each[1]?.method === 'POST') await server.call('DELETE', `${each[0]}/made`);
        assert.deepEqual(await shownOf(ours, each), shown);
      }
    } finally {
      await Promise.all([ours.stop(), theirs.stop()]);
    }
  };

  it('answers the same with the default filter', () => compare(['--port=0'], cases));

  it('answers the same with own patterns, a prefix and files', () =>
    compare(
      [
        '--port=0',
        '--api-prefix=/k8s',
        '--accept-paths=^/api/v1/namespaces/default',
        '--accept-hosts=^my\\.example$,^127',
        '--reject-methods=^DELETE$',
        `--www=${directory}`,
        '--www-prefix=/files',
      ],
      filtered,
    ));

  it('refuses the flags that kubectl refuses, and says which', async () => {
    for (const [args, message] of [
      [['--unix-socket=/x/y', '--port=1'], /cannot set --unix-socket and --port at the same time/],
      [['--accept-hosts=('], /--accept-hosts: "\(" is no regular expression/],
      [['--port=70000'], /--port: expected a port/],
      [['--api-prefix=x'], /--api-prefix: expected a path/],
      [['--www-prefix=/a/../', '--www=.'], /--www-prefix: expected a path/],
      [['--unix-socket=/proc/none/socket'], /cannot listen on \/proc\/none\/socket/],
      [['pods'], /unexpected argument 'pods'/],
    ] as const) {
      const { status, out, err } = await ctl(['proxy', ...args]);
      assert.deepEqual([status, out], [1, ''], err);
      assert.match(err, message);
    }
  });

  it('forwards a watch event by event, and ends it when the client leaves', async () => {
    const proxy = await startCtl(ctl, ['--port=0']);
    const path = '/api/v1/namespaces/default/configmaps?watch=1';
    const outgoing = request({ host: '127.0.0.1', port: proxy.port, path, agent: false }).end();
    // The head of the answer arrives before there is any event.
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    let got = '';
    incoming.on('data', (chunk) => (got += chunk));
    await server.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'watched' } });
    while (!got.includes('"watched"')) await once(incoming, 'data');
    outgoing.destroy();
    const { status } = (await proxy.stop()) ?? {};
    assert.equal(status, 0);
  });

  it('serves on a unix socket that only its user may open, and replaces one that was left', async () => {
    const path = join(directory, 'api.sock');
    for (let count = 0; count < 2; count++) {
      const proxy = await startCtl(ctl, [`--unix-socket=${path}`]);
      assert.equal(proxy.place, path);
      assert.equal((await stat(path)).mode & 0o777, 0o700);
      const outgoing = request({ socketPath: path, path: '/version', headers: { host: 'localhost' } }).end();
      const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
      assert.match(await text(incoming), /gitVersion/);
      await proxy.stop();
      // As after a killed proxy, in whose place the socket stays.
      if (count === 0) {
        const left = createServer().listen(path);
        await once(left, 'listening');
        after(() => left.close());
      }
    }
    await writeFile(join(directory, 'plain'), 'kept');
    const { status } = await ctl(['proxy', `--unix-socket=${join(directory, 'plain')}`]);
    assert.equal(status, 1);
    assert.equal((await stat(join(directory, 'plain'))).size, 4);
  });
});

describe('ctl proxy to a server of its own', { timeout: 120_000 }, () => {
  let http: Server;
  let seen: IncomingMessage | undefined;
  let proxy: Proxy;
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
