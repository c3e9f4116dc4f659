/**
 * Backends with a BackendTLSPolicy behind a real nginx: no request reaches a backend whose certificate is not
 * the one that the policy asks for, and authorities are replaced without a lost request.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createSecureServer, type IncomingHttpHeaders } from 'node:http2';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { ConfigMap } from '../../../../src/api/core/v1/config-map.ts';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { BackendAuthorities } from '../../../../src/features/gateway/agent/backend-authorities.ts';
import { gatewaySites } from '../../../../src/features/gateway/agent/plan/gateway-sites.ts';
import { BackendTlsPolicies } from '../../../../src/features/gateway/api/backend-tls.ts';
import { isSecuredRef } from '../../../../src/features/gateway/api/backends.ts';
import type { BackendTlsPolicy, Route } from '../../../../src/features/gateway/api/kinds.ts';
import { servedAttachments } from '../../../../src/features/gateway/api/serving.ts';
import type { KeyAndCertificate } from '../../../../src/pki/x509.ts';
import { makeAuthority, makeServerCertificate } from '../../../fixtures/authorities.ts';
import { freePort } from '../../../fixtures/free-port.ts';
import { makeService } from '../../../unit/cluster-dns/objects.ts';
import {
  httpsListener,
  listener,
  makeGateway,
  makeGrpcRoute,
  makePolicy,
  makeRoute,
  ruleTo,
  serve,
} from '../../../unit/features/gateway/objects.ts';
import { NginxStand } from '../../web-server/nginx-stand.ts';

describe('backends with a BackendTLSPolicy under nginx', () => {
  const host = 'web.shop.test';
  const ports = { http: 0, https: 0 };
  const authorities: Record<string, KeyAndCertificate> = {};
  /** ConfigMaps by name. */
  const configMaps = new Map<string, string>();
  /** Names that clients of the backend with TLS have sent, with the path of each request. */
  const requests: string[] = [];
  let stand: NginxStand;
  let secure: ReturnType<typeof createSecureServer>;
  let plain: Server;
  /** First bytes that the backend without TLS has received. */
  const bytes: Buffer[] = [];

  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  const services = (): Record<string, Service> => {
    const port = { name: 'web', protocol: 'TCP' as const };
    const at = (name: string, server: { address(): unknown }) =>
      makeService(name, { clusterIP: '127.0.0.1', ports: [{ ...port, port: portOf(server) }] });
    return { web: at('web', secure), again: at('again', secure), plain: at('plain', plain) };
  };

  async function serveOn(policies: readonly BackendTlsPolicy[], routes: readonly Route[]) {
    const index = new BackendTlsPolicies(policies);
    const known = services();
    const facts = {
      ...{ grants: [], serviceOf: (_: string, name: string) => known[name] },
      isSecured: (service: Service, port: number | undefined) => index.policyOf(service, port) !== undefined,
    };
    const backends = await new BackendAuthorities({
      clock: systemClock,
      systemAuthorities: async () => authorities.system?.certificate ?? '',
      configMaps: {
        watch: () => undefined,
        allRead: async () => undefined,
        close: () => undefined,
        get: (key) => {
          const text = configMaps.get(key);
          return text === undefined ? undefined : ({ data: { 'ca.crt': text } } as unknown as ConfigMap);
        },
      },
    }).read(policies);
    const serving = serve({
      gateways: [
        makeGateway('front', [
          listener('http', { port: ports.http }),
          httpsListener('https', 'cert', { port: ports.https }),
        ]),
      ],
      routes,
      isSecuredRef: (route, ref) => isSecuredRef(route, ref, facts),
    });
    const sites = gatewaySites({
      ...facts,
      listeners: serving.listeners,
      attachments: servedAttachments(serving),
      certificateOf: () => undefined,
      slicesOf: () => [],
      tlsOf: (service, port) => {
        const policy = index.policyOf(service, port);
        return policy && backends.tlsOf(policy);
      },
    });
    const result = await stand.serve(sites, new Map(backends.files.map(({ name, pem }) => [name, pem])));
    assert.deepEqual(result.refused, []);
  }

  const ref = (name: string) => ({
    backendRefs: [{ name, port: portOf(name === 'plain' ? plain : secure) }],
  });
  const rule = (service: string, path: string) => ({ ...ruleTo(service, path), ...ref(service) });
  const policyFor = (service: string, validation: object = {}) =>
    makePolicy(`for-${service}`, service, { validation });

  const served = (path: string) => stand.ask('http.test', path);

  before(async () => {
    for (const name of ['old', 'new', 'system']) authorities[name] = await makeAuthority(name);
    const { old, new: other } = authorities;
    assert.ok(old && other);
    configMaps.set('shop/ca', old.certificate);
    configMaps.set('shop/other', other.certificate);
    secure = createSecureServer({ ...optionsOf(await makeServerCertificate(old, host)), allowHTTP1: true });
    secure.on('request', (request, response) => {
      const { servername } = (request.stream?.session?.socket ?? request.socket) as TLSSocket;
      requests.push(`${servername} ${request.url}`);
      response.writeHead(200, { 'content-type': request.headers['content-type'] ?? 'text/plain' });
      response.end('secure');
    });
    plain = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (chunk: Buffer) => {
        bytes.push(chunk);
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nplain');
      });
    });
    for (const server of [secure, plain]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    ports.http = await freePort();
    ports.https = await freePort();
    stand = await NginxStand.start(ports);
  });
  after(async () => {
    await stand.stop();
    secure.close();
    plain.close();
  });

  it('get requests by TLS, with the host name of the policy as the name of the server', async () => {
    await serveOn([policyFor('web')], [makeRoute('web', [rule('web', '/right')])]);
    assert.equal((await served('/right/a')).status, 200);
    assert.ok(requests.includes(`${host} /right/a`), requests.join());
  });

  for (const [what, validation] of [
    ['another authority', { caCertificateRefs: [{ kind: 'ConfigMap', name: 'other' }] }],
    ['another host name', { hostname: 'other.shop.test' }],
    ['the common name alone', { hostname: 'server' }],
    ['the authorities of the system', { caCertificateRefs: [], wellKnownCACertificates: 'System' }],
    ['a ConfigMap that does not exist', { caCertificateRefs: [{ kind: 'ConfigMap', name: 'none' }] }],
    ['a URI', { subjectAltNames: [{ type: 'URI', uri: 'spiffe://a/b' }] }],
  ] as const)
    it(`get no request if the policy asks for ${what}: the answer is an error of the server`, async () => {
      const path = `/${what.replaceAll(' ', '-')}`;
      // The other policy is right, and has connections to the same address, whose sessions must not count.
      const policies = [policyFor('web', validation), policyFor('again')];
      await serveOn(policies, [makeRoute('web', [rule('web', path), rule('again', `/again${path}`)])]);
      assert.equal((await served(`/again${path}`)).status, 200);
      for (let count = 0; count < 5; count++) {
        const { status = 0, body } = await served(path);
        assert.ok(status >= 500, `${status} ${body}`);
        assert.equal((await served(`/again${path}`)).status, 200);
      }
      assert.deepEqual(
        requests.filter((one) => one.endsWith(` ${path}`)),
        [],
      );
    });

  it('get no bytes of a request without TLS, and no answer without TLS is passed on', async () => {
    const rules = [rule('plain', '/plain'), rule('web', '/beside')];
    await serveOn([policyFor('plain'), policyFor('web')], [makeRoute('web', rules)]);
    assert.equal((await served('/beside')).status, 200);
    const { status = 0, body } = await served('/plain');
    assert.ok(status >= 500, `${status} ${body}`);
    // The first byte of a record of a TLS handshake.
    assert.deepEqual([...new Set(bytes.map((chunk) => chunk[0]))], [22]);
  });

  it('get calls of gRPC by TLS, and none if the host name is another one', async () => {
    const call = async (path: string) => {
      const session = connect(`https://127.0.0.1:${ports.https}`, {
        rejectUnauthorized: false,
        servername: 'grpc.test',
      });
      try {
        const stream = session.request({
          ...{ ':method': 'POST', ':path': path, ':authority': 'grpc.test' },
          ...{ te: 'trailers', 'content-type': 'application/grpc' },
        });
        stream.end('x');
        const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status'?: number }];
        stream.resume();
        return headers[':status'];
      } finally {
        session.destroy();
      }
    };
    const on = (service: string, name: string) => ({ matches: [{ method: { service } }], ...ref(name) });
    const routes = [
      makeGrpcRoute('grpc', [on('right.Svc', 'web'), on('wrong.Svc', 'again')], { hostnames: ['grpc.test'] }),
      makeRoute('web', [rule('web', '/grpc-ready')], { hostnames: ['http.test'] }),
    ];
    await serveOn([policyFor('web'), policyFor('again', { hostname: 'b.test' })], routes);
    assert.equal((await served('/grpc-ready')).status, 200);
    assert.equal(await call('/right.Svc/Get'), 200);
    assert.ok(requests.includes(`${host} /right.Svc/Get`), requests.join());
    assert.equal(await call('/wrong.Svc/Get'), 503);
    assert.ok(!requests.some((one) => one.endsWith('/wrong.Svc/Get')), requests.join());
  });

  it('lose no request while an authority is added and the old one is removed', async () => {
    const { old, new: next } = authorities;
    assert.ok(old && next);
    const routes = [makeRoute('web', [rule('web', '/rotated')])];
    await serveOn([policyFor('web')], routes);
    assert.equal((await served('/rotated')).status, 200);
    const statuses = new Map<number | undefined, number>();
    let isOver = false;
    const client = async () => {
      while (!isOver) {
        const { status } = await stand.ask('http.test', '/rotated');
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const clients = [client(), client()];
    configMaps.set('shop/ca', `${old.certificate}\n${next.certificate}`);
    await serveOn([policyFor('web')], routes);
    // Workers of the configuration before this one do not know the other authority.
    await stand.formerEnded();
    secure.setSecureContext(optionsOf(await makeServerCertificate(next, host)));
    configMaps.set('shop/ca', next.certificate);
    await serveOn([policyFor('web')], routes);
    isOver = true;
    await Promise.all(clients);
    assert.deepEqual([...statuses.keys()], [200], JSON.stringify([...statuses]));
    assert.ok((statuses.get(200) ?? 0) > 10, JSON.stringify([...statuses]));
  });
});

const optionsOf = ({ key, certificate }: KeyAndCertificate) => ({ key, cert: certificate });
