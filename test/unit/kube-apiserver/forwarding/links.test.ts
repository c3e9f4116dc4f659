import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { throughProxy } from '../../../../src/kube-apiserver/forwarding/links.ts';

const prefix = '/api/v1/namespaces/a/pods/web:8080/proxy';
const page = { prefix, requestHost: 'cluster:6443', backendHosts: ['10.0.0.1:8080', '10.0.0.1'] };

describe('links of a page that is read through the proxy', () => {
  const cases: readonly [string, string, string][] = [
    ['a path of the backend', '/login?next=/x#top', `${prefix}/login?next=/x#top`],
    ['the root of the backend', '/', `${prefix}/`],
    ['a path that ends in a slash', '/docs/', `${prefix}/docs/`],
    ["the backend's own address", 'http://10.0.0.1:8080/login', `${prefix}/login`],
    ["the backend's own address without a port", 'https://10.0.0.1/login', `${prefix}/login`],
    ["the backend's own address without a scheme", '//10.0.0.1:8080/login', `${prefix}/login`],
    ["the host name of the client's request", 'https://cluster:6443/x', `https://cluster:6443${prefix}/x`],
    ['a link through the proxy', `${prefix}/x`, `${prefix}/x`],
    ['the proxy without a slash', prefix, prefix],
    ['the backend by its address and prefix', `http://10.0.0.1:8080${prefix}/x`, `${prefix}/x`],
    ['a path that only begins like the prefix', `${prefix}ed`, `${prefix}${prefix}ed`],
    ['another site', 'https://example.org/x', 'https://example.org/x'],
    ['another site without a scheme', '//example.org/x', '//example.org/x'],
    ['a relative path', 'style.css', 'style.css'],
    ['a parent', '../x', '../x'],
    ['a fragment of the page', '#top', '#top'],
    ['only a query', '?a=/b', '?a=/b'],
    ['nothing', '', ''],
    ['a script', 'javascript:/x/.test(y)', 'javascript:/x/.test(y)'],
    ['a mail address', 'mailto:a@b', 'mailto:a@b'],
    ['a path with a colon after its name', 'x:/y', 'x:/y'],
    [
      "the host name of the client's request, without a scheme",
      '//cluster:6443/x',
      `//cluster:6443${prefix}/x`,
    ],
    ["the backend's own address without a path", 'http://10.0.0.1:8080', 'http://10.0.0.1:8080'],
    ['several lines', '/a\n/b', `${prefix}/a\n/b`],
  ];
  for (const [what, link, expected] of cases) {
    it(what, () => assert.equal(throughProxy(link, page), expected));
  }

  it('match no host by an empty name', () => {
    assert.equal(throughProxy('///x', { ...page, requestHost: '' }), `${prefix}/x`);
  });
});
