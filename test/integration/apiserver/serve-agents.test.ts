/**
 * The protocol between the server and node agents: HTTP/2 on a connection that both sides recognize as such.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { systemClock } from '../../../src/base/clock.ts';
import { createHttp2Transport } from '../../../src/client/http2-transport.ts';
import type { ApiResponse } from '../../../src/client/transport.ts';
import { agentProtocol } from '../../../src/http/agent-protocol.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

describe('the HTTPS listener for agents', () => {
  let server: HttpsTestServer;
  before(async () => {
    server = await startHttpsTestServer();
  });
  after(() => server.stop());

  const dial = async (of: HttpsTestServer = server) => {
    const { key, certificate } = await of.clientCertificate('agent', ['system:masters']);
    const url = `https://127.0.0.1:${of.port}`;
    const ca = of.authority.certificate;
    return createHttp2Transport({ server: url, ca, key, cert: certificate, clock: systemClock });
  };
  const read = async ({ body }: ApiResponse) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  const maps = '/api/v1/namespaces/default/configmaps';

  it('authenticates the user by the certificate, and reports errors as for other users', async () => {
    const transport = await dial();
    const answer = await transport.request({ method: 'GET', path: `${maps}/none` });
    assert.equal(answer.status, 404);
    assert.match(await read(answer), /configmaps \\"none\\" not found/);
    const headers = { 'Impersonate-User': 'bob' };
    const impersonating = await transport.request({ method: 'GET', path: maps, headers });
    assert.equal(impersonating.status, 403);
    assert.match(await read(impersonating), /User \\"bob\\" cannot list/);
    transport.close();
    const { authority, port } = server;
    const unknown = { server: `https://127.0.0.1:${port}`, ca: authority.certificate, clock: systemClock };
    const stranger = createHttp2Transport(unknown);
    assert.equal((await stranger.request({ method: 'GET', path: maps })).status, 401);
    stranger.close();
  });

  it('closes the connection of an unauthenticated client after its first answer', async () => {
    const socket = connect({
      host: '127.0.0.1',
      port: server.port,
      ca: server.authority.certificate,
      ALPNProtocols: ['h2', agentProtocol],
    });
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { createConnection: () => socket });
    const stream = session.request({ ':path': maps });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    assert.equal(headers[':status'], 401);
    const closed = once(session, 'close');
    stream.resume();
    await closed;
  });

  it('keeps many watches on one connection, while large lists are read slowly', async () => {
    const own = await startHttpsTestServer();
    const transport = await dial(own);
    const watches = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const { body } = await transport.request({ method: 'GET', path: `${maps}?watch=true` });
        return body[Symbol.asyncIterator]();
      }),
    );
    const data = { text: 'x'.repeat(200_000) };
    for (let number = 0; number < 10; number++) {
      const body = JSON.stringify({ metadata: { name: `large-${number}` }, data });
      const headers = { 'content-type': 'application/json' };
      const made = await transport.request({ method: 'POST', path: maps, headers, body });
      assert.equal(made.status, 201);
      await read(made);
    }
    const list = await transport.request({ method: 'GET', path: maps });
    for (const watch of watches) {
      let text = '';
      while (!text.includes('large-9')) text += String((await watch.next()).value);
    }
    const { items } = JSON.parse(await read(list)) as { items: { metadata: { name: string } }[] };
    assert.equal(items.filter(({ metadata }) => metadata.name.startsWith('large-')).length, 10);
    transport.close();
    await own.stop();
  });

  it('ends watches and connections when it stops', async () => {
    const own = await startHttpsTestServer();
    const transport = await dial(own);
    const watch = await transport.request({ method: 'GET', path: `${maps}?watch=true` });
    const ended = read(watch);
    await own.stop();
    assert.equal(await ended, '');
    transport.close();
  });
});
