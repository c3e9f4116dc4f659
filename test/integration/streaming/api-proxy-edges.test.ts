/**
 * Traffic through pods/proxy, services/proxy and nodes/proxy other than a request and its answer, and traffic
 * that is rejected.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { freePort } from '../../fixtures/free-port.ts';
import { type Asked, echo, echoed, namespace, Proxied, portOf } from './proxied.ts';

describe('the proxy of the API server', () => {
  let proxied: Proxied;
  before(async () => {
    proxied = await Proxied.start();
  });
  after(() => proxied.stop());

  describe('without an answer to pass on', () => {
    const refused = async (path: string, asked?: Asked) => {
      const { status, text } = await proxied.ask(path, asked);
      const { kind, reason, message } = JSON.parse(text) as Record<string, string>;
      assert.equal(kind, 'Status');
      return `${status} ${reason}: ${message}`;
    };

    it('reports that no server listens', async () => {
      const port = await freePort();
      assert.match(
        await refused(proxied.toPod('/', port)),
        /^503 ServiceUnavailable: error trying to reach service: connect ECONNREFUSED/,
      );
    });

    it('reports that the server does not speak HTTP', async () => {
      const server = createTcpServer((socket) => void socket.end('hello\n'));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      assert.match(
        await refused(proxied.toPod('/', portOf(server))),
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
      it(`reports that an answer cannot be passed on: ${JSON.stringify(answer)}`, async () => {
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
          await refused(proxied.toPod('/', portOf(server))),
          /^503 ServiceUnavailable: error trying to reach service: /,
        );
        await closed.promise;
        server.close();
      });
    }

    it('reports that a backend closed the connection', async () => {
      proxied.handle = (request) => void request.socket.destroy();
      assert.equal(
        await refused(proxied.toPod('/')),
        '503 ServiceUnavailable: error trying to reach service: socket hang up',
      );
    });

    it('reports what is wrong with an address', async () => {
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

    it('rejects an address that is not of a pod', async () => {
      await proxied.createService('elsewhere', [{ port: 80 }], [{ name: '', port: portOf(proxied.backend) }]);
      await proxied.cluster.server.call(
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
        await refused(proxied.toPod('/'), asked),
        '400 BadRequest: the body of a GET request is not forwarded: send it with POST',
      );
    });

    it('rejects unknown methods', async () => {
      assert.match(await refused(proxied.toPod('/'), { method: 'PROPFIND' }), /^405 MethodNotAllowed: /);
    });
  });

  describe('for another protocol', () => {
    it('carries a WebSocket, and does not pass on its token', async () => {
      const sockets = new WebSocketServer({
        noServer: true,
        handleProtocols: (offered) => [...offered][0] ?? false,
      });
      const seen: IncomingMessage['headers'][] = [];
      proxied.backend.on('upgrade', (request, socket, head) => {
        seen.push(request.headers);
        sockets.handleUpgrade(request, socket, head, (opened) => {
          opened.send(`hello ${request.url}`);
          opened.on('message', (data) => opened.send(`you said ${data}`));
        });
      });
      const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('s3cret').toString('base64url')}`;
      const client = new WebSocket(
        `wss://127.0.0.1:${proxied.cluster.server.port}${proxied.toPod('/chat?room=1')}`,
        [token, 'chat'],
        {
          ca: proxied.cluster.server.authority.certificate,
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
      proxied.backend.removeAllListeners('upgrade');
    });

    it('passes on an unknown protocol', async () => {
      proxied.backend.on('upgrade', (request, socket: Duplex) => {
        socket.write(
          `HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\nfirst`,
        );
        socket.on('data', (chunk) => socket.end(`last ${chunk}`));
      });
      const sent = proxied.open(proxied.toPod('/'), {
        headers: { connection: 'Upgrade', upgrade: 'teletype' },
      });
      sent.end();
      const [response, socket, head] = (await once(sent, 'upgrade')) as [IncomingMessage, Duplex, Buffer];
      assert.equal(response.headers.upgrade, 'teletype');
      socket.write('word');
      let text = String(head);
      for await (const chunk of socket) text += chunk;
      assert.equal(text, 'firstlast word');
      proxied.backend.removeAllListeners('upgrade');
    });

    it('passes on the answer of a backend that rejects the upgrade', async () => {
      proxied.handle = (_, response) =>
        response.writeHead(426, { 'set-cookie': ['a=1', 'b=2'] }).end('use something else');
      const refusing = { headers: { connection: 'Upgrade', upgrade: 'teletype' } };
      const answer = await proxied.ask(proxied.toPod('/'), refusing);
      assert.equal(answer.status, 426);
      assert.equal(answer.text, 'use something else');
      assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2']);
    });

    it('passes on a request with a body without its upgrade', async () => {
      proxied.handle = echo;
      const headers = { connection: 'Upgrade', upgrade: 'teletype', 'content-length': '4' };
      const seen = echoed(await proxied.ask(proxied.toPod('/'), { method: 'POST', headers, body: 'body' }));
      assert.equal(seen.body, 'body');
      assert.equal(seen.headers.upgrade, undefined);
    });
  });

  describe('to a node', () => {
    it("reaches its agent, which requires the server's own certificate", async () => {
      assert.equal((await proxied.ask('/api/v1/nodes/n1/proxy/healthz')).text, 'ok');
      const list = await proxied.ask('/api/v1/nodes/https:n1:/proxy/pods');
      assert.equal(JSON.parse(list.text).items[0].metadata.name, 'web');
      assert.equal((await proxied.ask('/api/v1/nodes/n1/proxy/none')).status, 404);
    });

    it('runs a command by way of its agent', async () => {
      const path = '/api/v1/nodes/n1/proxy/exec/default/web/main?command=fail&output=1&error=1';
      const client = new WebSocket(
        `wss://127.0.0.1:${proxied.cluster.server.port}${path}`,
        'v4.channel.k8s.io',
        {
          ca: proxied.cluster.server.authority.certificate,
          headers: { authorization: 'Bearer s3cret' },
        },
      );
      const messages: string[] = [];
      client.on('message', (data) => messages.push(String(data)));
      await once(client, 'close');
      assert.ok(messages.includes('\x01out\n'), JSON.stringify(messages));
    });
  });

  describe('for a user who is not an administrator', () => {
    const paths = () => [
      proxied.toPod('/'),
      `${namespace}/services/web:http/proxy/`,
      '/api/v1/nodes/n1/proxy/healthz',
    ];

    for (const [user, groups] of [
      ['somebody', []],
      ['system:node:n1', ['system:nodes']],
    ] as const) {
      it(`rejects every request of ${user}`, async () => {
        proxied.handle = (_, response) => void response.end('this answer must not be sent');
        const as = await proxied.cluster.server.clientCertificate(user, groups);
        for (const path of paths()) {
          for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
            assert.equal((await proxied.ask(path, { method, as })).status, 403, `${method} ${path}`);
          }
          const upgrade = { connection: 'Upgrade', upgrade: 'teletype' };
          assert.equal(
            (await proxied.ask(path, { headers: upgrade, as })).status,
            403,
            `an upgrade of ${path}`,
          );
        }
      });
    }
  });

  it('is in discovery with its verbs', async () => {
    const { text } = await proxied.ask('/api/v1');
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
