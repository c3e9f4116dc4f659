/** Selectors that are stored once, and compared with every pod that is written later. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, 'a']));
const services = '/api/v1/namespaces/default/services';
const controllers = '/api/v1/namespaces/default/replicationcontrollers';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const service = (name: string, count: number) => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], selector: pairs(count) },
});
const budget = (name: string, count: number) => ({
  metadata: { name },
  spec: { minAvailable: 1, selector: { matchLabels: pairs(count) } },
});
const pod = { containers: [{ name: 'a', image: 'b' }] };

test('a Service may select by at most 1,000 labels', async () => {
  const answer = await server.call('POST', services, service('long', 1001));
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.text, /spec\.selector: Too many: 1001: must have at most 1000 items/);
  assert.equal((await server.call('POST', services, service('most', 1000))).status, 201);
  const grown = await server.call('PATCH', `${services}/most`, { spec: { selector: { more: 'b' } } }, merge);
  assert.equal(grown.status, 422, grown.text);
  const other = await server.call('PATCH', `${services}/most`, { metadata: { labels: { a: 'b' } } }, merge);
  assert.equal(other.status, 200, other.text);
});

test('a ReplicationController may select by at most 1,000 labels', async () => {
  const template = { metadata: { labels: pairs(1001) }, spec: pod };
  const answer = await server.call('POST', controllers, { metadata: { name: 'long' }, spec: { template } });
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.text, /spec\.selector: Too many: 1001/);
});

test('the long selectors of one kind in a namespace have at most 50,000 terms; short selectors are not counted', async () => {
  for (let index = 0; index < 50; index++)
    assert.equal((await server.call('POST', budgets, budget(`b${index}`, 1000))).status, 201);
  const answer = await server.call('POST', budgets, budget('last', 11));
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.text, /spec\.selector: Too many: 50011: must have at most 50000 items/);
  assert.equal((await server.call('POST', budgets, budget('short', 10))).status, 201);
  assert.equal((await server.call('DELETE', `${budgets}/b0`)).status, 200);
  assert.equal((await server.call('POST', budgets, budget('last', 11))).status, 201);
});

test('the values of sets count as terms of the selectors of a namespace', async () => {
  const values = Array.from({ length: 26_000 }, (_, index) => `a${index}`);
  const selector = { matchExpressions: [{ key: 'x', operator: 'In', values }] };
  const path = budgets.replace('default', 'kube-public');
  const create = (name: string) =>
    server.call('POST', path, { metadata: { name }, spec: { minAvailable: 1, selector } });
  assert.equal((await create('first')).status, 201);
  const answer = await create('second');
  assert.equal(answer.status, 422, answer.text.slice(0, 500));
  assert.match(answer.text, /spec\.selector: Too many: 52000: must have at most 50000 items/);
});

const expressions = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ key: `x${index}`, operator: 'DoesNotExist' }));

test('the selectors of the network policies of a namespace have at most 50,000 terms', async () => {
  const path = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
  const peer = { podSelector: { matchExpressions: expressions(1000) } };
  const create = (name: string, peers: number) => {
    const from = Array.from({ length: peers }, () => peer);
    return server.call('POST', path, { metadata: { name }, spec: { podSelector: {}, ingress: [{ from }] } });
  };
  for (let index = 0; index < 10; index++) assert.equal((await create(`p${index}`, 5)).status, 201);
  const answer = await create('last', 1);
  assert.equal(answer.status, 422, answer.text.slice(0, 500));
  assert.match(answer.text, /spec: Too many: 51000: must have at most 50000 items/);
});

// The count includes the two tolerations that every pod gets.
test('a pod that compares every node with thousands of expressions is refused', async () => {
  const matchExpressions = Array.from({ length: 9000 }, (_, i) => ({
    key: `x${i}`,
    operator: 'DoesNotExist',
  }));
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
  };
  const answer = await server.call('POST', '/api/v1/namespaces/default/pods', {
    metadata: { name: 'long' },
    spec: { ...pod, affinity: { nodeAffinity } },
  });
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.text, /spec\.affinity: Too many: 9003: must have at most 400 items/);
});
