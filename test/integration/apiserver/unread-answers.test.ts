/**
 * Requests that arrive before the previous answer has been passed to the kernel: Node's parser pauses, while
 * TLS has decrypted more of the request already. A client that has read an answer to its end, and sends a
 * large request at once on the same connection, gets there when the server is busy.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it, type TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { systemClock } from '../../../src/base/clock.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
/** Answers, longer together than what the kernel keeps for a connection whose client does not read. */
const unread = { count: 5, bytes: 1_000_000 };

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;

/** Returns a request whose body takes several records of TLS. */
function put(name: string, text: string): string {
  const body = JSON.stringify({ metadata: { name }, data: { text } });
  const head = `PUT ${maps}/${name} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json`;
  return `${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

interface Client {
  readonly socket: TLSSocket;
  /** Status codes of the answers so far. */
  statuses(): readonly number[];
}

describe('a request that is sent while a large answer is unread', { timeout: 60_000 }, () => {
  let server: HttpsTestServer;
  before(async () => {
    server = await startHttpsTestServer();
    for (const [name, text] of [
      ['large', 'x'.repeat(unread.bytes)],
      ['a', ''],
      ['b', ''],
      ['c', ''],
    ] as const) {
      const answer = await server.call('POST', maps, { metadata: { name }, data: { text } });
      assert.equal(answer.status, 201, answer.text);
    }
  });
  after(() => server.stop());

  async function dial(t: TestContext): Promise<Client> {
    const { key, certificate: cert } = await server.clientCertificate('admin', ['system:masters']);
    const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, key, cert });
    t.after(() => socket.destroy());
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    const found: number[] = [];
    let end = '';
    socket.on('data', (chunk) => {
      const text = end + chunk;
      for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) found.push(Number(status));
      end = text.slice(-11);
    });
    return { socket, statuses: () => found };
  }

  /** Requests the large answers, reads the first bytes, and sends the text while the rest is unread. */
  async function sendUnread(t: TestContext, text: string): Promise<Client> {
    const client = await dial(t);
    const { socket } = client;
    socket.write(get(`${maps}/large`).repeat(unread.count));
    await once(socket, 'data');
    socket.pause();
    socket.write(text);
    // The server has read what has arrived when it has answered several requests of another connection.
    const other = await dial(t);
    for (let number = 1; number <= 5; number++) {
      other.socket.write(get('/version'));
      await eventually(systemClock, 'an answer', () => other.statuses().length === number);
    }
    return client;
  }

  const textOf = async (name: string) =>
    (JSON.parse((await server.call('GET', `${maps}/${name}`)).text) as { data: { text: string } }).data.text;

  const whenAnswered = async ({ socket, statuses }: Client, expected: readonly number[]) => {
    const all = [...Array.from({ length: unread.count }, () => 200), ...expected];
    await eventually(systemClock, 'the answers', () => statuses().length >= all.length || socket.closed);
    assert.deepEqual(statuses(), all);
  };

  it('is answered when the client has read the answer, and the connection stays open', async (t) => {
    const text = 'y'.repeat(100_000);
    const client = await sendUnread(t, put('a', text));
    client.socket.resume();
    await whenAnswered(client, [200]);
    assert.ok((await textOf('a')) === text);
    client.socket.write(get('/version'));
    await whenAnswered(client, [200, 200]);
  });

  it('is answered, and so are further requests that arrived with it', async (t) => {
    const texts = new Map(['a', 'b', 'c'].map((name) => [name, name.repeat(70_001)]));
    const client = await sendUnread(t, [...texts].map(([name, text]) => put(name, text)).join(''));
    client.socket.resume();
    await whenAnswered(client, [200, 200, 200]);
    for (const [name, text] of texts) assert.ok((await textOf(name)) === text, `the text of ${name}`);
  });

  it('is not read to its end before the client has read the answer', async (t) => {
    const client = await sendUnread(t, put('a', 'z'.repeat(3_500_000)).repeat(3));
    const { socket } = client;
    assert.ok(socket.writableLength > 0, 'the server has read everything');
    socket.resume();
    await whenAnswered(client, [413, 413, 413]);
    assert.equal(socket.writableLength, 0);
  });
});
