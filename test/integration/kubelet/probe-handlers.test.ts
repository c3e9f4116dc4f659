/** Probe handlers against servers on this machine with every kind of behaviour. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttp2, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net';
import { after, describe, it } from 'node:test';
import type { Container, ProbeHandler } from '../../../src/api/core/v1/types.gen.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { framed } from '../../../src/grpc/frames.ts';
import { runHandler } from '../../../src/kubelet/probes/handlers/run-handler.ts';
import type { Outcome } from '../../../src/kubelet/probes/plan/outcome.ts';
import { testAuthority } from '../../fixtures/certificates.ts';
import { freePort } from '../../fixtures/free-port.ts';

const open = new Set<Server>();
after(() => {
  for (const server of open) server.close();
});

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  open.add(server);
  server.unref();
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const runtime = { exec: async () => assert.fail('no program is to be run') };

async function ask(
  handler: ProbeHandler,
  timeoutMs = 5000,
  signal = new AbortController().signal,
): Promise<Outcome> {
  const container = {
    name: 'c',
    image: 'i',
    ports: [{ name: 'none', containerPort: 1, protocol: 'TCP' }],
  } as Container;
  const target = { container, containerId: 'id', podIP: '127.0.0.1' };
  return runHandler({ runtime, clock: systemClock }, handler, target, timeoutMs, signal);
}

async function serve(answer: RequestListener): Promise<{ port: number; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const port = await listen(
    createServer((request, response) => {
      requests.push(request);
      answer(request, response);
    }),
  );
  return { port, requests };
}

describe('an httpGet probe', () => {
  const get = async (answer: RequestListener, path = '/', timeoutMs?: number) => {
    const { port } = await serve(answer);
    const outcome = await ask({ httpGet: { port, path } }, timeoutMs);
    return { ...outcome, output: outcome.output.replaceAll(String(port), 'PORT') };
  };

  it('succeeds with a status from 200 to 299, and its output is the body', async () => {
    for (const status of [200, 204, 299]) {
      const outcome = await get((_, response) => response.writeHead(status).end('fine'));
      assert.deepEqual(outcome, { result: 'success', output: status === 204 ? '' : 'fine' });
    }
  });

  it('fails with a status of 400 or above, and its output does not contain the body', async () => {
    for (const status of [400, 404, 500, 503]) {
      const outcome = await get((_, response) => response.writeHead(status).end('secret'));
      assert.deepEqual(outcome, {
        result: 'failure',
        output: `HTTP probe failed with statuscode: ${status}`,
      });
    }
  });

  it('uses a separate connection that is closed, sends its user agent, and ignores proxies', async () => {
    process.env.http_proxy = 'http://127.0.0.1:1';
    try {
      const { port, requests } = await serve((_, response) => response.end());
      await ask({ httpGet: { port } });
      await ask({ httpGet: { port } });
      const [first, second] = requests;
      assert.ok(first && second);
      assert.notEqual(first.socket, second.socket);
      assert.deepEqual(
        [first.method, first.url, first.headers],
        [
          'GET',
          '/',
          {
            host: `127.0.0.1:${port}`,
            'user-agent': 'kube-probe/1.32',
            accept: '*/*',
            connection: 'close',
          },
        ],
      );
    } finally {
      delete process.env.http_proxy;
    }
  });

  it('follows at most ten redirects within the host, and warns about redirects to other hosts', async () => {
    const outcome = await get((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end('there');
      else response.writeHead(302, { location: `/${left - 1}` }).end('on the way');
    }, '/9');
    assert.deepEqual(outcome, { result: 'success', output: 'there' });
    assert.deepEqual(await get((_, response) => response.writeHead(302, { location: '/again' }).end(), '/'), {
      result: 'failure',
      output: 'Get "http://127.0.0.1:PORT/again": stopped after 10 redirects',
    });
    const elsewhere = { location: 'http://127.0.0.2/' };
    assert.deepEqual(await get((_, response) => response.writeHead(302, elsewhere).end('moved')), {
      result: 'warning',
      output: 'Probe terminated redirects, Response body: moved',
    });
    assert.equal((await get((_, response) => response.writeHead(304).end())).result, 'warning');
  });

  it('reads at most 10 KB of a body, even of an endless one', async () => {
    let written = 0;
    const outcome = await get((_, response) => {
      const more = () => {
        while (response.writable && response.write('x'.repeat(1000))) written += 1000;
      };
      response.on('drain', more);
      more();
    });
    assert.equal(outcome.result, 'success');
    assert.equal(outcome.output, 'x'.repeat(10 * 1024));
    assert.ok(written >= 10_000);
  });

  it('ends at its timeout: before the header of the answer, in its body, and while connecting', async () => {
    assert.deepEqual(await get(() => undefined, '/', 50), {
      result: 'failure',
      output:
        'Get "http://127.0.0.1:PORT/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    });
    assert.deepEqual(await get((_, response) => response.write('part'), '/', 500), {
      result: 'failure',
      output:
        'Get "http://127.0.0.1:PORT/": context deadline exceeded (Client.Timeout or context cancellation while reading body)',
    });
    // Addresses for documentation: no host answers, or there is no route.
    assert.equal((await ask({ httpGet: { port: 9, host: '192.0.2.1' } }, 50)).result, 'failure');
  });

  it('leaves no connection behind after its timeout', async () => {
    const { port, requests } = await serve(() => undefined);
    await ask({ httpGet: { port } }, 50);
    const [request] = requests;
    assert.ok(request);
    if (!request.socket.destroyed) await once(request.socket, 'close');
  });

  it('reports why the server does not answer', async () => {
    const tcp = createTcp((socket) => socket.destroy());
    const silent = await listen(tcp);
    assert.deepEqual(await ask({ httpGet: { port: silent } }), {
      result: 'failure',
      output: `Get "http://127.0.0.1:${silent}/": EOF`,
    });
    tcp.close();
    await once(tcp, 'close');
    assert.deepEqual(await ask({ httpGet: { port: silent, path: 'x' } }), {
      result: 'failure',
      output: `Get "http://127.0.0.1:${silent}/x": dial tcp 127.0.0.1:${silent}: connect: connection refused`,
    });
    assert.deepEqual(await ask({ httpGet: { port: 1, host: 'nobody.invalid' } }), {
      result: 'failure',
      output: 'Get "http://nobody.invalid:1/": dial tcp: lookup nobody.invalid: no such host',
    });
  });

  it('treats an invalid answer as a failure', async () => {
    for (const text of ['garbage\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort']) {
      const port = await listen(
        createTcp((socket) => {
          socket.on('error', () => undefined);
          socket.end(text);
        }),
      );
      assert.equal((await ask({ httpGet: { port } })).result, 'failure', text);
    }
    const port = await listen(
      createTcp((socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      ),
    );
    assert.deepEqual(await ask({ httpGet: { port } }), {
      result: 'failure',
      output: 'HTTP probe failed with statuscode: 101',
    });
  });

  it('ends at once when it is aborted', async () => {
    const stop = new AbortController();
    const { port, requests } = await serve(() => stop.abort());
    const { result } = await ask({ httpGet: { port } }, 600_000, stop.signal);
    assert.equal(result, 'failure');
    assert.equal(requests.length, 1);
    assert.equal((await ask({ httpGet: { port } }, 600_000, AbortSignal.abort())).result, 'failure');
  });

  it('accepts header lines that end with a line feed alone', async () => {
    const port = await listen(
      createTcp((socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\n\nfine'))),
    );
    assert.deepEqual(await ask({ httpGet: { port } }), { result: 'success', output: 'fine' });
  });

  it('fails if the value of a header contains a line break', async () => {
    const { port } = await serve((_, response) => response.end());
    const httpHeaders = [{ name: 'X-Bad', value: 'a\r\nX-Other: b' }];
    assert.equal((await ask({ httpGet: { port, httpHeaders } })).result, 'failure');
  });

  it('uses https without verification of the certificate, and reports a server without TLS', async () => {
    const { certificate: cert, key } = await testAuthority();
    const port = await listen(createHttps({ cert, key }, (_, response) => response.end('safe')));
    assert.deepEqual(await ask({ httpGet: { port, scheme: 'HTTPS' } }), {
      result: 'success',
      output: 'safe',
    });
    const plain = await serve((_, response) => response.end());
    assert.deepEqual(await ask({ httpGet: { port: plain.port, scheme: 'HTTPS' } }), {
      result: 'failure',
      output: `Get "https://127.0.0.1:${plain.port}/": http: server gave HTTP response to HTTPS client`,
    });
  });

  it('resolves names with the hosts file of this machine', async () => {
    const { port } = await serve((_, response) => response.end());
    assert.equal((await ask({ httpGet: { port, host: 'localhost' } })).result, 'success');
  });
});

describe('a tcpSocket probe', () => {
  it('succeeds if a server listens', async () => {
    const server = createTcp((socket) => socket.destroy());
    const port = await listen(server);
    assert.deepEqual(await ask({ tcpSocket: { port } }), { result: 'success', output: '' });
    server.close();
    await once(server, 'close');
    assert.deepEqual(await ask({ tcpSocket: { port } }), {
      result: 'failure',
      output: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  it('fails at its timeout', async () => {
    const { result } = await ask({ tcpSocket: { port: 9, host: '192.0.2.1' } }, 50);
    assert.equal(result, 'failure');
  });

  it('ends at once when it is aborted', async () => {
    const stop = new AbortController();
    const asked = ask({ tcpSocket: { port: 9, host: '192.0.2.1' } }, 600_000, stop.signal);
    stop.abort();
    assert.equal((await asked).result, 'failure');
  });

  it('resolves a port name, and is not run if the name is unknown', async () => {
    assert.equal((await ask({ tcpSocket: { port: 'none' } })).result, 'failure');
    assert.deepEqual(await ask({ tcpSocket: { port: 'other' } }), {
      result: 'unknown',
      output: 'strconv.Atoi: parsing "other": invalid syntax',
    });
  });
});

describe('a grpc probe', () => {
  const answering = (status: number, seen: string[] = []) =>
    createHttp2().on('stream', (stream: ServerHttp2Stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        seen.push(`${headers[':path']} ${headers['user-agent']} ${Buffer.concat(chunks).toString('hex')}`);
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(framed(8, (writer) => writer.varint(1, status)));
      });
    });
  const refusing = (code: string, message: string) =>
    createHttp2().on('stream', (stream: ServerHttp2Stream) =>
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': code, 'grpc-message': message },
        { endStream: true },
      ),
    );

  it('succeeds if the service serves', async () => {
    const seen: string[] = [];
    const port = await listen(answering(1, seen));
    assert.deepEqual(await ask({ grpc: { port } }), { result: 'success', output: 'service healthy' });
    assert.equal((await ask({ grpc: { port, service: 'ab' } })).result, 'success');
    assert.deepEqual(seen, [
      '/grpc.health.v1.Health/Check kube-probe/1.32 0000000000',
      '/grpc.health.v1.Health/Check kube-probe/1.32 00000000040a026162',
    ]);
  });

  for (const [status, name] of [
    [0, 'UNKNOWN'],
    [2, 'NOT_SERVING'],
    [3, 'SERVICE_UNKNOWN'],
    [77, '77'],
  ] as const) {
    it(`fails if the service reports ${name}`, async () => {
      assert.deepEqual(await ask({ grpc: { port: await listen(answering(status)) } }), {
        result: 'failure',
        output: `service unhealthy (responded with "${name}")`,
      });
    });
  }

  it('reports the error that the server answers', async () => {
    assert.deepEqual(await ask({ grpc: { port: await listen(refusing('5', 'unknown service')) } }), {
      result: 'failure',
      output: 'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service',
    });
    assert.deepEqual(await ask({ grpc: { port: await listen(refusing('12', 'unknown method')) } }), {
      result: 'failure',
      output:
        'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown method',
    });
  });

  it('fails at its timeout without a connection, without HTTP/2 and without an answer', async () => {
    const refused = await freePort();
    const silent = await listen(createTcp((socket) => socket.on('error', () => undefined)));
    for (const port of [refused, silent]) {
      assert.deepEqual(await ask({ grpc: { port } }, 1000), {
        result: 'failure',
        output: `timeout: failed to connect service "127.0.0.1:${port}" within 1s: context deadline exceeded`,
      });
    }
    const mute = createHttp2().on('stream', (stream: ServerHttp2Stream) =>
      stream.on('error', () => undefined),
    );
    assert.deepEqual(await ask({ grpc: { port: await listen(mute) } }, 1000), {
      result: 'failure',
      output: 'timeout: health rpc did not complete within 1s',
    });
  });

  it('waits, up to its timeout, for a server that does not listen yet', async () => {
    const port = await freePort();
    const asked = ask({ grpc: { port } }, 10_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const server = answering(1);
    open.add(server);
    server.listen(port, '127.0.0.1');
    assert.equal((await asked).result, 'success');
  });

  it('ends at once when it is aborted', async () => {
    const stop = new AbortController();
    const silent = await listen(createTcp((socket) => socket.on('error', () => undefined)));
    const asked = ask({ grpc: { port: silent } }, 600_000, stop.signal);
    stop.abort();
    assert.equal((await asked).result, 'failure');
  });
});
