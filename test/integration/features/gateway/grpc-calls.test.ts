/** GRPCRoutes as a real nginx serves them: calls, streams, headers and trailers, by TLS and without. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  connect,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { gatewaySites } from '../../../../src/features/gateway/agent/plan/gateway-sites.ts';
import type { GrpcRouteRule } from '../../../../src/features/gateway/api/route-types.ts';
import { servedAttachments } from '../../../../src/features/gateway/api/serving.ts';
import type { ServeResult } from '../../../../src/web-server/nginx.ts';
import { freePort } from '../../../fixtures/free-port.ts';
import { makeService } from '../../../unit/cluster-dns/objects.ts';
import {
  httpsListener,
  listener,
  makeGateway,
  makeGrpcRoute,
  makeRoute,
  serve,
} from '../../../unit/features/gateway/objects.ts';
import { NginxStand } from '../../web-server/nginx-stand.ts';

interface CallOptions {
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  /** Texts that are sent one by one, each after the answer to the one before. */
  readonly messages?: readonly string[];
}

interface CallResult {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly received: readonly string[];
}

describe('GRPCRoutes under nginx', () => {
  let stand: NginxStand;
  let result: ServeResult;
  const ports = { http: 0, https: 0 };
  const backends: Record<string, Http2Server> = {};
  /** Headers of the last call of each backend. */
  const seen: Record<string, IncomingHttpHeaders> = {};

  /** A server of gRPC that answers each message with itself, and ends with the trailers of the protocol. */
  async function startBackend(name: string): Promise<void> {
    const server = createServer();
    server.on('stream', (stream: ServerHttp2Stream, headers) => {
      seen[name] = headers;
      stream.on('error', () => undefined);
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'x-backend': name, 'x-secret': 's' },
        { waitForTrailers: true },
      );
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': name }));
      stream.on('data', (chunk: Buffer) => stream.write(chunk));
      stream.on('end', () => stream.end());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    backends[name] = server;
  }

  const to = (name: string, weight = 1) => {
    const address = backends[name]?.address();
    return { name, weight, port: typeof address === 'object' && address ? address.port : 80 };
  };

  async function call(origin: string, path: string, options: CallOptions = {}): Promise<CallResult> {
    const {
      host = 'grpc.test',
      headers = {},
      contentType = 'application/grpc',
      messages = ['one'],
    } = options;
    const session = connect(origin, { rejectUnauthorized: false, servername: host });
    try {
      const own = { ':method': 'POST', ':path': path, ':authority': host, te: 'trailers' };
      const stream = session.request({ ...own, 'content-type': contentType, ...headers });
      let trailers: IncomingHttpHeaders = {};
      stream.on('trailers', (sent: IncomingHttpHeaders) => {
        trailers = sent;
      });
      const answered = once(stream, 'response');
      const closed = once(stream, 'close');
      const received: string[] = [];
      stream.write(messages[0] ?? '');
      const [answer] = (await answered) as [IncomingHttpHeaders & { ':status'?: number }];
      stream.on('data', (chunk: Buffer) => {
        received.push(chunk.toString());
        const next = messages[received.length];
        if (next === undefined) stream.end();
        else stream.write(next);
      });
      if (answer[':status'] !== 200) stream.end();
      await closed;
      return { status: answer[':status'], headers: answer, trailers, received };
    } finally {
      session.destroy();
    }
  }

  const byTls = (path: string, options?: CallOptions) =>
    call(`https://127.0.0.1:${ports.https}`, path, options);

  before(async () => {
    for (const name of ['web', 'api']) await startBackend(name);
    ports.http = await freePort();
    ports.https = await freePort();
    stand = await NginxStand.start(ports);
    const http = await stand.backend('plain');
    const on = (service: string, method?: string) => ({
      method: { service, ...(method !== undefined && { method }) },
    });
    const headers = [{ name: 'version', value: 'two' }];
    const rules: readonly GrpcRouteRule[] = [
      { matches: [on('pkg.Svc', 'Get')], backendRefs: [to('web')] },
      { matches: [{ ...on('pkg.Svc', 'Get'), headers }], backendRefs: [to('api')] },
      { matches: [on('pkg.Svc')], backendRefs: [to('api')] },
      { matches: [on('split.Svc')], backendRefs: [to('web'), to('api'), to('none', 0)] },
      { matches: [on('none.Svc')], backendRefs: [to('none')] },
      {
        matches: [{ method: { type: 'RegularExpression', service: 'v[12]', method: 'Get' } }],
        backendRefs: [to('web')],
      },
      {
        matches: [on('change.Svc')],
        filters: [
          {
            type: 'RequestHeaderModifier',
            requestHeaderModifier: {
              set: [{ name: 'x-set', value: '"; return 200 "$host \\' }],
              add: [{ name: 'x-add', value: 'b' }],
              remove: ['x-gone'],
            },
          },
          {
            type: 'ResponseHeaderModifier',
            responseHeaderModifier: { set: [{ name: 'x-out', value: 'a $host' }], remove: ['x-secret'] },
          },
        ],
        backendRefs: [to('web')],
      },
    ];
    const gateways = [
      makeGateway('front', [
        listener('http', { port: ports.http }),
        httpsListener('https', 'cert', { port: ports.https }),
      ]),
    ];
    const plain = { name: 'plain', port: Number(http.split(':')[1]) };
    const serving = serve({
      gateways,
      routes: [
        makeGrpcRoute('grpc', rules, { hostnames: ['grpc.test'] }),
        makeRoute('http', [{ backendRefs: [plain] }], { hostnames: ['http.test'] }),
      ],
    });
    assert.deepEqual([...serving.refused.values()], []);
    const sites = gatewaySites({
      listeners: serving.listeners,
      attachments: servedAttachments(serving),
      grants: [],
      certificateOf: () => undefined,
      slicesOf: () => [],
      isSecured: () => false,
      tlsOf: () => undefined,
      serviceOf: (_, name) => {
        const { port } = name === 'plain' ? plain : to(name);
        if (port === 80) return undefined;
        return makeService(name, { clusterIP: '127.0.0.1', ports: [{ protocol: 'TCP', port }] });
      },
    });
    result = await stand.serve(sites);
    assert.deepEqual(result.refused, []);
  });
  after(async () => {
    await stand.stop();
    for (const server of Object.values(backends)) server.close();
  });

  for (const [path, expected, options] of [
    ['/pkg.Svc/Get', 'web'],
    ['/pkg.Svc/Get', 'api', { headers: { version: 'two' } }],
    ['/pkg.Svc/Get', 'web', { headers: { version: 'two2' } }],
    ['/pkg.Svc/List', 'api'],
    ['/pkg.Svc/Get', 'web', { contentType: 'application/grpc+proto' }],
    ['/v1/Get', 'web'],
    ['/v3/Get', '404'],
    ['/pkg.Svcs/Get', '404'],
    ['/pkg.svc/Get', '404'],
    ['/pkg.Svc/Get', '404', { contentType: 'application/json' }],
    ['/pkg.Svc/Get', '404', { contentType: 'application/grpc-web' }],
    ['/pkg.Svc/Get', '404', { host: 'other.test' }],
    ['/none.Svc/Get', '503'],
  ] as readonly (readonly [string, string, CallOptions?])[])
    it(`answers a call of ${path} ${JSON.stringify(options ?? {})} with ${expected}`, async () => {
      const { status, headers } = await byTls(path, options);
      assert.equal(status === 200 ? headers['x-backend'] : String(status), expected);
    });

  it('passes each message of a stream on before the next one is sent, and the trailers at its end', async () => {
    const messages = ['one', 'two', 'three'];
    const { received, trailers } = await byTls('/pkg.Svc/Watch', { messages });
    assert.deepEqual(received, messages);
    assert.deepEqual([trailers['grpc-status'], trailers['grpc-message']], ['0', 'api']);
  });

  it('changes headers of calls and answers, and takes no value as a directive of nginx', async () => {
    const headers = { 'x-add': 'a', 'x-gone': 'x', 'x-set': 'y', 'x-real-ip': '192.0.2.9' };
    const answer = await byTls('/change.Svc/Get', { headers });
    assert.deepEqual(
      [answer.headers['x-out'], answer.headers['x-secret'], answer.trailers['grpc-status']],
      ['a $host', undefined, '0'],
    );
    const names = ['x-set', 'x-add', 'x-gone', 'x-real-ip', 'te', 'host'];
    assert.deepEqual(
      names.map((name) => seen.web?.[name]),
      ['"; return 200 "$host \\', 'a,b', undefined, '127.0.0.1', 'trailers', 'grpc.test'],
    );
  });

  it('divides calls among backends by weight', async () => {
    const found = new Set<unknown>();
    for (let index = 0; index < 30; index++) found.add((await byTls('/split.Svc/Get')).headers['x-backend']);
    assert.deepEqual([...found].sort(), ['api', 'web']);
  });

  it('serves HTTP/1.1 on the port without TLS, and gRPC too if this nginx distinguishes them', async () => {
    assert.equal((await stand.ask('http.test', '/')).status, 200);
    const [problem] = result.portProblems;
    if (problem === undefined) {
      const { headers } = await call(`http://127.0.0.1:${ports.http}`, '/pkg.Svc/Get');
      assert.equal(headers['x-backend'], 'web');
      return;
    }
    assert.match(
      problem,
      /^port \d+ of this node serves gRPC by TLS only: .*needs nginx 1\.25\.1.*1\.\d+\.\d+/,
    );
    assert.equal((await stand.ask('grpc.test', '/pkg.Svc/Get')).status, 404);
  });
});
