/** Requests for /proxy and their answers, as the backend and the client see them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { AskOptions } from '../subresources/agents.ts';
import { Backend, type Echoed, echo, namespace } from './backend.ts';

const toPod = (path: string, id = 'web') => `${namespace}/pods/${id}/proxy${path}`;

let backend: Backend;
before(async () => {
  backend = await Backend.start();
});
after(() => backend.stop());
beforeEach(() => {
  backend.handle = echo;
  backend.overPlainText();
  backend.agents.asked.length = 0;
  backend.agents.joined = undefined;
  backend.connections.length = 0;
});

const ask = (path: string, options?: AskOptions) => backend.agents.ask(toPod(path), options);
const echoed = async (path: string, options?: AskOptions) => {
  const answer = await ask(path, options);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text) as Echoed;
};

describe('a request', () => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    test(`with ${method} arrives as sent`, async () => {
      const sent = method === 'GET' ? {} : { body: 'words', headers: { 'content-length': '5' } };
      const { headers, ...rest } = await echoed('/a%2Fb//?c=d&e', { method, ...sent });
      assert.deepEqual(rest, { method, url: '/a%2Fb//?c=d&e', body: sent.body ?? '' });
      assert.equal(headers['x-forwarded-uri'], toPod('/a%2Fb//'));
      assert.equal(headers['content-length'], sent.body && '5');
      assert.equal(headers.host, 'apiserver');
      assert.equal(headers['x-forwarded-for'], undefined);
      assert.equal(headers['transfer-encoding'], undefined);
    });

  test('in pieces arrives in pieces, with its origin', async () => {
    const options = { headers: { 'transfer-encoding': 'chunked', host: 'cluster' }, body: 'words' };
    const { headers, body } = await echoed('/', { method: 'POST', ...options, remoteAddress: '192.0.2.7' });
    assert.deepEqual(
      [headers['transfer-encoding'], headers.host, headers['x-forwarded-for'], body],
      ['chunked', 'cluster', '192.0.2.7', 'words'],
    );
  });

  test('without a length has no body, even if data follow', async () => {
    const { headers, body } = await echoed('/', { method: 'POST', body: 'words' });
    assert.deepEqual([headers['transfer-encoding'], headers['content-length'], body], [undefined, '0', '']);
  });

  test('is answered before any byte of its body arrives', async () => {
    backend.handle = (_, response) => response.end('no, thank you');
    const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
    const answer = await ask('/', { method: 'POST', headers: { 'transfer-encoding': 'chunked' }, body });
    assert.equal(await answer.text(), 'no, thank you');
  });

  test('is sent to the port of the pod through its node', async () => {
    const headers = { 'audit-id': 'mine' };
    await ask('/', { headers });
    await backend.agents.ask(toPod('/', 'web:81'), { headers });
    assert.deepEqual(
      backend.agents.asked.map(({ node, method, path, headers }) => [node, method, path, headers]),
      ['8080', '81'].map((port) => [
        'n1',
        'POST',
        `/connect/default/web/${port}`,
        { ...headers, connection: 'Upgrade', upgrade: 'tcp' },
      ]),
    );
  });

  test('without a path is redirected to the path with a slash, if its method only reads', async () => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask('?a=b', { method });
      assert.deepEqual([answer.status, answer.headers.get('location')], [301, `${toPod('/')}?a=b`]);
      assert.ok(answer.headers.get('audit-id'));
    }
    assert.deepEqual(backend.connections, []);
    for (const method of ['POST', 'DELETE']) assert.equal((await echoed('?a=b', { method })).url, '/?a=b');
  });

  test('with a body is rejected if its method only reads', async () => {
    for (const method of ['GET', 'HEAD'])
      for (const [name, value] of [
        ['content-length', '1'],
        ['transfer-encoding', 'chunked'],
      ] as const) {
        const answer = await ask('/', { method, headers: { [name]: value } });
        assert.equal(answer.status, 400);
        if (method === 'HEAD') continue;
        const { message } = (await answer.json()) as { message: string };
        assert.equal(message, 'the body of a GET request is not forwarded: send it with POST');
      }
    assert.equal((await echoed('/', { headers: { 'content-length': '0' } })).url, '/');
  });

  test('over TLS arrives decrypted, for any certificate of the backend', async () => {
    await backend.overTls();
    const encrypted: unknown[] = [];
    backend.handle = (request, response) => {
      const { encrypted: is, alpnProtocol } = request.socket as TLSSocket;
      encrypted.push(is, alpnProtocol);
      return echo(request, response);
    };
    const answer = await backend.agents.ask(toPod('/x', 'https:web:443'));
    assert.deepEqual([answer.status, ((await answer.json()) as Echoed).url], [200, '/x']);
    assert.deepEqual(encrypted, [true, 'http/1.1']);
  });

  for (const who of ['client', 'server'])
    test(`is sent with the ${who}`, async () => {
      const arrived = Promise.withResolvers<void>();
      backend.handle = () => arrived.resolve();
      const [client, server] = [new AbortController(), new AbortController()];
      const asked = ask('/', { signal: client.signal, shutdown: server.signal });
      await arrived.promise;
      const closed = once(backend.connections[0] as Duplex, 'close');
      (who === 'client' ? client : server).abort();
      await closed;
      assert.ok((await asked).status >= 500);
    });
});

describe('an answer', () => {
  const bodyOf = async (response: Response) => Buffer.from(await response.arrayBuffer()).toString();

  test('is forwarded as the backend sent it', async () => {
    backend.handle = (_, response) =>
      response.writeHead(418, { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] }).end('tea');
    const answer = await ask('/');
    assert.deepEqual(
      [answer.status, answer.headers.getSetCookie(), await bodyOf(answer)],
      [418, ['a=1', 'b=2'], 'tea'],
    );
    assert.ok(answer.headers.get('audit-id'));
  });

  for (const status of [204, 205, 304])
    test(`with the status ${status} has no body`, async () => {
      backend.handle = (_, response) => response.writeHead(status, { etag: '"x"' }).end();
      const answer = await ask('/');
      assert.deepEqual([answer.status, answer.headers.get('etag'), answer.body], [status, '"x"', null]);
    });

  test('to HEAD has no body, and the length that it would have', async () => {
    backend.handle = (_, response) => response.writeHead(200, { 'content-length': '7' }).end();
    const answer = await ask('/', { method: 'HEAD' });
    assert.deepEqual([answer.status, answer.headers.get('content-length'), answer.body], [200, '7', null]);
  });

  const page = '<a href="/x">ä</a><a href="http://10.0.0.1:8080/y"><a href="http://10.0.0.1/z">';
  const read = `<a href="${toPod('/x')}">ä</a><a href="${toPod('/y')}"><a href="${toPod('/z')}">`;
  for (const [encoding, encode] of [
    ['', (text: string) => Buffer.from(text)],
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)
    test(`that is a document ${encoding ? `in ${encoding}` : 'as it is'} leads through the proxy`, async () => {
      for (const text of [page, '']) {
        backend.handle = (_, response) => {
          const headers = { 'content-type': 'text/html', ...(encoding && { 'content-encoding': encoding }) };
          response.writeHead(200, headers).end(text === '' ? '' : encode(text));
        };
        const answer = await ask('/');
        assert.equal(answer.headers.get('content-encoding'), null);
        assert.equal(await bodyOf(answer), text === '' ? '' : read);
      }
    });

  test('arrives piece by piece, rewritten or not', async () => {
    for (const [type, sent, seen] of [
      ['text/plain', '<a href="/x">', '<a href="/x">'],
      ['text/html', '<a href="/x">', `<a href="${toPod('/x')}">`],
    ] as const) {
      const over = Promise.withResolvers<void>();
      backend.handle = async (_, response) => {
        response.writeHead(200, { 'content-type': type }).write(sent);
        await over.promise;
        response.end('end');
      };
      const answer = await ask('/');
      const reader = (answer.body ?? assert.fail()).getReader();
      assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), seen);
      over.resolve();
      assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), 'end');
      assert.equal((await reader.read()).done, true);
    }
  });

  test('redirects to the host that the client used only if it names that host itself', async () => {
    backend.handle = (_, response) => response.writeHead(302, { location: 'https://cluster/x' }).end();
    const moved = async (host: string) => (await ask('/', { headers: { host } })).headers.get('location');
    assert.equal(await moved('cluster'), `https://cluster${toPod('/x')}`);
    assert.equal(await moved('other'), 'https://cluster/x');
  });

  for (const type of ['text/plain', 'text/html'])
    test(`of ${type} that the backend cuts is cut for the client`, async () => {
      const cut = () => {
        backend.handle = (_, response) => {
          response.writeHead(200, { 'content-type': type });
          response.write('beginning', () => response.destroy());
        };
      };
      cut();
      let hungUp = 0;
      const over = Promise.withResolvers<void>();
      const answer = await ask('/', {
        hangUp: () => {
          hungUp++;
          over.resolve();
        },
      });
      assert.equal(await bodyOf(answer), 'beginning');
      await over.promise;
      assert.equal(hungUp, 1);
      cut();
      await assert.rejects(bodyOf(await ask('/')));
    });

  test('does not end the connection if it is complete', async () => {
    let hungUp = 0;
    const answer = await ask('/', { hangUp: () => hungUp++ });
    assert.match(await bodyOf(answer), /"url":"\/"/);
    assert.equal(hungUp, 0);
  });

  test('ends the connection to the backend if the client has disconnected', async () => {
    backend.handle = (_, response) => void response.writeHead(200).write('beginning');
    const answer = await ask('/');
    const closed = once(backend.connections[0] as Duplex, 'close');
    await answer.body?.cancel();
    await closed;
  });
});

describe('a connection that leaves HTTP', () => {
  const upgrade = { connection: 'Upgrade', upgrade: 'teletype' };
  const leaving = { headers: upgrade, upgrade };

  test('is joined to the connection of the backend, with the bytes after its answer', async () => {
    backend.overBytes('HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: teletype\r\n\r\nfirst');
    const answer = await ask('?a=b', leaving);
    assert.equal(answer.body, null);
    const { headers, socket } = backend.agents.joined ?? assert.fail('not joined');
    assert.deepEqual(headers, upgrade);
    assert.equal(String((await once(socket, 'data'))[0]), 'first');
    socket.write('word');
    assert.equal(String((await once(backend.connections[0] as Duplex, 'data'))[0]), 'word');
    socket.destroy();
  });

  test('stays HTTP if the backend rejects the upgrade', async () => {
    backend.handle = (request, response) => response.writeHead(426).end(request.headers.upgrade);
    const answer = await ask('/', leaving);
    assert.deepEqual([answer.status, await answer.text()], [426, 'teletype']);
    assert.equal(backend.agents.joined, undefined);
  });

  test('is not offered for a request without an upgrade', async () => {
    backend.overBytes('HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: teletype\r\n\r\n');
    const refusal = '503 error trying to reach service: the connection was closed';
    assert.equal(await backend.agents.refusal(toPod('/')), refusal);
  });
});
