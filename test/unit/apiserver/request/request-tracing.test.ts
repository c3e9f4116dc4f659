import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newForbidden } from '../../../../src/apimachinery/status-error.ts';
import { parseRequestInfo, type ResourceRequest } from '../../../../src/apiserver/request/request-info.ts';
import { beginningOf, traceRequest } from '../../../../src/apiserver/request/request-tracing.ts';
import {
  componentUser,
  isPartOfCluster,
  mastersGroup,
  monitoringGroup,
  nodesGroup,
  nodeUserName,
  serviceAccountUser,
  type UserInfo,
} from '../../../../src/apiserver/request/user.ts';
import type { LongRunning } from '../../../../src/apiserver/subresources/subresources.ts';
import type { FinishedSpan } from '../../../../src/base/tracing/span.ts';
import { createTracer } from '../../../../src/base/tracing/tracer.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { subresourceAt } from '../../../fixtures/kind-behavior.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
const header = `00-${parent.traceId}-${parent.spanId}-01`;
const unsampled = `00-${parent.traceId}-${parent.spanId}-00`;
const user = (name: string, ...groups: string[]): UserInfo => ({ name, groups });

const people = {
  administrator: user('kubernetes-admin', mastersGroup),
  monitoring: user('prometheus', monitoringGroup),
  person: user('ada', 'system:authenticated'),
  program: serviceAccountUser('default', 'operator'),
  stranger: user('system:anonymous', 'system:unauthenticated'),
  joining: user('system:bootstrap:abcdef', 'system:bootstrappers'),
  controller: serviceAccountUser('kube-system', 'replicaset-controller'),
  scheduler: componentUser('kube-scheduler'),
  node: user(nodeUserName('n1'), nodesGroup),
};

test('only certain users are components of the cluster', () => {
  const parts = Object.entries(people).filter(([, one]) => isPartOfCluster(one));
  assert.deepEqual(
    parts.map(([name]) => name),
    ['controller', 'scheduler', 'node'],
  );
});

const child = { kind: 'child', parent };
const root = { kind: 'root', link: undefined };
const linked = { kind: 'root', link: parent };
const none = { kind: 'none' };
const cases: [
  who: keyof typeof people,
  header: string | null,
  longRunning: LongRunning | undefined,
  expected: object,
][] = [
  ['administrator', header, undefined, child],
  ['administrator', unsampled, undefined, none],
  ['administrator', null, undefined, root],
  ['administrator', 'nonsense', undefined, root],
  ['monitoring', header, undefined, child],
  ['person', header, undefined, linked],
  ['person', unsampled, undefined, { kind: 'root', link: { ...parent, sampled: false } }],
  ['person', null, undefined, root],
  ['program', header, undefined, linked],
  ['stranger', header, undefined, linked],
  ['joining', header, undefined, linked],
  ['controller', header, undefined, child],
  ['controller', null, undefined, none],
  ['scheduler', null, undefined, none],
  ['node', header, undefined, child],
  ['node', unsampled, undefined, none],
  ['node', null, undefined, none],
  ['person', header, 'call', none],
  ['stranger', null, 'call', root],
  ['administrator', header, 'call', child],
];
for (const [who, traceparent, longRunning, expected] of cases) {
  test(`a request of ${who} with ${traceparent} for ${longRunning ?? 'an object'} begins with ${JSON.stringify(expected)}`, () =>
    assert.deepEqual(beginningOf(traceparent, people[who], longRunning), expected));
}

function world(rate = 1) {
  const spans: FinishedSpan[] = [];
  const clock = new FakeClock();
  const tracer = createTracer({ clock, random: new SeededRandom(1), rate, take: (span) => spans.push(span) });
  return { spans, tracer };
}

const asked = (path: string, method = 'GET', verb = 'get') => ({
  method,
  headers: new Headers({ 'user-agent': 'me/1', authorization: 'Bearer secret' }),
  info: parseRequestInfo(path) as ResourceRequest,
  longRunning: subresourceAt(path)?.longRunning,
  verb,
  user: people.person,
  remoteAddress: '192.0.2.1',
  identified: { since: 0, until: 0 },
});

test('a span has the route and the status of a request, without its query and the path behind a subresource', async () => {
  const { spans, tracer } = world();
  const path = '/api/v1/namespaces/default/pods/web';
  await traceRequest(tracer, asked(path), async () => Response.json({}, { headers: { 'audit-id': 'x' } }));
  const [authentication, request] = spans;
  assert.equal(authentication?.name, 'authentication');
  assert.equal(authentication?.parent, request?.context.spanId);
  assert.equal(request?.name, 'GET /api/v1/namespaces/{:namespace}/pods/{:name}');
  assert.deepEqual(request?.attributes, {
    'http.request.method': 'GET',
    'http.route': '/api/v1/namespaces/{:namespace}/pods/{:name}',
    'url.path': path,
    verb: 'get',
    'user_agent.original': 'me/1',
    'client.address': '192.0.2.1',
    'http.response.status_code': 200,
    'audit-id': 'x',
  });
  assert.equal(request?.error, undefined);
  const call = '/apis/minik8s.io/v1/namespaces/default/functions/f/invoke/a/secret';
  await traceRequest(tracer, asked(call, 'POST', 'create'), async () => ({ status: 503 }));
  assert.ok(!JSON.stringify(spans).includes('secret'));
  assert.equal(spans.at(-1)?.error, '503');
});

test('only errors of the server, from status 500 on, mark the span as failed', async () => {
  const { spans, tracer } = world();
  const request = asked('/api/v1/namespaces/default/pods/web');
  for (const status of [200, 404, 409, 499, 500, 504])
    await traceRequest(tracer, request, async () => ({ status }));
  assert.deepEqual(
    spans.filter(({ name }) => name.startsWith('GET ')).map(({ error }) => error),
    [undefined, undefined, undefined, undefined, '500', '504'],
  );
});

test('a rejected request is no failed span, and its message is not in the span', async () => {
  const { spans, tracer } = world();
  const refused = newForbidden({ group: '', plural: 'pods' }, 'web', 'because of hunter2');
  const failing = traceRequest(tracer, asked('/api/v1/namespaces/default/pods/web'), () =>
    Promise.reject(refused),
  );
  await assert.rejects(failing, /hunter2/);
  assert.equal(spans.at(-1)?.attributes['http.response.status_code'], 403);
  assert.ok(!JSON.stringify(spans).includes('hunter2'));
});

for (const path of ['pods/web/log', 'pods/web/exec', 'services/web/proxy/x']) {
  test(`an endless answer creates no span: ${path}`, async () => {
    const { spans, tracer } = world();
    const request = asked(`/api/v1/namespaces/default/${path}`);
    await traceRequest(tracer, request, async () => ({ status: 200 }));
    await traceRequest(tracer, asked('/api/v1/pods', 'GET', 'watch'), async () => ({ status: 200 }));
    assert.deepEqual(spans, []);
  });
}
