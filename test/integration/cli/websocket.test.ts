/** The WebSockets of `ctl` against faulty servers. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { openChannels } from '../../../src/cli/streaming/websocket.ts';
import { dialing } from '../../../src/client/https-transport.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

describe('WebSockets of ctl', () => {
  let http: Server;
  let sockets: WebSocketServer;
  let authorization: string | undefined;

  before(async () => {
    http = createServer();
    sockets = new WebSocketServer({
      noServer: true,
      autoPong: false,
      handleProtocols: (offered) => [...offered].find((name) => name.startsWith('v5')) ?? false,
    });
    http.on('upgrade', (request, socket, head) => {
      authorization = request.headers.authorization;
      if (request.url === '/base/ok') {
        return sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened));
      }
      socket.end('HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\nno such\nbackend');
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
  });
  after(() => {
    for (const client of sockets.clients) client.terminate();
    http.close();
  });

  const open = (path: string, { protocol = 'v5.channel.k8s.io', clock = new FakeClock(), port = 0 } = {}) => {
    const server = `http://127.0.0.1:${port || (http.address() as AddressInfo).port}/base/`;
    const options = { server, token: 's3cret', clock };
    return openChannels({
      dialing: dialing(options, path),
      protocol,
      clock,
      signal: new AbortController().signal,
    });
  };

  it('a server that answers no ping is given up after a minute', async () => {
    const clock = new FakeClock();
    const connected = once(sockets, 'connection') as Promise<[WebSocket]>;
    const channels = await open('/ok', { clock });
    const [server] = await connected;
    const got: string[] = [];
    channels.listen((channel, data) => got.push(`${channel} ${data}`));
    let over = false;
    void channels.closed.then(() => {
      over = true;
    });
    for (let count = 0; count < 12; count++) {
      const pinged = once(server, 'ping');
      await clock.advance(5_000);
      await pinged;
      // One answer restarts the count.
      if (count !== 5) continue;
      server.pong();
      server.send(Buffer.from('\x01still here'));
      while (got.length === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual([got, over], [['1 still here'], false]);
    for (let count = 0; count < 7; count++) await clock.advance(5_000);
    await channels.closed;
    assert.equal(authorization, 'Bearer s3cret');
  });

  it('a refusal that is not a Status is shown in one line', async () => {
    await assert.rejects(open('/other'), { message: 'GET /base/other answered 502: no such backend' });
  });

  it('a server that agrees to no protocol is refused', async () => {
    await assert.rejects(open('/ok', { protocol: 'v6.channel.k8s.io' }), {
      message: 'the server does not speak v6.channel.k8s.io',
    });
  });

  it('an unreachable server has the same message as in every other command', async () => {
    const { port } = http.address() as AddressInfo;
    await assert.rejects(open('/ok', { port: port === 1 ? 2 : 1 }), {
      name: 'TransportError',
      message: /cannot reach the API server at http:\/\/127\.0\.0\.1:\d+: connection refused/,
    });
  });
});
