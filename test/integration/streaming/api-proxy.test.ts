/** pods/proxy, services/proxy and nodes/proxy over the real wire: real clients and backends, two TLS servers between them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, request as httpsRequest } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { WebSocket, WebSocketServer } from 'ws';
import { issueCertificate, type KeyAndCertificate } from '../../../src/pki/x509.ts';
import { freePort, type StreamCluster, startStreamCluster } from './stream-cluster.ts';

const namespace = '/api/v1/namespaces/default';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly as?: KeyAndCertificate;
}

describe('the proxy of the API server', () => {
  let cluster: StreamCluster;
  let admin: KeyAndCertificate;
  let backend: Server;
  let secure: Server;
  /** What the backends do with the next request. */
  let handle: Handle;
  const portOf = (server: { address(): AddressInfo | string | null }) =>
    (server.address() as AddressInfo).port;
  const toPod = (path: string, port = portOf(backend)) => `${namespace}/pods/web:${port}/proxy${path}`;

  before(async () => {
    cluster = await startStreamCluster();
    admin = await cluster.server.clientCertificate('admin', ['system:masters']);
    backend = createServer((request, response) => handle(request, response));
    const own = await issueCertificate(cluster.server.authority, {
      commonName: 'nobody-knows-me',
      hosts: ['nobody-knows-me'],
      usages: ['server'],
      notBefore: Date.now() - 3_600_000,
      notAfter: Date.now() + 86_400_000,
    });
    secure = createSecureServer(
      { key: own.key, cert: own.certificate, requestCert: true, rejectUnauthorized: false },
      (request, response) => handle(request, response),
    );
    for (const server of [backend, secure]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    await createService(
      'web',
      [
        { name: 'http', port: 80 },
        { name: 'tls', port: 443 },
      ],
      [
        { name: 'http', port: portOf(backend) },
        { name: 'tls', port: portOf(secure) },
      ],
    );
  });
  after(async () => {
    for (const server of [backend, secure]) {
      server.closeAllConnections();
      server.close();
    }
    await cluster.stop();
  });

  async function createService(
    name: string,
    ports: readonly object[],
    targets: readonly object[],
    targetRef: object | undefined = { kind: 'Pod', namespace: 'default', name: 'web' },
  ) {
    const { server } = cluster;
    const made = await server.call('POST', `${namespace}/services`, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { ports },
    });
    assert.equal(made.status, 201, made.text);
    const slice = await server.call(
      'POST',
      `/apis/discovery.k8s.io/v1${namespace.slice('/api/v1'.length)}/endpointslices`,
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name, labels: { 'kubernetes.io/service-name': name } },
        addressType: 'IPv4',
        endpoints: [
          { addresses: ['10.0.0.1'], conditions: { ready: true }, ...(targetRef && { targetRef }) },
        ],
        ports: targets,
      },
    );
    assert.equal(slice.status, 201, slice.text);
  }

  function open(path: string, { method = 'GET', headers = {}, as = admin }: Asked = {}) {
    return httpsRequest({
      host: '127.0.0.1',
      port: cluster.server.port,
      servername: 'localhost',
      ca: cluster.server.authority.certificate,
      key: as.key,
      cert: as.certificate,
      agent: false,
      path,
      method,
      headers,
    });
  }

  async function ask(path: string, asked: Asked = {}): Promise<Answer> {
    const sent = open(path, asked);
    sent.end(asked.body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text: Buffer.concat(chunks).toString(),
    };
  }

  const say =
    (text: string): Handle =>
    (_, response) =>
      void response.end(text);

  /** Answers with the request as it came. */
  const echo: Handle = async (request, response) => {
    const { method, url, headers } = request;
    let body = '';
    for await (const chunk of request) body += chunk;
    response.setHeader('content-type', 'application/json');
    response.setHeader('x-method', method ?? '');
    response.end(JSON.stringify({ method, url, headers, body }));
  };
  const echoed = ({ text }: Answer) =>
    JSON.parse(text) as { method: string; url: string; headers: Record<string, string>; body: string };

  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    it(`passes ${method} on`, async () => {
      handle = echo;
      const body = method === 'GET' ? undefined : 'some body';
      const answer = await ask(toPod('/a/b?c=d&e'), {
        method,
        ...(body && { body, headers: { 'content-length': '9' } }),
      });
      assert.equal(answer.status, 200, answer.text);
      const { headers, ...rest } = echoed(answer);
      assert.deepEqual(rest, { method, url: '/a/b?c=d&e', body: body ?? '' });
      assert.equal(headers['content-length'], body && '9');
    });
  }

  it('passes HEAD on, with what a body would have been', async () => {
    handle = echo;
    const answer = await ask(toPod('/x'), { method: 'HEAD' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-method'], 'HEAD');
    assert.equal(answer.text, '');
  });

  it('keeps the path as it was written, and the host', async () => {
    handle = echo;
    const seen = echoed(await ask(toPod('//a%2Fb/%20/c;d//'), { headers: { host: 'cluster:6443' } }));
    assert.equal(seen.url, '//a%2Fb/%20/c;d//');
    assert.equal(seen.headers.host, 'cluster:6443');
    assert.equal(seen.headers['x-forwarded-for'], '127.0.0.1');
    assert.equal(seen.headers['x-forwarded-uri'], toPod('//a%2Fb/%20/c;d//'));
  });

  it('says that a write has no body', async () => {
    handle = echo;
    const { headers } = echoed(await ask(toPod('/'), { method: 'POST' }));
    assert.equal(headers['content-length'], '0');
    assert.equal(headers['transfer-encoding'], undefined);
  });

  it('does not tell a backend who the client is to this server', async () => {
    const certificates: unknown[] = [];
    handle = (request, response) => {
      const { authorized, ...socket } = request.socket as import('node:tls').TLSSocket;
      certificates.push((request.socket as import('node:tls').TLSSocket).getPeerCertificate());
      assert.ok(socket);
      assert.equal(authorized, false);
      void echo(request, response);
    };
    const headers = { authorization: 'Bearer s3cret', 'impersonate-user': 'x', cookie: 'a=b' };
    const seen = echoed(await ask(`${namespace}/pods/https:web:${portOf(secure)}/proxy/`, { headers }));
    assert.equal(seen.headers.authorization, undefined);
    assert.equal(seen.headers['impersonate-user'], undefined);
    assert.equal(seen.headers.cookie, 'a=b');
    assert.deepEqual(certificates, [{}], 'it asked for a certificate and got none');
  });

  it('finds a service by name and number of its port, plain and encrypted', async () => {
    handle = (request, response) => response.end(`encrypted: ${'encrypted' in request.socket}`);
    const answers = ['web:http', 'web:80', 'http:web:http', 'https:web:tls', 'https:web:443'].map((id) =>
      ask(`${namespace}/services/${id}/proxy/`),
    );
    assert.deepEqual(
      (await Promise.all(answers)).map(({ text }) => text),
      ['encrypted: false', 'encrypted: false', 'encrypted: false', 'encrypted: true', 'encrypted: true'],
    );
  });

  it('leads to the same path with a slash', async () => {
    handle = echo;
    const { status, headers } = await ask(`${toPod('')}?method=GET`);
    assert.equal(status, 301);
    assert.equal(headers.location, `${toPod('/')}?method=GET`);
    assert.equal((await ask(toPod(''), { method: 'HEAD' })).status, 301);
    const { url } = echoed(await ask(`${toPod('')}?method=POST`, { method: 'POST' }));
    assert.equal(url, '/?method=POST');
  });

  it('brings redirections and links back through itself', async () => {
    handle = (_, response) => response.writeHead(302, { location: '/login?a=b' }).end();
    const moved = await ask(toPod('/x'));
    assert.equal(moved.status, 302);
    assert.equal(moved.headers.location, toPod('/login?a=b'));
    handle = (_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<a href="/rewriteme">test</a><a href="http://10.0.0.1:${portOf(backend)}/x">`);
    };
    const page = await ask(toPod('/'));
    assert.equal(page.text, `<a href="${toPod('/rewriteme')}">test</a><a href="${toPod('/x')}">`);
    handle = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' });
      response.end(gzipSync('<a href="/rewriteme">test</a>'));
    };
    const compressed = await ask(toPod('/'));
    assert.equal(compressed.headers['content-encoding'], undefined);
    assert.equal(compressed.text, `<a href="${toPod('/rewriteme')}">test</a>`);
  });

  it('leaves everything else of an answer as it is', async () => {
    const body = gzipSync('{"href":"/x"}');
    handle = (_, response) => {
      response.writeHead(418, [
        ...[
          'content-type',
          'application/json',
          'content-encoding',
          'gzip',
          'content-length',
          String(body.length),
        ],
        ...['set-cookie', 'a=1', 'set-cookie', 'b=2'],
      ]);
      response.end(body);
    };
    const sent = open(toPod('/'));
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    assert.equal(response.statusCode, 418);
    assert.deepEqual(response.headers['set-cookie'], ['a=1', 'b=2']);
    assert.equal(response.headers['content-length'], String(body.length));
    assert.deepEqual(Buffer.concat(chunks), body);
  });

  for (const status of [204, 304]) {
    it(`passes an answer without a body back (${status})`, async () => {
      handle = (_, response) => response.writeHead(status, { etag: '"x"' }).end();
      const answer = await ask(toPod('/'));
      assert.equal(answer.status, status);
      assert.equal(answer.headers.etag, '"x"');
    });
  }

  it('passes an empty document on', async () => {
    handle = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end();
    const answer = await ask(toPod('/'));
    assert.equal(answer.status, 200);
    assert.equal(answer.text, '');
  });

  it('passes pieces on as they come, both ways', async () => {
    handle = (request, response) => {
      response.setHeader('content-type', 'text/html');
      response.flushHeaders();
      request.on('data', (chunk: Buffer) => response.write(`<a href="/${chunk}">`));
      request.on('end', () => response.end('end'));
    };
    const sent = open(toPod('/'), { method: 'POST', headers: { 'transfer-encoding': 'chunked' } });
    sent.flushHeaders();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    for (const word of ['one', 'two']) {
      const next = once(response, 'data');
      sent.write(word);
      assert.equal(String((await next)[0]), `<a href="${toPod(`/${word}`)}">`);
    }
    const last = once(response, 'data');
    sent.end();
    assert.equal(String((await last)[0]), 'end');
  });

  it('takes no more from the client than the backend does', async () => {
    const waiting = Promise.withResolvers<IncomingMessage>();
    handle = (request, response) => {
      waiting.resolve(request);
      response.writeHead(200);
      response.flushHeaders();
      request.once('end', () => response.end());
    };
    const sent = open(toPod('/'), { method: 'PUT', headers: { 'transfer-encoding': 'chunked' } });
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    const chunk = Buffer.alloc(1024 * 1024);
    let written = 0;
    let full = false;
    while (!full && written < 256) {
      written++;
      const taken = await Promise.race([
        new Promise<boolean>((resolve) => sent.write(chunk, () => resolve(true))),
        new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 1000)),
      ]);
      full = !taken;
    }
    assert.ok(full, `${written} MiB were taken of which the backend has read nothing`);
    const request = await waiting.promise;
    let read = 0;
    request.on('data', (piece: Buffer) => (read += piece.length));
    sent.end();
    const [response] = await answered;
    response.resume();
    await once(response, 'end');
    assert.equal(read, written * chunk.length);
  });

  it('ends a request whose client has gone', async () => {
    const gone = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    handle = (request) => {
      request.socket.once('close', () => gone.resolve());
      asked.resolve();
    };
    const silent = open(toPod('/'));
    silent.on('error', () => undefined);
    silent.end();
    await asked.promise;
    silent.destroy();
    await gone.promise;
  });

  it('ends an answer whose client has gone', async () => {
    const gone = Promise.withResolvers<void>();
    handle = (_, response) => {
      response.once('close', () => gone.resolve());
      response.write('beginning');
    };
    const reading = open(toPod('/'));
    reading.on('error', () => undefined);
    reading.end();
    const [response] = (await once(reading, 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    await once(response, 'data');
    reading.destroy();
    await gone.promise;
  });

  for (const headers of [{ 'content-length': '100' }, { 'content-type': 'text/html' }] as const) {
    it(`cuts an answer that the backend cuts: ${JSON.stringify(headers)}`, async () => {
      handle = (_, response) => {
        response.writeHead(200, headers);
        response.write('beginning', () => response.destroy());
      };
      await assert.rejects(ask(toPod('/')), /aborted/);
    });
  }

  describe('when it can not', () => {
    const refused = async (path: string, asked?: Asked) => {
      const { status, text } = await ask(path, asked);
      const { kind, reason, message } = JSON.parse(text) as Record<string, string>;
      assert.equal(kind, 'Status');
      return `${status} ${reason}: ${message}`;
    };

    it('says that nobody listens', async () => {
      const port = await freePort();
      assert.match(
        await refused(toPod('/', port)),
        /^503 ServiceUnavailable: error trying to reach service: connect ECONNREFUSED/,
      );
    });

    it('says that what listens does not speak HTTP', async () => {
      const server = createTcpServer((socket) => void socket.end('hello\n'));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      assert.match(
        await refused(toPod('/', portOf(server))),
        /^503 ServiceUnavailable: error trying to reach service: /,
      );
      const encrypted = `${namespace}/pods/https:web:${portOf(server)}/proxy/`;
      assert.match(await refused(encrypted), /^503 ServiceUnavailable: error trying to reach service: /);
      server.close();
    });

    for (const answer of [
      'HTTP/1.1 200 OK\r\nx: a\x01b\r\n\r\n',
      'HTTP/1.1 777 What\r\ncontent-length: 0\r\n\r\n',
    ]) {
      it(`says that an answer can not be passed on: ${JSON.stringify(answer)}`, async () => {
        const closed = Promise.withResolvers<void>();
        const server = createTcpServer((socket) => {
          socket.on('error', () => undefined);
          socket.once('close', () => closed.resolve());
          socket.resume();
          socket.write(answer);
        });
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        assert.match(
          await refused(toPod('/', portOf(server))),
          /^503 ServiceUnavailable: error trying to reach service: /,
        );
        await closed.promise;
        server.close();
      });
    }

    it('says that a backend hung up', async () => {
      handle = (request) => void request.socket.destroy();
      assert.equal(
        await refused(toPod('/')),
        '503 ServiceUnavailable: error trying to reach service: socket hang up',
      );
    });

    it('says what is wrong with the address', async () => {
      const answers = {
        [`${namespace}/pods/web:http/proxy/`]: '400 BadRequest: "http" is not a port',
        [`${namespace}/pods/ftp:web:1/proxy/`]: '400 BadRequest: invalid pod request "ftp:web:1"',
        [`${namespace}/pods/unbound/proxy/`]: '400 BadRequest: address not allowed',
        [`${namespace}/pods/none:80/proxy/`]: '404 NotFound: pods "none" not found',
        [`${namespace}/services/none/proxy/`]: '404 NotFound: services "none" not found',
        [`${namespace}/services/web:other/proxy/`]:
          '503 ServiceUnavailable: no endpoints available for service "web:other"',
        [`${namespace}/services/web:81/proxy/`]:
          '503 ServiceUnavailable: no service port 81 found for service "web"',
        '/api/v1/nodes/none/proxy/': '404 NotFound: nodes "none" not found',
        '/api/v1/nodes/n1:22/proxy/': '400 BadRequest: address not allowed',
      };
      for (const [path, expected] of Object.entries(answers)) assert.equal(await refused(path), expected);
    });

    it('does not lead to an address that is no pod', async () => {
      await createService('elsewhere', [{ port: 80 }], [{ name: '', port: portOf(backend) }], undefined);
      await cluster.server.call(
        'PATCH',
        `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/elsewhere`,
        [{ op: 'remove', path: '/endpoints/0/targetRef' }],
        { headers: { 'content-type': 'application/json-patch+json' } },
      );
      assert.equal(
        await refused(`${namespace}/services/elsewhere/proxy/`),
        '503 ServiceUnavailable: no endpoints available for service "elsewhere"',
      );
    });

    it('refuses a body that would be lost', async () => {
      const asked = { method: 'GET', body: 'x', headers: { 'content-length': '1' } };
      assert.equal(
        await refused(toPod('/'), asked),
        '400 BadRequest: a body of GET is not passed on: send it with POST',
      );
    });

    it('does not know other methods', async () => {
      assert.match(await refused(toPod('/'), { method: 'PROPFIND' }), /^405 MethodNotAllowed: /);
    });
  });

  describe('for another protocol', () => {
    it('carries a WebSocket, and keeps its token to itself', async () => {
      const sockets = new WebSocketServer({
        noServer: true,
        handleProtocols: (offered) => [...offered][0] ?? false,
      });
      const seen: IncomingMessage['headers'][] = [];
      backend.on('upgrade', (request, socket, head) => {
        seen.push(request.headers);
        sockets.handleUpgrade(request, socket, head, (opened) => {
          opened.send(`hello ${request.url}`);
          opened.on('message', (data) => opened.send(`you said ${data}`));
        });
      });
      const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('s3cret').toString('base64url')}`;
      const client = new WebSocket(
        `wss://127.0.0.1:${cluster.server.port}${toPod('/chat?room=1')}`,
        [token, 'chat'],
        {
          ca: cluster.server.authority.certificate,
        },
      );
      assert.equal(String((await once(client, 'message'))[0]), 'hello /chat?room=1');
      client.send('x');
      assert.equal(String((await once(client, 'message'))[0]), 'you said x');
      assert.equal(client.protocol, 'chat');
      assert.deepEqual(
        seen.map((headers) => headers['sec-websocket-protocol']),
        ['chat'],
      );
      assert.equal(seen[0]?.['x-forwarded-for'], '127.0.0.1');
      const closed = once(client, 'close');
      const [backendSocket] = sockets.clients;
      const backendClosed = backendSocket && once(backendSocket, 'close');
      client.terminate();
      await closed;
      await backendClosed;
      backend.removeAllListeners('upgrade');
    });

    it('carries what it has never heard of', async () => {
      backend.on('upgrade', (request, socket: Duplex) => {
        socket.write(
          `HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\nfirst`,
        );
        socket.on('data', (chunk) => socket.end(`last ${chunk}`));
      });
      const sent = open(toPod('/'), { headers: { connection: 'Upgrade', upgrade: 'teletype' } });
      sent.end();
      const [response, socket, head] = (await once(sent, 'upgrade')) as [IncomingMessage, Duplex, Buffer];
      assert.equal(response.headers.upgrade, 'teletype');
      socket.write('word');
      let text = String(head);
      for await (const chunk of socket) text += chunk;
      assert.equal(text, 'firstlast word');
      backend.removeAllListeners('upgrade');
    });

    it('passes the answer of a backend back that does not agree', async () => {
      handle = (_, response) =>
        response.writeHead(426, { 'set-cookie': ['a=1', 'b=2'] }).end('use something else');
      const refusing = { headers: { connection: 'Upgrade', upgrade: 'teletype' } };
      const answer = await ask(toPod('/'), refusing);
      assert.equal(answer.status, 426);
      assert.equal(answer.text, 'use something else');
      assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2']);
    });

    it('is not asked for with a body', async () => {
      handle = echo;
      const headers = { connection: 'Upgrade', upgrade: 'teletype', 'content-length': '4' };
      const seen = echoed(await ask(toPod('/'), { method: 'POST', headers, body: 'body' }));
      assert.equal(seen.body, 'body');
      assert.equal(seen.headers.upgrade, undefined);
    });
  });

  describe('of a node', () => {
    it("reaches its agent, which asks for the server's own certificate", async () => {
      assert.equal((await ask('/api/v1/nodes/n1/proxy/healthz')).text, 'ok');
      const list = await ask('/api/v1/nodes/https:n1:/proxy/pods');
      assert.equal(JSON.parse(list.text).items[0].metadata.name, 'web');
      assert.equal((await ask('/api/v1/nodes/n1/proxy/none')).status, 404);
    });

    it('runs a command by way of its agent', async () => {
      const path = '/api/v1/nodes/n1/proxy/exec/default/web/main?command=fail&output=1&error=1';
      const client = new WebSocket(`wss://127.0.0.1:${cluster.server.port}${path}`, 'v4.channel.k8s.io', {
        ca: cluster.server.authority.certificate,
        headers: { authorization: 'Bearer s3cret' },
      });
      const messages: string[] = [];
      client.on('message', (data) => messages.push(String(data)));
      await once(client, 'close');
      assert.ok(messages.includes('\x01out\n'), JSON.stringify(messages));
    });
  });

  describe('is for administrators', () => {
    const paths = () => [
      toPod('/'),
      `${namespace}/services/web:http/proxy/`,
      '/api/v1/nodes/n1/proxy/healthz',
    ];

    for (const [user, groups] of [
      ['somebody', []],
      ['system:node:n1', ['system:nodes']],
    ] as const) {
      it(`not for ${user}`, async () => {
        handle = say('nobody should see this');
        const as = await cluster.server.clientCertificate(user, groups);
        for (const path of paths()) {
          for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
            assert.equal((await ask(path, { method, as })).status, 403, `${method} ${path}`);
          }
          const upgrade = { connection: 'Upgrade', upgrade: 'teletype' };
          assert.equal((await ask(path, { headers: upgrade, as })).status, 403, `an upgrade of ${path}`);
        }
      });
    }
  });

  it('is in discovery with its verbs', async () => {
    const { text } = await ask('/api/v1');
    const { resources } = JSON.parse(text) as {
      resources: { name: string; kind: string; verbs: string[] }[];
    };
    assert.deepEqual(
      resources
        .filter(({ name }) => name.endsWith('/proxy'))
        .map(({ name, kind, verbs }) => `${name} ${kind} ${verbs}`),
      ['nodes', 'pods', 'services'].map(
        (plural, i) =>
          `${plural}/proxy ${['Node', 'Pod', 'Service'][i]}ProxyOptions create,delete,get,patch,update`,
      ),
    );
  });
});
