/** Requests to upgrade from HTTP, over connections of which the test has both ends. */
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { RequestEnv } from '../../../../src/apiserver/options.ts';
import { serveUpgrade, wantsUpgrade } from '../../../../src/apiserver/upgrade/serve-upgrade.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { maxHeaderBytes, maxProtocolsBytes } from '../../../../src/http/header-limits.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';
import { Agents } from '../../kube-apiserver/subresources/agents.ts';

const attach = '/api/v1/namespaces/default/pods/web/attach';
const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('s3cret').toString('base64url')}`;

let agents: Agents;
/** Requests that the server's own authentication received. */
const shown: unknown[] = [];
before(async () => {
  agents = await Agents.start({
    authenticate: (credentials) => {
      shown.push(credentials);
      const known = credentials.authorization === 'Bearer s3cret' || credentials.peer;
      return known ? { name: 'admin', groups: ['system:masters'] } : undefined;
    },
  });
  await agents.create('/api/v1/namespaces/default/pods', {
    metadata: { name: 'web' },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
  });
});
after(() => agents.server.stop());

let stopping: AbortController;
let log: RecordingLogger;
beforeEach(() => {
  stopping = new AbortController();
  log = new RecordingLogger();
  shown.length = 0;
  agents.asked.length = 0;
  agents.agree = () => Promise.reject(new Error('nobody is there'));
});

/** Returns both ends of a connection; each end is closed with the other once it has read everything. */
function pair(): [Duplex, Duplex] {
  const ends = duplexPair();
  for (const [one, other] of [ends, ends.toReversed() as typeof ends]) {
    one.on('error', () => undefined);
    one.once('close', () => {
      if (other.readableEnded) other.destroy();
      else other.once('end', () => other.destroy());
    });
  }
  return ends;
}

class Client {
  readonly socket: Duplex;
  /** The server's end of the connection. */
  readonly far: Duplex;
  #text = '';
  #more = Promise.withResolvers<void>();
  closed = false;
  /** Keep-alive settings of the server's end. */
  keepAlive: unknown[] = [];
  done: Promise<void> | undefined;

  constructor(lines: readonly string[], client: Partial<RequestEnv> = {}, app = agents.server.app) {
    const [near, far] = pair();
    this.socket = near;
    this.far = far;
    near.on('data', (chunk) => {
      this.#text += chunk;
      this.#next();
    });
    near.once('end', () => near.end());
    // The far end reads on, since a socket notices the end of the other side even without a reader.
    far.once('finish', () => far.resume());
    near.once('close', () => {
      this.closed = true;
      this.#next();
    });
    const server = createServer({ shouldUpgradeCallback: () => true, maxHeaderSize: maxHeaderBytes });
    server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
      Object.assign(socket, { setKeepAlive: (...set: unknown[]) => void this.keepAlive.push(...set) });
      const options = { app, signal: stopping.signal, clock: systemClock, log };
      this.done = serveUpgrade(options, incoming, socket, head, client);
    });
    server.emit('connection', far);
    near.write(`${lines.join('\r\n')}\r\n\r\n`);
  }

  #next(): void {
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }

  /** Returns all received text once it matches. */
  async reads(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#text)) {
      assert.equal(this.closed, false, `closed after ${JSON.stringify(this.#text)}`);
      await this.#more.promise;
    }
    return this.#text;
  }

  async untilClosed(): Promise<string> {
    while (!this.closed) await this.#more.promise;
    await this.done;
    return this.#text;
  }
}

const request = (path: string, headers: readonly string[] = [], upgrade = 'websocket') => [
  `GET ${path} HTTP/1.1`,
  'host: cluster',
  'connection: Upgrade',
  `upgrade: ${upgrade}`,
  ...headers,
];
const bearer = 'authorization: Bearer s3cret';

describe('an accepted upgrade', () => {
  let agent: Duplex;
  beforeEach(() => {
    agents.agree = async () => {
      const [near, far] = pair();
      agent = far;
      return { headers: { upgrade: 'websocket', 'sec-websocket-accept': 'x' }, socket: near };
    };
  });

  test('joins the connections of the client and the agent in both directions, until one of them ends', async () => {
    for (const ends of ['client', 'agent', 'server']) {
      const client = new Client(request(attach, [bearer]));
      const head = await client.reads(/\r\n\r\n/);
      assert.equal(
        head,
        'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n',
      );
      assert.deepEqual(client.keepAlive, [true, 15_000]);
      agent.write('out');
      await client.reads(/\r\n\r\nout$/);
      client.socket.write('in');
      assert.equal(String((await once(agent, 'data'))[0]), 'in');
      const closed = once(agent, 'close');
      agent.resume();
      if (ends === 'server') stopping.abort();
      else (ends === 'client' ? client.socket : agent).destroy();
      await client.untilClosed();
      await closed;
    }
  });

  test('delivers bytes that the client sent before the answer', async () => {
    const client = new Client([...request(attach, [bearer]), '', 'early']);
    await client.reads(/\r\n\r\n/);
    assert.equal(String((await once(agent, 'data'))[0]), 'early\r\n\r\n');
    client.socket.destroy();
    await client.untilClosed();
  });

  test("passes the client's protocols to the agent, without the user", async () => {
    const client = new Client(
      request(attach, [
        bearer,
        'cookie: a=b',
        'sec-websocket-key: k',
        'sec-websocket-version: 13',
        'sec-websocket-protocol: v5.channel.k8s.io, v4.channel.k8s.io',
        'x-stream-protocol-version: v4',
        'x-stream-protocol-version: v3',
        'x-forwarded-for: 10.0.0.1',
        'audit-id: mine',
      ]),
    );
    await client.reads(/101/);
    assert.deepEqual(agents.asked[0]?.headers, {
      'audit-id': 'mine',
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'k',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'v5.channel.k8s.io, v4.channel.k8s.io',
      'x-stream-protocol-version': 'v4, v3',
    });
    client.socket.destroy();
    await client.untilClosed();
  });

  for (const [what, offered, authorization, passed] of [
    ['beside another', `${token}, v5.channel.k8s.io`, 'Bearer s3cret', 'v5.channel.k8s.io'],
    ['without a token', 'v5.channel.k8s.io', undefined, 'v5.channel.k8s.io'],
    ['of a token alone', token, undefined, undefined],
  ] as const)
    test(`reads a token from the protocols: ${what}`, async () => {
      const client = new Client(request(attach, [`sec-websocket-protocol: ${offered}`]), {
        peer: { commonName: 'x', organizations: [] } as never,
      });
      await client.reads(/101/);
      assert.equal((shown[0] as { authorization?: string }).authorization, authorization);
      assert.equal(agents.asked[0]?.headers?.['sec-websocket-protocol'], passed);
      client.socket.destroy();
      await client.untilClosed();
    });

  test('uses the Authorization header instead of a token among the protocols', async () => {
    const headers = ['authorization: Bearer other', `sec-websocket-protocol: ${token}, a`];
    const text = await new Client(request(attach, headers)).untilClosed();
    assert.match(text, /^HTTP\/1\.1 401 /);
    assert.deepEqual(shown, [{ authorization: 'Bearer other', peer: undefined }]);
  });

  test('ends if the client disconnects while the agent is being connected', async () => {
    const asked = Promise.withResolvers<void>();
    agents.agree = () => {
      asked.resolve();
      return new Promise((_, reject) => {
        const { signal } = agents.asked[0] ?? assert.fail();
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    };
    const client = new Client(request(attach, [bearer]));
    await asked.promise;
    assert.equal(agents.asked[0]?.signal.aborted, false);
    client.far.destroy();
    await client.untilClosed();
    assert.equal(agents.asked[0]?.signal.aborted, true);
  });
});

describe('a rejected upgrade', () => {
  for (const [what, path, headers, status, message] of [
    ['by nobody', attach, [], 401, /Unauthorized/],
    [
      'for an object that does not exist',
      attach.replace('web', 'none'),
      [bearer],
      404,
      /pods \\"none\\" not found/,
    ],
    [
      'for an invalid request',
      `${attach}?container=x`,
      [bearer],
      400,
      /container x is not valid for pod web/,
    ],
    [
      'for an agent that does not answer',
      attach,
      [bearer],
      500,
      /cannot reach the node agent of n1: nobody is there/,
    ],
    ['for a path without an upgrade', '/livez', [], 200, /\r\n\r\nok$/],
    [
      'with too many protocols',
      attach,
      [bearer, `sec-websocket-protocol: ${'a'.repeat(maxProtocolsBytes + 1)}`],
      400,
      /the header sec-websocket-protocol is longer than 16384 bytes/,
    ],
  ] as const)
    test(`${what} is answered, and its connection is closed`, async () => {
      const text = await new Client(request(path, headers)).untilClosed();
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(text, /\r\nconnection: close\r\n/i);
      assert.match(text, message);
      const [head = '', body = ''] = text.split('\r\n\r\n');
      assert.match(head, new RegExp(`\r\ncontent-length: ${Buffer.byteLength(body)}(\r\n|$)`, 'i'));
      assert.deepEqual(log.lines, []);
    });

  test('does not happen with the maximum number of protocols', async () => {
    const offered = `sec-websocket-protocol: ${token}, ${'a'.repeat(maxProtocolsBytes - token.length - 2)}`;
    assert.match(await new Client(request(attach, [offered])).untilClosed(), /^HTTP\/1\.1 500 /);
  });

  test('closes the connection without an answer if the headers cannot be parsed', async () => {
    const lines = request('/', [bearer]).with(0, 'TRACE / HTTP/1.1');
    assert.equal(await new Client(lines).untilClosed(), '');
    assert.equal(log.lines[0]?.message, 'an upgrade request failed');
  });
});

test('ends the count of the request when its connection is closed, and leaves no listener', async () => {
  const env = Promise.withResolvers<RequestEnv>();
  const over = Promise.withResolvers<Response>();
  const app = {
    fetch: (_: Request, given: RequestEnv) => {
      env.resolve(given);
      return over.promise;
    },
  } as unknown as Agents['server']['app'];
  const client = new Client(request('/'), {}, app);
  const { onClosed, shutdown } = await env.promise;
  assert.equal(shutdown, stopping.signal);
  assert.equal(getEventListeners(stopping.signal, 'abort').length, 1);
  const told: string[] = [];
  onClosed?.(() => told.push('then'));
  assert.equal(told.join(), '');
  over.resolve(new Response('no', { status: 401 }));
  await client.untilClosed();
  assert.equal(told.join(), 'then');
  onClosed?.(() => told.push('at once'));
  assert.equal(told.join(), 'then,at once');
  assert.equal(getEventListeners(stopping.signal, 'abort').length, 0);
});

describe('a request that leaves HTTP', () => {
  const pod = '/api/v1/namespaces/a/pods/web';
  for (const [wants, what, url, headers] of [
    [true, 'a WebSocket', '/', { upgrade: 'websocket' }],
    [true, 'a WebSocket, however it is written', '/', { upgrade: 'WebSocket' }],
    [true, 'SPDY', '/', { upgrade: 'SPDY/3.1' }],
    [true, 'a WebSocket with a body', '/', { upgrade: 'websocket', 'content-length': '5' }],
    [false, 'another protocol', `${pod}/exec`, { upgrade: 'h2c' }],
    [false, 'none', '/', {}],
    [true, 'any through a pod', `${pod}/proxy`, { upgrade: 'x' }],
    [true, 'any through a pod with a path', `${pod}/proxy/a?b`, { upgrade: 'x' }],
    [true, 'any through a pod with a query', `${pod}/proxy?b`, { upgrade: 'x' }],
    [true, 'any through a service', '/api/v1/namespaces/a/services/web:80/proxy/', { upgrade: 'x' }],
    [true, 'any through a node', '/api/v1/nodes/n1/proxy/', { upgrade: 'x' }],
    [true, 'any through a pod, with nothing before', `${pod}/proxy`, { upgrade: 'x', 'content-length': '0' }],
    [false, 'any through a pod, with a body', `${pod}/proxy`, { upgrade: 'x', 'content-length': '1' }],
    [false, 'any through a pod, in pieces', `${pod}/proxy`, { upgrade: 'x', 'transfer-encoding': 'chunked' }],
    [false, 'any through something like it', `${pod}/proxyx`, { upgrade: 'x' }],
    [false, 'any through another kind', '/api/v1/namespaces/a/configmaps/web/proxy/', { upgrade: 'x' }],
    [false, 'any through a deeper path', '/x/api/v1/nodes/n1/proxy/', { upgrade: 'x' }],
  ] as const)
    test(`${what} is ${wants ? 'recognized' : 'no upgrade'}`, () => {
      assert.equal(wantsUpgrade({ headers, url } as unknown as IncomingMessage), wants);
    });
});
