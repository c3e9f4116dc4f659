import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRequestInfo } from '../../../../src/apiserver/request/request-info.ts';

describe('parseRequestInfo', () => {
  const resource = (fields: object) => ({
    type: 'resource',
    group: '',
    version: 'v1',
    namespace: '',
    plural: '',
    name: '',
    subresource: '',
    rest: '',
    ...fields,
  });
  const cases: readonly [string, object][] = [
    ['/api/v1/pods', { plural: 'pods' }],
    ['/api/v1/pods/', { plural: 'pods' }],
    ['/api/v1/namespaces', { plural: 'namespaces' }],
    ['/api/v1/namespaces/a', { plural: 'namespaces', name: 'a' }],
    ['/api/v1/namespaces/a/status', { plural: 'namespaces', name: 'a', subresource: 'status' }],
    ['/api/v1/namespaces/a/finalize', { plural: 'namespaces', name: 'a', subresource: 'finalize' }],
    ['/api/v1/namespaces/a/pods', { namespace: 'a', plural: 'pods' }],
    ['/api/v1/namespaces/a/pods/b', { namespace: 'a', plural: 'pods', name: 'b' }],
    ['/api/v1/namespaces/a/pods/b/log', { namespace: 'a', plural: 'pods', name: 'b', subresource: 'log' }],
    [
      '/api/v1/namespaces/a/services/b/proxy/x/y',
      { namespace: 'a', plural: 'services', name: 'b', subresource: 'proxy', rest: '/x/y' },
    ],
    ['/api/v1/nodes/n:10250/proxy', { plural: 'nodes', name: 'n:10250', subresource: 'proxy' }],
    ['/api/v1/nodes/n/proxy/', { plural: 'nodes', name: 'n', subresource: 'proxy', rest: '/' }],
    [
      '/api/v1/nodes/n/proxy//a%2Fb/%zz/',
      { plural: 'nodes', name: 'n', subresource: 'proxy', rest: '//a%2Fb/%zz/' },
    ],
    ['/apis/apps/v1/deployments', { group: 'apps', plural: 'deployments' }],
    [
      '/apis/apps/v1/namespaces/a/deployments/b/scale',
      { group: 'apps', namespace: 'a', plural: 'deployments', name: 'b', subresource: 'scale' },
    ],
    ['/api/v1/namespaces/a/pods/x%2Fy', { namespace: 'a', plural: 'pods', name: 'x/y' }],
  ];
  for (const [path, fields] of cases) {
    it(path, () => assert.deepEqual(parseRequestInfo(path), resource(fields)));
  }

  for (const path of [
    '/',
    '/api',
    '/api/',
    '/api/v1',
    '/apis/apps/v1',
    '/apis/apps',
    '/livez',
    '',
    '/toString/v1/pods',
    '/constructor',
    '/namespaces/a/%zz',
    '/api/v1/namespaces//pods',
    '//',
    '/api/v1/namespaces/a//pods',
    '/api/v1/namespaces/a/pods//log',
  ]) {
    it(`${path} is not a resource`, () => assert.deepEqual(parseRequestInfo(path), { type: 'path', path }));
  }

  it('refuses broken percent-encoding', () => {
    assert.throws(() => parseRequestInfo('/api/v1/pods/%f'), /not valid percent-encoding/);
  });
});
