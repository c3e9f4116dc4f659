/** Requests that are sent before the previous request is answered, over the real listener. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { listenHttps } from '../../../src/apiserver/transport/serve.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { replaceable } from '../../../src/base/current.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

describe('pipelined requests', () => {
  let server: HttpsTestServer;
  before(async () => {
    server = await startHttpsTestServer();
  });
  after(() => server.stop());

  const dial = async (isAdmin: boolean, port = server.port) => {
    const identity = isAdmin ? await server.clientCertificate('admin', ['system:masters']) : undefined;
    const tls = identity && { key: identity.key, cert: identity.certificate };
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...tls });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    return socket;
  };
  /** Resolves when the server has closed the connection. */
  const say = async (text: string, socket: TLSSocket) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.once('close', () => resolve());
    socket.resume();
    socket.write(text);
    await promise;
  };
  const answers = (said: string) => said.match(/HTTP\/1\.1 \d+/g) ?? [];
  const maps = '/api/v1/namespaces/default/configmaps';
  const made = async () => {
    const { items } = JSON.parse((await server.call('GET', maps)).text) as {
      items: { metadata: { name: string } }[];
    };
    return items.map(({ metadata }) => metadata.name);
  };
  const create = (name: string) => {
    const body = JSON.stringify({ metadata: { name } });
    const head = `POST ${maps} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json`;
    return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };

  it('handles one request of an unauthenticated client at a time, and no upgrade', async (test) => {
    let given = 0;
    const fetch: typeof server.app.fetch = (...asked) => {
      given++;
      return server.app.fetch(...asked);
    };
    const stopping = new AbortController();
    const own = await listenHttps({
      app: Object.assign(Object.create(server.app), { fetch }),
      address: '127.0.0.1',
      port: 0,
      tls: {
        identity: replaceable(await server.clientCertificate('server', [])),
        clientCA: server.authority.certificate,
      },
      signal: stopping.signal,
      clock: systemClock,
      log: silentLogger,
    });
    test.after(() => stopping.abort());
    const exec = '/api/v1/namespaces/default/pods/web/exec?command=x&stdout=1';
    const upgrade = `GET ${exec} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    for (const path of ['/livez', '/', '/api/v1/pods']) {
      const one = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
      for (const text of [one.repeat(2000), `${one}${upgrade}`]) {
        given = 0;
        await say(text, await dial(false, own.port));
        assert.equal(given, 1, path);
      }
    }
  });

  it('answers eight requests of an authenticated client in their order, again and again', async () => {
    const socket = await dial(true);
    for (let round = 0; round < 3; round++) {
      let said = '';
      const names = Array.from({ length: 4 }, (_, i) => `line-${round}-${i}`);
      socket.write(
        names.map((name) => `${create(name)}GET ${maps}/${name}-none HTTP/1.1\r\nHost: a\r\n\r\n`).join(''),
      );
      while (answers(said).length < 8 || !said.includes(`${names[3]}-none\\" not found`)) {
        const [chunk] = await once(socket, 'data');
        said += chunk;
      }
      assert.deepEqual(
        answers(said),
        names.flatMap(() => ['HTTP/1.1 201', 'HTTP/1.1 404']),
      );
      assert.deepEqual(
        names.map((name) => said.indexOf(`"name":"${name}"`)).toSorted((a, b) => a - b),
        names.map((name) => said.indexOf(`"name":"${name}"`)),
      );
    }
    socket.destroy();
  });

  it('closes the connection of an authenticated client that sends many more, and handles none of them', async () => {
    const all = Array.from({ length: 500 }, (_, i) => create(`many-${i}`));
    await say(all.join(''), await dial(true));
    const done = (await made()).filter((name) => name.startsWith('many-'));
    assert.ok(done.length <= 8, `${done.length} were made`);
  });
});
