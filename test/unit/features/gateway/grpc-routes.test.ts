/** GRPCRoutes: which are accepted, the rules that they become, and the configuration of nginx. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gatewaySites } from '../../../../src/features/gateway/agent/plan/gateway-sites.ts';
import type { Gateway, Route } from '../../../../src/features/gateway/api/kinds.ts';
import type { GrpcRouteRule } from '../../../../src/features/gateway/api/route-types.ts';
import { maxPatternsOfNamespace, servedAttachments } from '../../../../src/features/gateway/api/serving.ts';
import { planRoute } from '../../../../src/features/gateway/controller/route-plan.ts';
import { renderNginx } from '../../../../src/web-server/render-nginx.ts';
import { makeService } from '../../cluster-dns/objects.ts';
import {
  httpsListener,
  listener,
  makeGateway,
  makeGrant,
  makeGrpcRoute,
  makeRoute,
  ruleTo,
  serve,
} from './objects.ts';

const front = makeGateway('front', [listener('http')]);
const toWeb: GrpcRouteRule = { backendRefs: [{ name: 'web', port: 80 }] };
const method = (service?: string, name?: string, type?: string): GrpcRouteRule => ({
  matches: [
    {
      method: {
        ...(type !== undefined && { type }),
        ...(service !== undefined && { service }),
        ...(name !== undefined && { method: name }),
      },
    },
  ],
  ...toWeb,
});

/** Returns names and reasons of the routes that are not accepted. */
function refusals(routes: readonly Route[], gateways: readonly Gateway[] = [front]) {
  const serving = serve({ gateways, routes });
  return serving.attachments.flatMap(({ route, refused }) => {
    const problem = refused ?? serving.refused.get(route);
    return problem ? [`${route.metadata.name} ${problem.reason}`] : [];
  });
}

function sitesOf(routes: readonly Route[], gateways: readonly Gateway[] = [front], appProtocol?: string) {
  const serving = serve({ gateways, routes });
  assert.deepEqual([...serving.refused.values()], []);
  const port = { protocol: 'TCP' as const, port: 80, ...(appProtocol !== undefined && { appProtocol }) };
  return gatewaySites({
    listeners: serving.listeners,
    attachments: servedAttachments(serving),
    grants: [],
    certificateOf: () => 'cert.pem',
    slicesOf: () => [],
    isSecured: () => false,
    tlsOf: () => undefined,
    serviceOf: (_, name) =>
      name === 'web' ? makeService('web', { clusterIP: '10.96.0.20', ports: [port] }) : undefined,
  });
}

const rulesOf = (...args: Parameters<typeof sitesOf>) => sitesOf(...args).flatMap(({ rules }) => rules ?? []);
const configOf = (...args: Parameters<typeof sitesOf>) =>
  renderNginx(sitesOf(...args), {
    ...{ httpPort: 80, directory: '/minik8s', temporary: '/tmp', generation: 'g' },
  });

describe('parts of a GRPCRoute that cannot be served', () => {
  const problemOf = (rule: object) => {
    const { refused } = serve({ gateways: [front], routes: [makeGrpcRoute('web', [rule])] });
    return [...refused.values()].map(({ reason, message }) => `${reason}: ${message}`).join();
  };
  const filter = (type: string, more: object = {}) => ({ filters: [{ type, ...more }] });
  const header = (name: string, value: string) =>
    filter('RequestHeaderModifier', { requestHeaderModifier: { set: [{ name, value }] } });

  for (const [what, rule, pattern] of [
    ['a service with a slash', method('a/b'), /service: "a\/b" is not the name of a service/],
    ['a service that ends the path', method('a" { return 200'), /is not the name of a service/],
    ['a service with a dollar sign', method('$host'), /is not the name of a service/],
    ['a method with a line break', method('a', 'b\n'), /is not the name of a method/],
    ['a method with a dot', method('a', 'b.c'), /is not the name of a method/],
    ['a match of no method', { matches: [{ method: {} }] }, /needs a service or a method/],
    ['an unknown type of match', method('a', 'b', 'Glob'), /type: Glob is not supported/],
    [
      'an expression with nested repetitions',
      method('(a+)+', undefined, 'RegularExpression'),
      /service: "\(a\+\)\+" must not repeat a group/,
    ],
    [
      'expressions that are only whole together',
      method('a)|(b', undefined, 'RegularExpression'),
      /service: .*has a '\)' without/,
    ],
    [
      'too many repetitions in both expressions',
      method('a+b+', 'c+d+', 'RegularExpression'),
      /service and method together must have no more than 3 repetitions/,
    ],
    [
      'a header that nginx ignores',
      { matches: [{ headers: [{ name: 'a_b', value: 'x' }] }] },
      /a_b may have/,
    ],
    ['a change of TE', header('te', 'x'), /header te cannot be changed/],
    ['a header with a line break', header('a', 'x\r\nb: c'), /control character/],
    ['a mirror', filter('RequestMirror', { requestMirror: {} }), /RequestMirror is not supported/],
    ['a filter of another API', filter('ExtensionRef'), /ExtensionRef is not supported/],
    [
      'a filter of one backend',
      { backendRefs: [{ name: 'a', ...filter('RequestMirror') }] },
      /RequestMirror/,
    ],
    [
      'one filter twice',
      { filters: [...header('a', 'x').filters, ...header('b', 'x').filters] },
      /IncompatibleFilters.*occurs twice/,
    ],
    ['affinity of sessions', { sessionPersistence: {} }, /sessionPersistence: it is not supported/],
  ] as const)
    it(`cause the rejection of the whole route: ${what}`, () => {
      assert.match(problemOf(rule), pattern);
    });

  it('include more expressions than the namespace may have', () => {
    const rules = Array.from({ length: maxPatternsOfNamespace + 1 }, () => method(undefined, 'Get'));
    assert.deepEqual(refusals([makeGrpcRoute('many', rules)]), ['many TooManyMatches']);
    assert.deepEqual(refusals([makeGrpcRoute('many', rules.slice(1))]), []);
  });
});

describe('a GRPCRoute and an HTTPRoute', () => {
  const grpc = (age: number, ...hostnames: string[]) => makeGrpcRoute('grpc', [toWeb], { age, hostnames });
  const http = (age: number, ...hostnames: string[]) =>
    makeRoute('http', [ruleTo('web')], { age, hostnames });

  for (const [what, routes, expected] of [
    ['with one host: the older HTTPRoute is accepted', [grpc(2, 'a.test'), http(1, 'A.test')], 'grpc'],
    ['with one host: the older GRPCRoute is accepted', [grpc(1, 'a.test'), http(2, 'a.test')], 'http'],
    ['of one age: the first name is accepted', [http(1, 'a.test'), grpc(1, 'a.test')], 'http'],
    ['with a star of the other conflict', [grpc(1, '*.x.test'), http(2, 'a.x.test')], 'http'],
    ['below a star of the other conflict', [grpc(1, 'a.b.x.test'), http(2, '*.x.test')], 'http'],
    ['without a host conflict with every host', [grpc(1), http(2, 'a.test')], 'http'],
    ['with other hosts are both accepted', [grpc(1, 'a.test', '*.y.test'), http(2, 'b.test')], undefined],
  ] as const)
    it(`on one listener ${what}`, () => {
      assert.deepEqual(refusals(routes), expected === undefined ? [] : [`${expected} HostnameConflict`]);
    });

  it('of which the older is rejected for another reason do not conflict', () => {
    const broken = makeGrpcRoute('grpc', [{ sessionPersistence: {} }], { age: 1 });
    assert.deepEqual(refusals([broken, http(2)]), ['grpc UnsupportedValue']);
    const third = makeGrpcRoute('third', [toWeb], { age: 3, hostnames: ['b.test'] });
    assert.deepEqual(refusals([grpc(2), http(1, 'a.test'), third]), ['grpc HostnameConflict']);
  });

  it('on listeners of their own are both accepted', () => {
    const gateways = [makeGateway('front', [listener('a'), listener('b', { port: 81 })])];
    const on = (sectionName: string) => [{ name: 'front', namespace: 'infra', sectionName }];
    const routes = [
      makeGrpcRoute('grpc', [toWeb], { parentRefs: on('a') }),
      makeRoute('http', [ruleTo('web')], { parentRefs: on('b') }),
    ];
    assert.deepEqual(refusals(routes, gateways), []);
  });

  it('attach only to listeners that allow their kind', () => {
    const allowedRoutes = { namespaces: { from: 'All' }, kinds: [{ kind: 'HTTPRoute' }] };
    const gateways = [makeGateway('front', [listener('a', { allowedRoutes })])];
    assert.deepEqual(refusals([grpc(1)], gateways), ['grpc NotAllowedByListeners']);
    assert.deepEqual(refusals([http(1)], gateways), []);
  });
});

describe('the rules of a GRPCRoute', () => {
  const paths = (...rules: readonly GrpcRouteRule[]) =>
    rulesOf([makeGrpcRoute('web', rules)]).map(({ path }) => `${path.type} ${path.path}`);

  it('are ordered by the length of the service, of the method, and the number of headers', () => {
    const headers = [{ name: 'a', value: 'b' }];
    assert.deepEqual(
      paths(
        toWeb,
        method(undefined, 'LongMethod'),
        method('pkg.Svc'),
        { matches: [{ method: { service: 'pkg.Svc', method: 'Get' }, headers }], ...toWeb },
        method('pkg.Svc', 'Get'),
        method('pkg.[SX]vc', 'G.', 'RegularExpression'),
      ),
      [
        'Regex /(?:pkg.[SX]vc)/(?:G.)',
        'Exact /pkg.Svc/Get',
        'Exact /pkg.Svc/Get',
        'Prefix /pkg.Svc',
        'Regex /[^/]+/LongMethod',
        'Prefix /',
      ],
    );
    const [, first, second] = rulesOf([
      makeGrpcRoute('web', [
        method('pkg.Svc', 'Get'),
        { matches: [{ method: { service: 'pkg.Svc', method: 'Get' }, headers }], ...toWeb },
        method('pkg.[SX]vc', 'G.', 'RegularExpression'),
      ]),
    ]);
    assert.deepEqual([first?.conditions.length, second?.conditions.length], [2, 1]);
  });

  it('match calls of gRPC alone, before the rules of an HTTPRoute of another Gateway', () => {
    const more = makeGateway('more', [listener('http')], { age: 1 });
    const http = makeRoute('http', [ruleTo('web', '/pkg.Svc/Get')], {
      parentRefs: [{ name: 'more', namespace: 'infra' }],
    });
    const rules = rulesOf([http, makeGrpcRoute('grpc', [toWeb], { age: 5 })], [front, more]);
    assert.deepEqual(
      rules.map(({ path, conditions }) => [path.path, conditions.map((one) => one.on).join()]),
      [
        ['/', 'header'],
        ['/pkg.Svc/Get', ''],
      ],
    );
  });

  it('answer with 503, which is UNAVAILABLE, for the part of a backend that is not valid', () => {
    const backendRefs = ['web', 'none'].map((name) => ({ name, port: 80 }));
    const [rule] = rulesOf([makeGrpcRoute('web', [{ backendRefs }])]);
    assert.ok(rule?.answer.type === 'forward');
    assert.deepEqual(
      rule.answer.shares.map(({ backends, status }) => [backends.length, status]),
      [
        [1, 503],
        [0, 503],
      ],
    );
    const [empty] = rulesOf([makeGrpcRoute('web', [{}])]);
    assert.deepEqual(empty?.answer, { type: 'status', status: 503 });
  });
});

describe('the configuration for a GRPCRoute', () => {
  it('passes calls by HTTP/2, with headers that are no directives, and allows long streams', () => {
    const set = [{ name: 'X-Set', value: '"; return 200 "$host' }];
    const filters = [
      { type: 'RequestHeaderModifier', requestHeaderModifier: { set, remove: ['x-gone'] } },
      { type: 'ResponseHeaderModifier', responseHeaderModifier: { remove: ['x-secret'] } },
    ];
    const config = configOf([makeGrpcRoute('web', [{ ...method('pkg.Svc', 'Get'), filters }])]);
    const body = config.split('    location ').find((text) => text.includes('grpc_pass')) ?? '';
    for (const line of [
      'grpc_set_header host $http_host;',
      `grpc_set_header X-Set "\\"; return 200 \\"$\{minik8s_dollar}host";`,
      "grpc_set_header x-gone '';",
      'grpc_hide_header x-secret;',
      'grpc_read_timeout 1h;',
      'grpc_send_timeout 1h;',
      'client_body_timeout 1h;',
      'grpc_pass grpc://minik8s_0;',
    ])
      assert.ok(body.includes(line), `${line} in ${body}`);
    assert.doesNotMatch(body, /proxy_|upgrade|grpc_set_header connection/i);
    assert.match(config, /location = "\/pkg\.Svc\/Get" \{/);
  });

  it('has HTTP/2 on each server of a port without TLS that a GRPCRoute uses, and on no other', () => {
    const gateways = [
      makeGateway('front', [
        listener('a', { port: 81, hostname: 'a.test' }),
        listener('b', { port: 82, hostname: 'b.test' }),
        httpsListener('c', 'cert', { hostname: 'a.test' }),
      ]),
    ];
    const routes = [
      makeGrpcRoute('grpc', [toWeb], { hostnames: ['a.test'] }),
      makeRoute('http', [ruleTo('web')], { hostnames: ['b.test'] }),
    ];
    const servers = configOf(routes, gateways).split('  server {').slice(1);
    const found = servers.map((text) => [/listen (\d+)/.exec(text)?.[1], text.includes('http2 on;')]);
    assert.deepEqual(
      found.filter(([, has]) => has).map(([port]) => port),
      ['81', '81'],
    );
    assert.equal(found.filter(([port]) => port === '81').length, 2);
  });

  it('is without a backend if the port of the Service has another protocol', () => {
    for (const [appProtocol, count] of [
      ['https', 0],
      ['kubernetes.io/ws', 0],
      ['kubernetes.io/h2c', 1],
      ['grpc', 1],
    ] as const) {
      const [rule] = rulesOf([makeGrpcRoute('web', [toWeb])], [front], appProtocol);
      assert.ok(rule?.answer.type === 'forward');
      assert.equal(rule.answer.shares[0]?.backends.length, count, appProtocol);
    }
  });
});

describe('the status of a GRPCRoute', () => {
  const route = makeGrpcRoute('web', [{ backendRefs: [{ name: 'web', namespace: 'other', port: 80 }] }]);
  const refsWith = (kind: string) => {
    const serving = serve({ gateways: [front], routes: [route] });
    const status = planRoute(route, {
      ...{
        attachments: serving.attachments,
        refused: serving.refused.get(route),
        now: '2026-01-02T00:00:00Z',
      },
      grants: [makeGrant('other', { kind, namespace: 'shop' }, { group: '', kind: 'Service' })],
      isSecured: () => false,
      serviceOf: () =>
        makeService('web', { clusterIP: '10.96.0.20', ports: [{ protocol: 'TCP', port: 80 }] }),
    });
    return status?.parents?.[0]?.conditions.map(({ type, reason }) => `${type} ${reason}`);
  };

  it('needs a ReferenceGrant for GRPCRoutes: one for HTTPRoutes is not enough', () => {
    assert.deepEqual(refsWith('HTTPRoute'), ['Accepted Accepted', 'ResolvedRefs RefNotPermitted']);
    assert.deepEqual(refsWith('GRPCRoute'), ['Accepted Accepted', 'ResolvedRefs ResolvedRefs']);
  });
});
