/** exec, attach and port-forward over the real wire: real clients, two TLS servers, a simulated engine. */
import assert from 'node:assert/strict';
import { on, once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { after, before, describe, it, mock } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import type { KeyAndCertificate } from '../../../src/pki/x509.ts';
import { type StreamCluster, startStreamCluster } from './stream-cluster.ts';

const pod = '/api/v1/namespaces/default/pods/web';

describe('the API server as a proxy of streams', () => {
  let cluster: StreamCluster;
  let admin: KeyAndCertificate;
  let guest: KeyAndCertificate;

  before(async () => {
    cluster = await startStreamCluster();
    admin = await cluster.server.clientCertificate('admin', ['system:masters']);
    guest = await cluster.server.clientCertificate('guest', []);
  });
  after(() => cluster.stop());

  const tls = (as: KeyAndCertificate | undefined = admin) => ({
    ca: cluster.server.authority.certificate,
    ...(as && { key: as.key, cert: as.certificate }),
  });

  interface Answer {
    readonly status: number;
    readonly body: { readonly reason?: string; readonly message?: string };
  }

  /** Sends a request whose upgrade is rejected. */
  function ask(
    path: string,
    options: { method?: string; headers?: Record<string, string>; as?: KeyAndCertificate | null } = {},
  ): Promise<Answer> {
    const { method = 'GET', headers = {}, as = admin } = options;
    return new Promise((resolve, reject) => {
      const sent = httpsRequest({
        host: '127.0.0.1',
        port: cluster.server.port,
        path,
        method,
        headers,
        agent: false,
        ...tls(as ?? undefined),
        ...(as === null && { key: undefined, cert: undefined }),
      });
      sent.on('error', reject);
      sent.on('upgrade', () => reject(new Error('it was upgraded')));
      sent.on('response', (response: IncomingMessage) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
      });
      sent.end();
    });
  }

  const spdy = {
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': 'v4.channel.k8s.io',
  };
  const webSocket = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'v5.channel.k8s.io',
  };

  for (const [how, method, headers] of [
    ['POST for SPDY', 'POST', spdy],
    ['GET for a WebSocket', 'GET', webSocket],
  ] as const) {
    for (const [what, path, status, message] of [
      ['a pod that does not exist', pod.replace('web', 'none'), 404, /pods "none" not found/],
      [
        'a container that does not exist',
        `${pod}?container=none`,
        400,
        /container none is not valid for pod web/,
      ],
      [
        'a pod with two containers without the name of one',
        pod.replace('web', 'two'),
        400,
        /choose one of: \[a b\]/,
      ],
      ['a pod without a node', pod.replace('web', 'unbound'), 400, /does not have a host assigned/],
    ] as const) {
      it(`refuses ${what} with a Status (${how})`, async () => {
        const [base, query = ''] = path.split('?');
        const answer = await ask(`${base}/exec?command=fail&stdout=true&${query}`, { method, headers });
        assert.equal(answer.status, status);
        assert.match(answer.body.message ?? '', message);
      });
    }
  }

  it('refuses a request without a command, and without any stream', async () => {
    for (const [query, message] of [
      ['stdout=true', 'you must specify a command to run'],
      ['command=fail', 'you must specify at least 1 of stdin, stdout, stderr'],
      ['command=fail&stdout=False&stderr=FALSE', 'you must specify at least 1 of stdin, stdout, stderr'],
    ]) {
      const answer = await ask(`${pod}/exec?${query}`, { method: 'POST', headers: spdy });
      assert.deepEqual([answer.status, answer.body.message], [400, message]);
    }
  });

  it('requires an upgrade to a known protocol', async () => {
    for (const method of ['GET', 'POST']) {
      const answer = await ask(`${pod}/exec?command=fail&stdout=true`, { method });
      assert.deepEqual([answer.status, answer.body.message], [400, 'Upgrade request required']);
    }
    const headers = { ...webSocket, 'sec-websocket-protocol': 'v9.channel.k8s.io' };
    const answer = await ask(`${pod}/exec?command=fail&stdout=true`, { headers });
    assert.equal(answer.status, 400);
    assert.match(answer.body.message ?? '', /v9\.channel\.k8s\.io/);
  });

  it('refuses unauthenticated and unauthorized users', async () => {
    for (const headers of [spdy, webSocket]) {
      const method = headers === spdy ? 'POST' : 'GET';
      const unknown = await ask(`${pod}/exec?command=fail&stdout=true`, { method, headers, as: null });
      assert.deepEqual([unknown.status, unknown.body.reason], [401, 'Unauthorized']);
      const refused = await ask(`${pod}/exec?command=fail&stdout=true`, { method, headers, as: guest });
      assert.equal(refused.status, 403);
      const verb = method === 'POST' ? 'create' : 'get';
      assert.match(refused.body.message ?? '', new RegExp(`"guest" cannot ${verb} resource "pods/exec"`));
    }
  });

  it('ignores an upgrade on requests that do not support one', async () => {
    const answer = await ask('/version', { headers: { connection: 'Upgrade', upgrade: 'h2c' } });
    assert.equal(answer.status, 200);
    const socket = await ask('/version', { headers: webSocket });
    assert.equal(socket.status, 200);
  });

  function open(path: string, protocols: string[], options: object = tls()): WebSocket {
    return new WebSocket(`wss://127.0.0.1:${cluster.server.port}${path}`, protocols, options);
  }

  interface Heard {
    readonly channels: Record<string, string>;
    readonly code: number;
  }

  function listen(socket: WebSocket): Promise<Heard> {
    const channels: Record<string, string> = {};
    socket.on('message', (data: Buffer, isBinary) => {
      const [first = 0] = data;
      const channel = isBinary ? first : first - 0x30;
      const rest = data.subarray(1);
      const text = isBinary ? rest.toString() : Buffer.from(rest.toString(), 'base64').toString();
      channels[channel] = (channels[channel] ?? '') + text;
    });
    return new Promise((resolve, reject) => {
      socket.on('error', reject);
      socket.on('close', (code) => resolve({ channels, code }));
    });
  }

  for (const [protocol, statusIsJson] of [
    ['v5.channel.k8s.io', true],
    ['v4.channel.k8s.io', true],
    ['v4.base64.channel.k8s.io', true],
    ['base64.channel.k8s.io', false],
    ['channel.k8s.io', false],
  ] as const) {
    it(`speaks ${protocol}`, async () => {
      const socket = open(`${pod}/exec?command=fail&stdout=true&stderr=true`, [protocol]);
      const { channels, code } = await listen(socket);
      assert.equal(socket.protocol, protocol);
      assert.equal(code, 1000);
      assert.deepEqual([channels[1], channels[2]], ['out\n', 'err\n']);
      if (statusIsJson) assert.equal(JSON.parse(channels[3] ?? '').details.causes[0].message, '3');
      else assert.match(channels[3] ?? '', /exit status 3$/);
    });
  }

  it('sends nothing on a stream that was not requested', async () => {
    const heard = await listen(open(`${pod}/exec?command=fail&stderr=true`, ['v5.channel.k8s.io']));
    assert.deepEqual(Object.keys(heard.channels), ['2', '3']);
  });

  it('takes a bearer token among the subprotocols, and does not repeat it', async () => {
    const bearer = (token: string) =>
      `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
    const path = `${pod}/exec?command=fail&stdout=true`;
    const { ca } = tls();
    const socket = open(path, [bearer('s3cret'), 'v4.channel.k8s.io'], { ca });
    assert.equal((await listen(socket)).channels[1], 'out\n');
    assert.equal(socket.protocol, 'v4.channel.k8s.io');
    const wrong = open(path, [bearer('wrong'), 'v4.channel.k8s.io'], { ca });
    await assert.rejects(listen(wrong), /401/);
  });

  it('passes on terminal sizes', async () => {
    const socket = open(`${pod}/exec?command=size&stdout=true&tty=true`, ['v5.channel.k8s.io']);
    socket.on('open', () =>
      socket.send(Buffer.concat([Buffer.from([4]), Buffer.from('{"Width":77,"Height":33}\n')])),
    );
    assert.equal((await listen(socket)).code, 1000);
    assert.deepEqual(cluster.sizes, ['77x33']);
  });

  it('attaches to the first process of a container', async () => {
    const socket = open(`${pod}/attach?stdin=true&stdout=true`, ['v5.channel.k8s.io']);
    const heard = listen(socket);
    const { promise: answered, resolve } = Promise.withResolvers<void>();
    socket.on('message', (data: Buffer) => data.toString().includes('hello') && resolve());
    socket.on('open', () => socket.send(Buffer.from('\0hello\n')));
    await answered;
    socket.close();
    await heard;
    assert.equal((await cluster.runtime.inspect(cluster.containerId))?.state, 'running');
  });

  it('reports whether an attach or a command has failed', async () => {
    const refused = mock.method(cluster.runtime, 'attach', async () => {
      throw new Error('the container is not running');
    });
    const attached = await listen(open(`${pod}/attach?stdout=true`, ['v5.channel.k8s.io']));
    refused.mock.restore();
    const status = JSON.parse(attached.channels[3] ?? '');
    const failure = 'error attaching to container: the container is not running';
    assert.equal(status.message, `Internal error occurred: ${failure}`);
    assert.deepEqual(status.details.causes, [{ message: failure }]);
    const run = await listen(open(`${pod}/exec?command=absent&stdout=true`, ['v5.channel.k8s.io']));
    assert.match(run.channels[3] ?? '', /error executing command in container: no program absent/);
  });

  const programsEnd = async () => {
    const deadline = AbortSignal.timeout(120_000);
    while (cluster.running() > 0) {
      deadline.throwIfAborted();
      await new Promise((done) => setTimeout(done, 10));
    }
  };
  const programRuns = async () => {
    const deadline = AbortSignal.timeout(120_000);
    while (cluster.running() === 0) {
      deadline.throwIfAborted();
      await new Promise((done) => setTimeout(done, 10));
    }
  };

  it('ends a forwarded port when the pod has closed its side, after the data of the pod', async () => {
    const { channels, code } = await listen(
      open(`${pod}/portforward?ports=8090&ports=9`, ['v4.channel.k8s.io']),
    );
    assert.equal(code, 1000);
    // The first two bytes are the port.
    assert.equal(channels[0]?.slice(2), 'that is all\n');
    assert.match(channels[3] ?? '', /error forwarding port 9 to pod web/);
  });

  it('forwards a port both ways for a WebSocket that names no protocol', async () => {
    const socket = open(`${pod}/portforward?ports=8080`, []);
    const heard = listen(socket);
    await once(socket, 'open');
    assert.equal(socket.protocol, '');
    // Channel 0 of the first port: its data; the first message of the server on it is the port.
    const said = ['hello ', 'world'];
    for (const text of said) socket.send(Buffer.concat([Buffer.of(0), Buffer.from(text)]));
    const port = Buffer.alloc(2);
    port.writeUInt16LE(8080);
    let echoed = '';
    for await (const [data, isBinary] of on(socket, 'message')) {
      assert.equal(isBinary, true);
      if (data[0] === 0) echoed += data.subarray(1).toString('latin1');
      if (echoed.length >= 2 + said.join('').length) break;
    }
    assert.equal(echoed, port.toString('latin1') + said.join(''));
    socket.close();
    await heard;
  });

  it('detaches from a program whose client disconnects', async () => {
    const socket = open(`${pod}/exec?command=wait&stdout=true`, ['v5.channel.k8s.io']);
    const heard = listen(socket);
    await Promise.all([once(socket, 'open'), programRuns()]);
    socket.terminate();
    await heard;
    await programsEnd();
  });

  it('detaches from a program whose client disconnects (SPDY)', async () => {
    const socket: TLSSocket = connectTls({ host: '127.0.0.1', port: cluster.server.port, ...tls() });
    await once(socket, 'secureConnect');
    const headers = Object.entries(spdy).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${pod}/exec?command=wait&stdout=true HTTP/1.1\r\nhost: x\r\n${headers.join('')}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(
      answer.toString(),
      /^HTTP\/1.1 101 [\s\S]*x-stream-protocol-version: v4\.channel\.k8s\.io\r\n/i,
    );
    const { HeaderEncoder } = await import('../../../src/streams/spdy-headers.ts');
    const { synStreamFrame } = await import('../../../src/streams/spdy-frames.ts');
    const encoder = new HeaderEncoder();
    socket.write(synStreamFrame(1, encoder.encode({ streamtype: 'error' })));
    socket.write(synStreamFrame(3, encoder.encode({ streamtype: 'stdout' })));
    await programRuns();
    socket.destroy();
    await programsEnd();
  });

  it('closes a connection on which the client does not speak SPDY after the upgrade', async () => {
    const socket: TLSSocket = connectTls({ host: '127.0.0.1', port: cluster.server.port, ...tls() });
    await once(socket, 'secureConnect');
    const headers = Object.entries(spdy).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${pod}/exec?command=wait&stdout=true HTTP/1.1\r\nhost: x\r\n${headers.join('')}\r\n`);
    await once(socket, 'data');
    socket.write(Buffer.alloc(1000, 0xff));
    socket.resume();
    await once(socket, 'close');
    assert.equal(cluster.running(), 0);
  });

  it('ends every stream when the node agent stops, and answers later requests with an error', async () => {
    const socket = open(`${pod}/exec?command=wait&stdout=true`, ['v5.channel.k8s.io']);
    const heard = listen(socket);
    await Promise.all([once(socket, 'open'), programRuns()]);
    await cluster.stopAgent();
    assert.equal((await heard).code, 1006);
    await programsEnd();
    const answer = await ask(`${pod}/exec?command=fail&stdout=true`, { headers: webSocket });
    assert.equal(answer.status, 503);
    assert.match(answer.body.message ?? '', /agent of node n1 at 127\.0\.0\.1:\d+ does not answer/);
  });
});
