/**
 * HTTPRoutes as a real nginx serves them: precedence, filters, weights, and values that look like directives
 * of nginx.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gatewaySites } from '../../../../src/features/gateway/agent/plan/gateway-sites.ts';
import type { Gateway, HttpRoute } from '../../../../src/features/gateway/api/kinds.ts';
import type { HttpRouteRule } from '../../../../src/features/gateway/api/route-types.ts';
import { servedAttachments } from '../../../../src/features/gateway/api/serving.ts';
import { freePort } from '../../../fixtures/free-port.ts';
import { makeService } from '../../../unit/cluster-dns/objects.ts';
import { listener, makeGateway, makeRoute, serve } from '../../../unit/features/gateway/objects.ts';
import { type Ask, NginxStand } from '../../web-server/nginx-stand.ts';

describe('HTTPRoutes under nginx', () => {
  let stand: NginxStand;
  let backends: Record<string, string> = {};
  let extra = 0;

  const to = (name: string, weight = 1) => ({
    ...{ name, weight },
    port: Number(backends[name]?.split(':')[1] ?? 80),
  });
  const rule = (matches: HttpRouteRule['matches'], more: HttpRouteRule): HttpRouteRule => ({
    ...(matches && { matches }),
    ...more,
  });
  const section = (sectionName: string) => ({ name: 'front', namespace: 'infra', sectionName });
  const path = (value: string, type = 'PathPrefix') => ({ path: { type, value } });

  function serveOn(gateways: readonly Gateway[], routes: readonly HttpRoute[]) {
    const serving = serve({ gateways, routes });
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
        const [clusterIP = '', port = ''] = (backends[name] ?? '').split(':');
        if (!clusterIP) return undefined;
        return makeService(name, { clusterIP, ports: [{ protocol: 'TCP', port: Number(port) }] });
      },
    });
    return stand.serve(sites);
  }

  const front = (...hostnames: string[]) =>
    makeGateway(
      'front',
      hostnames.map((hostname, index) =>
        listener(`l${index}`, { port: stand.ports.http, ...(hostname && { hostname }) }),
      ),
    );

  before(async () => {
    stand = await NginxStand.start({ http: await freePort() });
    extra = await freePort();
    backends = { web: await stand.backend('web'), api: await stand.backend('api') };
    const web = { backendRefs: [to('web')] };
    const api = { backendRefs: [to('api')] };
    const status = (code: number) => ({
      filters: [
        { type: 'RequestRedirect', requestRedirect: { statusCode: code, hostname: `h${code}.test` } },
      ],
    });
    const rewrite = (urlRewrite: object) => ({
      filters: [{ type: 'URLRewrite', urlRewrite }],
      backendRefs: [to('web')],
    });
    const prefix = (replacePrefixMatch: string) => ({ type: 'ReplacePrefixMatch', replacePrefixMatch });
    const result = await serveOn(
      [front('', '*.wild.test', 'a.wild.test'), makeGateway('more', [listener('extra', { port: extra })])],
      [
        makeRoute(
          'match',
          [
            rule([path('/')], web),
            rule([path('/deep'), path('/deep/er/')], api),
            rule([path('/deep/exact', 'Exact')], status(301)),
            rule([path('/deep/[0-9]+', 'RegularExpression')], status(302)),
            rule([{ ...path('/'), method: 'DELETE' }], status(303)),
            rule([{ ...path('/deep'), headers: [{ name: 'X-Team', value: 'a' }] }], status(307)),
            rule(
              [
                {
                  ...path('/deep'),
                  headers: [
                    { name: 'x-team', value: 'a' },
                    { name: 'x-more', type: 'RegularExpression', value: 'v[0-9]' },
                  ],
                },
              ],
              status(308),
            ),
            rule([{ ...path('/q'), queryParams: [{ name: 'a b', value: 'c&"d' }] }], api),
          ],
          { hostnames: ['match.test'] },
        ),
        makeRoute(
          'change',
          [
            rule([path('/old')], rewrite({ hostname: 'new.test', path: prefix('/new/') })),
            rule([path('/cut')], rewrite({ path: prefix('/') })),
            rule([path('/full')], rewrite({ path: { type: 'ReplaceFullPath', replaceFullPath: '/one' } })),
            rule([path('/to')], {
              filters: [
                {
                  type: 'RequestRedirect',
                  requestRedirect: { scheme: 'https', port: 8443, path: prefix('/there') },
                },
              ],
            }),
            rule([path('/headers')], {
              filters: [
                {
                  type: 'RequestHeaderModifier',
                  requestHeaderModifier: {
                    set: [{ name: 'X-Set', value: '"; return 200 "$host \\' }],
                    add: [{ name: 'X-Add', value: 'b' }],
                    remove: ['X-Gone'],
                  },
                },
                {
                  type: 'ResponseHeaderModifier',
                  responseHeaderModifier: {
                    set: [{ name: 'X-Out', value: 'a $host b' }],
                    remove: ['X-Received'],
                  },
                },
              ],
              backendRefs: [to('web')],
            }),
            rule([path('/split')], { backendRefs: [to('web', 1), to('api', 3), to('none', 0)] }),
            rule([path('/half')], { backendRefs: [to('web', 1), to('none', 1)] }),
            rule([path('/none')], {}),
          ],
          { hostnames: ['change.test'] },
        ),
        makeRoute('wild', [rule([path('/')], web)], { parentRefs: [section('l1')] }),
        makeRoute('one', [rule([path('/only')], api)], { parentRefs: [section('l2')], age: 2 }),
        makeRoute('older', [rule([path('/same')], web)], { hostnames: ['age.test'], age: 1 }),
        makeRoute('a-younger', [rule([path('/same')], api)], { hostnames: ['age.test'], age: 2 }),
        makeRoute('extra', [rule([path('/')], api)], { parentRefs: [{ name: 'more', namespace: 'infra' }] }),
      ],
    );
    assert.deepEqual(result, { refused: [], portProblems: [] });
  });
  after(() => stand.stop());

  for (const [place, expected, ask] of [
    ['match.test/', '200 web /'],
    ['match.test/deep/x', '200 api /deep/x'],
    ['match.test/deeper', '200 web /deeper'],
    ['match.test/deep/exact', '301'],
    ['match.test/deep/exact/', '200 api /deep/exact/'],
    ['match.test/deep/12', '302'],
    ['match.test/deep/12x', '200 api /deep/12x'],
    ['match.test/deep', '307', { headers: { 'x-team': 'a' } }],
    ['match.test/deep', '200 api /deep', { headers: { 'x-team': 'A' } }],
    ['match.test/deep', '308', { headers: { 'x-team': 'a', 'x-more': 'v1' } }],
    ['match.test/deep', '307', { headers: { 'x-team': 'a', 'x-more': 'v12' } }],
    ['match.test/deep', '200 api /deep', { method: 'DELETE' }],
    ['match.test/', '303', { method: 'DELETE' }],
    ['match.test/q?x=1&a%20b=c%26%22d', '200 api /q?x=1&a%20b=c%26%22d'],
    ['match.test/q?a+b=c%26%22d', '200 api /q?a+b=c%26%22d'],
    ['match.test/q?a+b=other&a+b=c%26%22d', '200 web /q?a+b=other&a+b=c%26%22d'],
    ['match.test/q?xa+b=c%26%22d', '200 web /q?xa+b=c%26%22d'],
    ['match.test:99/', '200 web /'],
    ['other.test/', '404'],
    ['change.test/old/a%2Fb?c=d', '200 web /new/a%2Fb?c=d'],
    ['change.test/old', '200 web /new'],
    ['change.test/cut/a', '200 web /a'],
    ['change.test/cut', '200 web /'],
    ['change.test/x/../cut/a', '200 web /'],
    ['change.test/full/a?b=c', '200 web /one?b=c'],
    ['change.test/none', '500'],
    ['a.wild.test/only', '200 api /only'],
    ['a.wild.test/', '404'],
    ['b.wild.test/', '200 web /'],
    ['c.b.wild.test/', '200 web /'],
    ['wild.test/', '404'],
    ['age.test/same', '200 web /same'],
  ] as readonly (readonly [string, string, Ask?])[])
    it(`answers ${place} ${JSON.stringify(ask ?? {})} with ${expected}`, async () => {
      const [, host = '', rest = ''] = /^([^/]+)(.*)$/.exec(place) ?? [];
      const { status, body } = await stand.ask(host, rest, ask);
      assert.equal(
        status === 200 ? `200 ${body.split(' ').slice(0, 2).join(' ')}` : String(status),
        expected,
      );
    });

  it('redirects to another scheme, port and path, with the rest of the request', async () => {
    const { status, headers } = await stand.ask('change.test', '/to/a?b=c');
    assert.deepEqual([status, headers.location], [302, 'https://change.test:8443/there/a?b=c']);
  });

  it('sends the backend the host that the rewrite names', async () => {
    assert.match((await stand.ask('change.test', '/old')).body, /^web \/new new\.test /);
  });

  it('changes headers of requests, and never uses a value as a directive of nginx', async () => {
    const headers = { 'X-Add': 'a', 'X-Gone': 'x', 'X-Set': 'y', 'X-Real-IP': '192.0.2.9' };
    const answer = await stand.ask('change.test', '/headers', { headers });
    assert.equal(answer.headers['x-received'], undefined);
    assert.equal(answer.headers['x-out'], 'a $host b');
    const echo = await stand.ask('match.test', '/', { headers });
    assert.equal(JSON.parse(String(echo.headers['x-received'])).headers['x-real-ip'], '127.0.0.1');
    const seen = stand.received.at(-2);
    assert.equal(seen?.['x-set'], '"; return 200 "$host \\');
    assert.equal(seen?.['x-add'], 'a,b');
    assert.equal(seen?.['x-gone'], undefined);
  });

  it('splits requests by weight, and answers the part of a missing backend with 500', async () => {
    const counts = async (place: string) => {
      const found: Record<string, number> = {};
      for (let index = 0; index < 200; index++) {
        const { status, body } = await stand.ask('change.test', place);
        const key = status === 200 ? (body.split(' ')[0] ?? '') : String(status);
        found[key] = (found[key] ?? 0) + 1;
      }
      return found;
    };
    const split = await counts('/split');
    assert.deepEqual(Object.keys(split).sort(), ['api', 'web']);
    assert.ok((split.web ?? 0) > 15 && (split.web ?? 0) < 95, JSON.stringify(split));
    const half = await counts('/half');
    assert.deepEqual(Object.keys(half).sort(), ['500', 'web']);
    assert.ok((half[500] ?? 0) > 50 && (half[500] ?? 0) < 150, JSON.stringify(half));
  });

  it('serves another port, and only the routes of its listener there', async () => {
    const answer = await fetch(`http://127.0.0.1:${extra}/x`);
    assert.match(await answer.text(), /^api \/x /);
    assert.equal((await stand.ask(`127.0.0.1:${extra}`, '/x')).status, 404);
  });
});
