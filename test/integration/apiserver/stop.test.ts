/**
 * Stopping the listener while connected clients do not close their side, as when their machine has failed.
 */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { beforeEach, describe, it, type TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { authorityPath } from '../../../src/api/certificates/v1/conditions.ts';
import { type Replaceable, replaceable } from '../../../src/base/current.ts';
import { agentProtocol } from '../../../src/http/agent-protocol.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const upgrade =
  'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: a\r\n';
/** The client preface of HTTP/2 (RFC 9113 §3.4), and an empty SETTINGS. */
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const emptySettings = [0, 0, 0, 4, 0, 0, 0, 0, 0];

/** Reads the incoming data and leaves its own side open after the server's side has ended. */
async function dial(
  t: TestContext,
  { port, authority, clientCertificate }: HttpsTestServer,
  ALPNProtocols: string[],
  [user, group]: readonly [string, string] = ['silent', 'system:masters'],
): Promise<TLSSocket> {
  const { key, certificate } = await clientCertificate(user, [group]);
  const trust = { ca: authority.certificate, key, cert: certificate };
  const options = { host: '127.0.0.1', port, ...trust, ALPNProtocols, allowHalfOpen: true };
  const socket = connect(options);
  socket.on('error', () => undefined);
  t.after(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

/** Resolves once the client has read this much text. */
async function reads(socket: Socket, pattern: RegExp): Promise<void> {
  let text = '';
  while (!pattern.test(text)) text += String((await once(socket, 'data'))[0]);
}

describe('a listener that stops', () => {
  let clock: FakeClock;
  let server: HttpsTestServer;
  let text: Replaceable<string>;
  beforeEach(async () => {
    clock = new FakeClock();
    text = replaceable('one');
    server = await startHttpsTestServer({ listenClock: clock, watches: new Map([[authorityPath, text]]) });
  });

  it('waits a second for an agent that does not close its connection', async (t) => {
    const agent = await dial(t, server, ['h2', agentProtocol]);
    agent.write(Buffer.concat([Buffer.from(preface), Buffer.from(emptySettings)]));
    await once(agent, 'data');
    const ended = once(agent.resume(), 'end');
    const stopped = server.stop();
    await ended;
    await clock.advance(1000);
    await stopped;
  });

  it('waits a second for a client of a watch that does not close its connection', async (t) => {
    const client = await dial(t, server, ['http/1.1']);
    client.write(`GET ${maps}?watch=true HTTP/1.1\r\nhost: a\r\n\r\n`);
    await reads(client, /\r\n\r\n/);
    const ended = once(client, 'end');
    const stopped = server.stop();
    await reads(client, /(?:^|\r\n)0\r\n\r\n$/);
    await clock.advance(300);
    client.resume();
    await ended;
    await clock.advance(1000);
    await stopped;
  });

  it('ends the watch of a node that follows a document, which a machine that joins may not watch', async (t) => {
    const request = `GET ${authorityPath}?watch=true HTTP/1.1\r\nhost: a\r\n\r\n`;
    const joining = await dial(t, server, ['http/1.1'], ['system:bootstrap:a', 'system:bootstrappers']);
    joining.write(request);
    await reads(joining, /^HTTP\/1.1 403 /);
    joining.destroy();
    const node = await dial(t, server, ['http/1.1'], ['system:node:a', 'system:nodes']);
    node.write(request);
    await reads(node, /\r\n\r\n[\s\S]*one\n/);
    text.replace('two');
    await reads(node, /two\n/);
    const stopped = server.stop();
    await reads(node, /(?:^|\r\n)0\r\n\r\n$/);
    node.destroy();
    await clock.advance(1000);
    await stopped;
  });

  it('closes a connection whose TLS handshake is not complete', async (t) => {
    const client = connectTcp({ host: '127.0.0.1', port: server.port });
    client.on('error', () => undefined);
    t.after(() => client.destroy());
    await once(client, 'connect');
    // The server has accepted the first connection once it answers on a second.
    await dial(t, server, ['http/1.1']).then((other) => other.destroy());
    await server.stop();
  });

  it('cuts off a client that does not close its connection after a rejected upgrade', async (t) => {
    const client = await dial(t, server, ['http/1.1']);
    client.write(`GET ${maps}/../x HTTP/1.1\r\nhost: a\r\n${upgrade}\r\n`);
    await reads(client, /400 Bad Request/);
    const stopped = server.stop();
    await clock.advance(5000);
    await stopped;
  });

  it('cuts off an agent that does not read its answer', async (t) => {
    const agent = await dial(t, server, ['h2', agentProtocol]);
    const session = connectHttp2('https://127.0.0.1', { createConnection: () => agent });
    const send = (method: string, path: string, body?: object) => {
      const stream = session.request({
        ':method': method,
        ':path': path,
        'content-type': 'application/json',
      });
      stream.on('error', () => undefined);
      stream.end(body && JSON.stringify(body));
      return once(stream, 'response');
    };
    // More than the window of a stream holds.
    const data = { text: 'x'.repeat(200_000) };
    await send('POST', maps, { metadata: { name: 'large' }, data });
    await send('GET', maps);
    const stopped = server.stop();
    await clock.advance(5000);
    await stopped;
  });
});
