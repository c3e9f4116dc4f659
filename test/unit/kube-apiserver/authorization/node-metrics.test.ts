/** Users who may read a node's metrics through the API server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessRequest } from '../../../../src/apiserver/authorization/authorizer.ts';
import { nodeMetricsAuthorizer } from '../../../../src/kube-apiserver/authorization/node-metrics.ts';

const user = { name: 'prometheus', groups: [] };
const asked = {
  ...{ type: 'resource', user, verb: 'get', group: '', resource: 'nodes/proxy', namespace: '', name: 'n1' },
  rest: '/metrics',
} as const;
const mayReadMetrics = nodeMetricsAuthorizer(
  (request) => request.type === 'resource' && request.resource === 'nodes/metrics' && request.name === 'n1',
);
const may = (change: object) => mayReadMetrics({ ...asked, ...change } as AccessRequest);

test('a user who may get nodes/metrics may read the pages of metrics', () => {
  for (const page of ['', '/cadvisor', '/dns', '/probes', '/proxy', '/resource'])
    assert.equal(may({ rest: `/metrics${page}` }), true, page);
});

test('a user who may only get nodes/metrics may read nothing else of a node', () => {
  for (const change of [
    { rest: '/metrics/' },
    { rest: '/metrics/../pods' },
    { rest: '/metrics%2f..%2fpods' },
    { rest: '/metrics//cadvisor' },
    { rest: '/pods' },
    { rest: '/exec/default/web/main' },
    { rest: '' },
    { rest: undefined },
    { verb: 'create' },
    { verb: '' },
    { name: 'n2' },
    { name: 'n1:9100' },
    { name: 'https:n1:10250' },
    { group: 'metrics.k8s.io' },
    { resource: 'nodes' },
    { resource: 'nodes/log' },
    { resource: 'pods/proxy' },
  ])
    assert.equal(may(change), false, JSON.stringify(change));
  assert.equal(mayReadMetrics({ type: 'path', user, verb: 'get', path: '/metrics' }), false);
});

test('a name with a scheme or a port is refused to users who may read the metrics of all nodes', () => {
  const ofAll = nodeMetricsAuthorizer(() => true);
  assert.equal(ofAll(asked as AccessRequest), true);
  for (const name of ['n1:9100', 'https:n1:', 'http:n1:10250'])
    assert.equal(ofAll({ ...asked, name } as AccessRequest), false, name);
});
