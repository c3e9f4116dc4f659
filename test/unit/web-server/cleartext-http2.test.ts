/** HTTP/2 on ports without TLS: which versions of nginx have it, and the sites for those that do not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  distinguishesHttp2,
  http2Ports,
  versionIn,
  withoutHttp2,
} from '../../../src/web-server/cleartext-http2.ts';
import type { Site } from '../../../src/web-server/site.ts';

describe('HTTP/2 without TLS', () => {
  for (const [output, version, expected] of [
    ['nginx version: nginx/1.22.1\n', '1.22.1', false],
    ['nginx version: nginx/1.25.0', '1.25.0', false],
    ['nginx version: nginx/1.25.1', '1.25.1', true],
    ['nginx version: nginx/1.26.0 (Ubuntu)', '1.26.0', true],
    ['nginx version: nginx/2.0.0', '2.0.0', true],
    ['nginx version: openresty/1.27.1', undefined, false],
    ['', undefined, false],
  ] as const)
    it(`is ${expected ? 'served' : 'not served'} by ${JSON.stringify(output)}`, () => {
      assert.equal(versionIn(output), version);
      assert.equal(distinguishesHttp2(version), expected);
    });

  it('is removed from the sites that ask for it, which keep their ports', () => {
    const site = (host: string, port: number, http2?: true): Site => ({
      ...{ host, notFound: 'none', routes: [] },
      listen: { port, tls: false, ...(http2 && { http2 }) },
    });
    const sites = [site('a', 82, true), site('b', 81, true), site('c', 82, true), site('d', 83)];
    assert.deepEqual(http2Ports(sites), [81, 82]);
    const others = withoutHttp2(sites);
    assert.deepEqual(http2Ports(others), []);
    assert.deepEqual(
      others.map(({ host, listen }) => `${host} ${listen?.port}`),
      ['a 82', 'b 81', 'c 82', 'd 83'],
    );
  });
});
