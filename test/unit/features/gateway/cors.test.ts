/** CORS filters of HTTPRoutes: which are accepted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CorsFilter } from '../../../../src/features/gateway/api/route-types.ts';
import { listener, makeGateway, makeRoute, ruleTo, serve } from './objects.ts';

const front = makeGateway('front', [listener('http')]);
const problemOf = (cors: CorsFilter | undefined, more: readonly object[] = []) => {
  const filters = [{ type: 'CORS', ...(cors && { cors }) }, ...more] as never;
  const { refused } = serve({
    gateways: [front],
    routes: [makeRoute('web', [{ ...ruleTo('web'), filters }])],
  });
  return [...refused.values()].map(({ reason, message }) => `${reason}: ${message}`).join();
};

describe('a CORS filter', () => {
  for (const cors of [
    {},
    { allowOrigins: ['*'], allowMethods: ['*'], allowHeaders: ['*'], exposeHeaders: ['*'] },
    {
      allowOrigins: [
        'https://a.test',
        'http://*.B.test:8080',
        'https://*',
        'http://*:81',
        'http://localhost',
      ],
      allowMethods: ['GET', 'PUT'],
      allowHeaders: ["x-$1'`"],
      maxAge: 1,
    },
  ] as readonly CorsFilter[])
    it(`is accepted with ${JSON.stringify(cors)}`, () => {
      assert.equal(problemOf(cors), '');
    });

  for (const [what, cors, pattern] of [
    ['no fields', undefined, /filters\[0\]\.cors: it is required/],
    [
      'an origin with a path',
      { allowOrigins: ['https://a.test/x'] },
      /allowOrigins: "https:\/\/a\.test\/x" is not/,
    ],
    ['an origin of another scheme', { allowOrigins: ['ftp://a.test'] }, /is not an origin/],
    ['a star within an origin', { allowOrigins: ['https://a.*.test'] }, /is not an origin/],
    ['an origin that is a pattern', { allowOrigins: ['https://(a|b).test'] }, /is not an origin/],
    ['all origins and one', { allowOrigins: ['*', 'https://a.test'] }, /allowOrigins: '\*' excludes/],
    ['an unknown method', { allowMethods: ['get'] }, /allowMethods: "get" is not a method/],
    ['a header with a line break', { allowHeaders: ['a\r\nb: c'] }, /is not the name of a header/],
    [
      'a header that ends a text',
      { exposeHeaders: ['a"; return 200 "'] },
      /exposeHeaders: .* is not the name/,
    ],
    ['a time below one second', { maxAge: 0 }, /maxAge: 0 is not above 0/],
  ] as const)
    it(`causes the rejection of the whole route with ${what}`, () => {
      assert.match(problemOf(cors), pattern);
    });

  it('is rejected twice in one rule, beside a redirect, and for one backend', () => {
    assert.match(problemOf({}, [{ type: 'CORS', cors: {} }]), /^IncompatibleFilters: .*CORS occurs twice/);
    const filters = [
      { type: 'CORS', cors: {} },
      { type: 'RequestRedirect', requestRedirect: {} },
    ];
    const routes = [
      makeRoute('redirect', [{ filters }]),
      makeRoute('backend', [{ backendRefs: [{ name: 'web', port: 80, filters: filters.slice(0, 1) }] }]),
    ];
    const { refused } = serve({ gateways: [front], routes });
    assert.deepEqual(
      [...refused.values()].map(({ message }) => message),
      [
        'spec.rules[0].filters: RequestRedirect and CORS exclude each other',
        'spec.rules[0].backendRefs[0].filters[0].type: CORS is supported for whole rules only',
      ],
    );
  });
});
