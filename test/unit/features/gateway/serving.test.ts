/** Listeners of Gateways, and the routes that attach to them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bySpecificity,
  coveringNames,
  intersection,
} from '../../../../src/features/gateway/api/hostnames.ts';
import type { Listener } from '../../../../src/features/gateway/api/kinds.ts';
import { isServed, namedSecrets } from '../../../../src/features/gateway/api/listeners.ts';
import { maxMatchesOfNamespace, servedAttachments } from '../../../../src/features/gateway/api/serving.ts';
import {
  httpsListener,
  listener,
  makeClass,
  makeGateway,
  makeGrant,
  makeRoute,
  ruleTo,
  serve,
} from './objects.ts';

const statesOf = (...listeners: readonly Listener[]) =>
  serve({ gateways: [makeGateway('front', listeners)] }).listeners;

describe('host names', () => {
  for (const [a, b, both] of [
    ['', '*.x.test', '*.x.test'],
    ['*.x.test', 'a.x.test', 'a.x.test'],
    ['a.b.x.test', '*.x.test', 'a.b.x.test'],
    ['*.x.test', '*.b.x.test', '*.b.x.test'],
    ['*.x.test', 'x.test', undefined],
    ['*.x.test', 'ax.test', undefined],
    ['a.test', 'b.test', undefined],
  ] as const)
    it(`"${a}" and "${b}" have ${both ?? 'nothing'} in common`, () => {
      assert.equal(intersection(a, b), both);
      assert.equal(intersection(b, a), both);
    });

  it('an exact name is more specific than one with a star, and a longer star than a shorter one', () => {
    const names = ['', '*.test', '*.x.test', 'a.x.test'];
    assert.deepEqual(names.toSorted(bySpecificity), names.toReversed());
    assert.deepEqual(coveringNames('a.x.test'), names.toReversed());
    assert.deepEqual(coveringNames('*.x.test'), ['*.x.test', '*.test', '']);
  });
});

describe('listeners', () => {
  it('of a Gateway of another class are ignored', () => {
    const gateways = [makeGateway('front', [listener('http')])];
    assert.deepEqual(
      serve({ gateways, classes: [makeClass('minik8s', 'other.test/gateway')] }).listeners,
      [],
    );
  });

  for (const [what, one, reason] of [
    ['the protocol TCP', listener('a', { protocol: 'TCP' }), 'UnsupportedProtocol'],
    [
      'HTTPS without termination',
      httpsListener('a', 'cert', { tls: { mode: 'Passthrough' } }),
      'UnsupportedProtocol',
    ],
  ] as const)
    it(`with ${what} are not accepted`, () => {
      const [state] = statesOf(one);
      assert.equal(state?.refused?.reason, reason);
      assert.equal(state && isServed(state), false);
    });

  it('for HTTPS are not accepted if client certificates have to be verified', () => {
    const spec = { tls: { frontend: { default: {} } } };
    const gateways = [makeGateway('front', [httpsListener('tls', 'cert')], { spec })];
    assert.equal(serve({ gateways }).listeners[0]?.refused?.reason, 'UnsupportedValue');
  });

  it('of one Gateway with one port and host name conflict, in upper and lower case', () => {
    const states = statesOf(
      listener('a', { hostname: 'A.test' }),
      listener('b', { hostname: 'a.test' }),
      listener('c', { hostname: 'c.test' }),
    );
    assert.deepEqual(
      states.map(({ conflict }) => conflict?.reason),
      ['HostnameConflict', 'HostnameConflict', undefined],
    );
  });

  it('of one Gateway with two protocols on a port conflict', () => {
    const states = statesOf(listener('a', { port: 443 }), httpsListener('b', 'cert', { hostname: 'b.test' }));
    assert.deepEqual(
      states.map(({ conflict }) => conflict?.reason),
      ['ProtocolConflict', 'ProtocolConflict'],
    );
  });

  it('are not accepted on a port that an older Gateway has for another protocol', () => {
    const older = makeGateway('older', [httpsListener('tls', 'cert')], { age: 1 });
    const younger = makeGateway('a', [listener('http', { port: 443 })], { age: 2 });
    const { listeners } = serve({ gateways: [younger, older] });
    assert.deepEqual(
      listeners.map((state) => [state.gateway.metadata.name, state.refused?.reason]),
      [
        ['older', undefined],
        ['a', 'PortUnavailable'],
      ],
    );
  });

  it('for HTTPS are served only with a usable certificate', () => {
    const gateways = [makeGateway('front', [httpsListener('tls', 'cert')])];
    const [state] = serve({ gateways, certificateProblem: () => 'does not exist' }).listeners;
    assert.equal(state?.unresolved?.reason, 'InvalidCertificateRef');
    assert.equal(state && isServed(state), false);
    assert.equal(statesOf(httpsListener('tls', 'cert'))[0]?.secret, 'infra/cert');
  });

  it('use a Secret of another namespace only if a ReferenceGrant there allows it', () => {
    const tls = { certificateRefs: [{ name: 'cert', namespace: 'other' }] };
    const gateways = [makeGateway('front', [httpsListener('tls', '', { tls })])];
    const from = { kind: 'Gateway', namespace: 'infra' };
    const secret = { group: '', kind: 'Secret' };
    const reasonWith = (...grants: ReturnType<typeof makeGrant>[]) =>
      serve({ gateways, grants }).listeners[0]?.unresolved?.reason;
    assert.equal(reasonWith(), 'RefNotPermitted');
    assert.equal(reasonWith(makeGrant('shop', from, secret)), 'RefNotPermitted');
    assert.equal(reasonWith(makeGrant('other', { ...from, namespace: 'shop' }, secret)), 'RefNotPermitted');
    assert.equal(reasonWith(makeGrant('other', from, { ...secret, name: 'b' })), 'RefNotPermitted');
    assert.equal(reasonWith(makeGrant('other', from, { ...secret, name: 'cert' })), undefined);
    assert.deepEqual([...namedSecrets(gateways, [])], []);
    assert.deepEqual([...namedSecrets(gateways, [makeGrant('other', from, secret)])], ['other/cert']);
  });

  it('name the kinds of routes that they do not have, and keep the others', () => {
    const kinds = [{ kind: 'UDPRoute' }, { kind: 'HTTPRoute' }];
    const [state] = statesOf(listener('a', { allowedRoutes: { kinds } }));
    assert.equal(state?.unresolved?.reason, 'InvalidRouteKinds');
    assert.deepEqual(state?.kinds, [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' }]);
  });
});

describe('routes', () => {
  const allowing = (allowedRoutes: Listener['allowedRoutes']) => [
    makeGateway('front', [
      { name: 'http', port: 80, protocol: 'HTTP', ...(allowedRoutes && { allowedRoutes }) },
    ]),
  ];
  const refusal = (gateways: ReturnType<typeof allowing>, route = makeRoute('web', [ruleTo('web')])) =>
    serve({ gateways, routes: [route] }).attachments.map(({ refused }) => refused?.reason);

  for (const [what, namespaces, expected] of [
    ['by default', undefined, 'NotAllowedByListeners'],
    ['with from: Same', { from: 'Same' }, 'NotAllowedByListeners'],
    ['with from: None', { from: 'None' }, 'NotAllowedByListeners'],
    ['with an unknown value', { from: 'Some' }, 'NotAllowedByListeners'],
    ['with from: Selector but no selector', { from: 'Selector' }, 'NotAllowedByListeners'],
    [
      'with a selector of other labels',
      { from: 'Selector', selector: { matchLabels: { team: 'other' } } },
      'NotAllowedByListeners',
    ],
    ['with its labels', { from: 'Selector', selector: { matchLabels: { team: 'shop' } } }, undefined],
    ['with from: All', { from: 'All' }, undefined],
  ] as const)
    it(`of another namespace are ${expected ?? 'accepted'} ${what}`, () => {
      const gateways = allowing(namespaces && { namespaces });
      assert.deepEqual(refusal(gateways), [expected]);
      const serving = serve({ gateways, routes: [makeRoute('web', [ruleTo('web')])] });
      assert.equal(servedAttachments(serving).length, expected === undefined ? 1 : 0);
    });

  it('do not attach if their namespace no longer exists', () => {
    const route = makeRoute('web', [ruleTo('web')], { namespace: 'gone' });
    assert.deepEqual(refusal(allowing({ namespaces: { from: 'All' } }), route), ['NotAllowedByListeners']);
  });

  it('attach to the listeners that their parent names by section and port', () => {
    const gateways = [makeGateway('front', [listener('a'), listener('b', { port: 8080 })])];
    const attachedTo = (more: object) => {
      const parentRefs = [{ name: 'front', namespace: 'infra', ...more }];
      const route = makeRoute('web', [ruleTo('web')], { parentRefs });
      return serve({ gateways, routes: [route] }).attachments.map(
        ({ listeners, refused }) => refused?.reason ?? listeners.map((one) => one.listener.name).join(),
      );
    };
    assert.deepEqual(attachedTo({}), ['a,b']);
    assert.deepEqual(attachedTo({ sectionName: 'b' }), ['b']);
    assert.deepEqual(attachedTo({ port: 80 }), ['a']);
    assert.deepEqual(attachedTo({ sectionName: 'a', port: 8080 }), ['NoMatchingParent']);
    assert.deepEqual(attachedTo({ kind: 'Service' }), []);
    assert.deepEqual(attachedTo({ name: 'none' }), []);
  });

  it('need a host name of the listener', () => {
    const gateways = [makeGateway('front', [listener('a', { hostname: '*.x.test' })])];
    const route = makeRoute('web', [ruleTo('web')], { hostnames: ['y.test'] });
    assert.deepEqual(refusal(gateways, route), ['NoMatchingListenerHostname']);
  });

  it('are served up to the limit of their namespace, the oldest first', () => {
    const matches = Array.from({ length: maxMatchesOfNamespace / 2 + 1 }, () => ({}));
    const routes = [3, 1, 2].map((age) => makeRoute(`r${age}`, [{ matches }], { age }));
    const other = makeRoute('other', [{ matches }], { namespace: 'other', age: 9 });
    const serving = serve({ gateways: [makeGateway('front', [listener('a')])], routes: [...routes, other] });
    assert.deepEqual(
      servedAttachments(serving)
        .map(({ route }) => route.metadata.name)
        .sort(),
      ['other', 'r1'],
    );
    assert.equal(serving.refused.size, 2);
  });
});

describe('parts of a route that cannot be served', () => {
  const problemOf = (rule: object) => {
    const route = makeRoute('web', [rule]);
    const serving = serve({ gateways: [makeGateway('front', [listener('a')])], routes: [route] });
    assert.equal(servedAttachments(serving).length, serving.refused.size === 0 ? 1 : 0);
    return [...serving.refused.values()].map(({ reason, message }) => `${reason}: ${message}`).join();
  };
  const filter = (type: string, more: object = {}) => ({ filters: [{ type, ...more }] });
  const header = (name: string, value = 'x') =>
    filter('RequestHeaderModifier', { requestHeaderModifier: { set: [{ name, value }] } });

  for (const [what, rule, pattern] of [
    [
      'a path with a dollar sign',
      { matches: [{ path: { value: '/$host' } }] },
      /path: "\/\$host" must consist/,
    ],
    ['a path with ..', { matches: [{ path: { value: '/a/../b' } }] }, /must not have/],
    [
      'a pattern with nested repetitions',
      { matches: [{ path: { type: 'RegularExpression', value: '/(a+)+$' } }] },
      /must not repeat a group/,
    ],
    [
      'a type of path of another implementation',
      { matches: [{ path: { type: 'Glob', value: '/' } }] },
      /Glob/,
    ],
    [
      'a header that nginx ignores',
      { matches: [{ headers: [{ name: 'a.b', value: 'x' }] }] },
      /a\.b may have/,
    ],
    [
      'a header value with a line break',
      { matches: [{ headers: [{ name: 'a', value: 'x\ny' }] }] },
      /control character/,
    ],
    ['a change of Transfer-Encoding', header('Transfer-Encoding', 'chunked'), /cannot be changed/],
    ['a change of Host', header('host'), /cannot be changed/],
    ['a header with a line break', header('a', 'x\r\nb: c'), /control character/],
    [
      'a filter of another API',
      filter('ExtensionRef', { extensionRef: {} }),
      /ExtensionRef is not supported/,
    ],
    ['a filter that requires authentication', filter('ExternalAuth'), /ExternalAuth is not supported/],
    ['a filter without its field', filter('URLRewrite'), /urlRewrite: it is required/],
    [
      'a redirect beside a rewrite',
      {
        filters: [
          { type: 'URLRewrite', urlRewrite: {} },
          { type: 'RequestRedirect', requestRedirect: {} },
        ],
      },
      /IncompatibleFilters/,
    ],
    [
      'one filter twice',
      { filters: [header('a').filters[0], header('b').filters[0]] },
      /IncompatibleFilters.*occurs twice/,
    ],
    [
      'a new prefix for an exact path',
      {
        matches: [{ path: { type: 'Exact', value: '/a' } }],
        ...filter('URLRewrite', {
          urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } },
        }),
      },
      /needs matches of the type PathPrefix/,
    ],
    [
      'a mirror of one backend',
      { backendRefs: [{ name: 'a', port: 80, ...filter('RequestMirror') }] },
      /whole rules/,
    ],
    ['retries', { retry: { attempts: 3 } }, /retries are not supported/],
    ['a timeout that is no duration', { timeouts: { request: 'soon' } }, /"soon" is not a duration/],
  ] as const)
    it(`cause the rejection of the whole route: ${what}`, () => {
      assert.match(problemOf(rule), pattern);
    });

  it('are absent from a usual route', () => {
    assert.equal(problemOf({ ...ruleTo('web', '/a'), ...header('x-team', 'a "b" $c') }), '');
  });
});
