/** CORS filters of HTTPRoutes as a real nginx serves them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gatewaySites } from '../../../../src/features/gateway/agent/plan/gateway-sites.ts';
import type { CorsFilter } from '../../../../src/features/gateway/api/route-types.ts';
import { servedAttachments } from '../../../../src/features/gateway/api/serving.ts';
import { freePort } from '../../../fixtures/free-port.ts';
import { makeService } from '../../../unit/cluster-dns/objects.ts';
import { listener, makeGateway, makeRoute, serve } from '../../../unit/features/gateway/objects.ts';
import { NginxStand } from '../../web-server/nginx-stand.ts';

describe('CORS filters under nginx', () => {
  let stand: NginxStand;

  /** Returns the status, and the headers for other origins by their last words. */
  async function ask(path: string, origin: string | undefined, requested?: string, method = 'OPTIONS') {
    const { status, headers, body } = await stand.ask('cors.test', path, {
      method: requested === undefined && method === 'OPTIONS' ? 'GET' : method,
      headers: {
        ...(origin !== undefined && { origin }),
        ...(requested !== undefined && { 'access-control-request-method': requested }),
        ...(requested !== undefined && { 'access-control-request-headers': 'x-a, x-b' }),
      },
    });
    const own = Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('access-control-') ? [`${name.slice(15)}=${value}`] : [],
    );
    return { status, body, own: own.sort(), vary: headers.vary };
  }

  before(async () => {
    stand = await NginxStand.start({ http: await freePort() });
    const web = { name: 'web', port: Number((await stand.backend('web')).split(':')[1]) };
    const rule = (path: string, cors: CorsFilter, backend = web) => ({
      matches: [{ path: { type: 'PathPrefix', value: path } }],
      filters: [
        { type: 'CORS', cors },
        {
          type: 'ResponseHeaderModifier',
          responseHeaderModifier: { add: [{ name: 'X-Added', value: 'yes' }] },
        },
      ],
      backendRefs: [backend],
    });
    const rules = [
      rule('/list', {
        allowOrigins: ['https://a.test', 'https://*.B.test', 'http://c.test:8080'],
        allowMethods: ['GET', 'PUT'],
        allowHeaders: ['x-$host'],
        exposeHeaders: ['x-out'],
        allowCredentials: true,
        maxAge: 60,
      }),
      rule('/all', {
        ...{ allowOrigins: ['*'], allowMethods: ['*'], allowHeaders: ['*'], exposeHeaders: ['*'] },
        allowCredentials: true,
      }),
      rule('/hosts', { allowOrigins: ['http://*'] }),
      rule('/gone', { allowOrigins: ['*'] }, { name: 'gone', port: 80 }),
    ];
    const serving = serve({
      gateways: [makeGateway('front', [listener('http', { port: stand.ports.http })])],
      routes: [makeRoute('cors', rules, { hostnames: ['cors.test'] })],
    });
    assert.deepEqual([...serving.refused.values()], []);
    const sites = gatewaySites({
      listeners: serving.listeners,
      attachments: servedAttachments(serving),
      ...{ grants: [], isSecured: () => false, tlsOf: () => undefined },
      certificateOf: () => undefined,
      slicesOf: () => [],
      serviceOf: (_, name) =>
        name === 'web'
          ? makeService(name, { clusterIP: '127.0.0.1', ports: [{ protocol: 'TCP', port: web.port }] })
          : undefined,
    });
    assert.deepEqual((await stand.serve(sites)).refused, []);
  });
  after(() => stand.stop());

  it('answer a preflight request of an allowed origin themselves', async () => {
    const before = stand.received.length;
    const { status, body, own, vary } = await ask('/list', 'https://a.test', 'PUT');
    assert.deepEqual([status, body, vary], [204, '', 'Origin']);
    assert.deepEqual(own, [
      'allow-credentials=true',
      'allow-headers=x-$host',
      'allow-methods=GET, PUT',
      'allow-origin=https://a.test',
      'expose-headers=x-out',
      'max-age=60',
    ]);
    assert.equal(stand.received.length, before);
  });

  it('add the headers to other answers of an allowed origin', async () => {
    const { status, body, own } = await ask('/list', 'https://x.y.b.test');
    assert.deepEqual([status, body.slice(0, 9)], [200, 'web /list']);
    assert.deepEqual(own, [
      'allow-credentials=true',
      'allow-origin=https://x.y.b.test',
      'expose-headers=x-out',
    ]);
  });

  for (const origin of [
    ...['https://b.test', 'https://evilb.test', 'https://a.test.evil.test', 'http://a.test', 'null'],
    ...['https://a.test:8443', 'http://c.test', 'https://axtest', 'https://evil.test#.b.test'],
  ])
    it(`allow nothing to the origin ${origin}, but answer its preflight request`, async () => {
      const preflight = await ask('/list', origin, 'PUT');
      assert.deepEqual([preflight.status, preflight.own], [204, []]);
      const { status, own, vary } = await ask('/list', origin);
      assert.deepEqual([status, own, vary], [200, [], 'Origin']);
    });

  it('allow an origin with its default port, and with the port of the filter', async () => {
    for (const origin of ['https://a.test:443', 'http://c.test:8080'])
      assert.ok((await ask('/list', origin)).own.includes(`allow-origin=${origin}`), origin);
  });

  it('allow everything that a preflight request asks for, if they have stars', async () => {
    assert.deepEqual((await ask('/all', 'https://any.test:99', 'PATCH')).own, [
      'allow-credentials=true',
      'allow-headers=x-a, x-b',
      'allow-methods=PATCH',
      'allow-origin=https://any.test:99',
      'max-age=5',
    ]);
  });

  it('allow every host of a scheme', async () => {
    for (const [origin, count] of [
      ['http://one', 1],
      ['http://a.b.test', 1],
      ['http://[::1]', 1],
      ['https://a.b.test', 0],
      ['http://a.b.test:81', 0],
    ] as const)
      assert.equal((await ask('/hosts', origin)).own.length, count, origin);
  });

  it('pass an OPTIONS request that is no preflight request on to the backend', async () => {
    const { status, body } = await stand.ask('cors.test', '/list', { method: 'OPTIONS' });
    assert.deepEqual([status, body.slice(0, 9)], [200, 'web /list']);
  });

  it('add the headers to the error for a backend that does not exist', async () => {
    const { status, own } = await ask('/gone', 'https://a.test');
    assert.deepEqual([status, own], [500, ['allow-origin=https://a.test']]);
  });

  it('keep the headers that another filter adds', async () => {
    assert.equal((await stand.ask('cors.test', '/list')).headers['x-added'], 'yes');
  });
});
