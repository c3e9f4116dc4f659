/** Requests to a trigger that become events, their users, and the fields of the events. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storageKey } from '../../../../../src/apimachinery/resource-definition.ts';
import { newStatusError, StatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { RequestScope } from '../../../../../src/apiserver/request/request-scope.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import { triggerResource } from '../../../../../src/features/triggers/api/trigger.ts';
import { maxEventData } from '../../../../../src/features/triggers/api/trigger-event.ts';
import type { Happening } from '../../../../../src/features/triggers/api/trigger-event-draft.ts';
import type { Intake } from '../../../../../src/features/triggers/server/intake.ts';
import { takeRequest } from '../../../../../src/features/triggers/server/take-request.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { at, meta } from '../../../controllers/objects.ts';

type GivenBody = ConstructorParameters<typeof Response>[0];

interface Shape {
  readonly spec?: object;
  readonly over?: object;
  readonly isThere?: boolean;
  readonly method?: string;
  readonly url?: string;
  readonly rest?: string;
  readonly headers?: Record<string, string>;
  readonly body?: GivenBody;
  readonly user?: string;
  /** Number of runs of the trigger, and of requests to it, in progress. */
  readonly waiting?: number;
  readonly fault?: Error;
}

const stranger = 'system:anonymous';

/** Sends a request to the trigger `t` of the namespace `shop`. */
async function ask(shape: Shape = {}) {
  const { spec = { http: { path: '/x' } }, over = {}, isThere = true, method = 'POST', waiting = 0 } = shape;
  const { url = 'http://gateway.test:8080/trigger/shop/x', rest = '', headers = {}, user = 'alice' } = shape;
  const body = shape.body === undefined ? (method === 'GET' ? null : '{"a":1}') : shape.body;
  const trigger = { metadata: meta('t', { namespace: 'shop', ...over }), spec } as unknown as Trigger;
  const taken: [Trigger, Happening][] = [];
  const intake = {
    take: async (of: Trigger, happening: Happening) => {
      if (shape.fault) throw shape.fault;
      taken.push([of, happening]);
      return { id: 'the-id', name: 't-the-name' };
    },
  } as unknown as Intake;
  const key = storageKey(triggerResource, 'shop', 't');
  const scope = {
    info: { namespace: 'shop', name: 't', rest },
    request: new Request(url, { method, headers, body, duplex: 'half' } as RequestInit),
    server: {
      ...{ clock: new FakeClock(), random: new SeededRandom(1) },
      cache: {
        get: (wanted: string) => (isThere && wanted === key ? { object: trigger } : undefined),
        index: () => ({ get: () => Array(waiting).fill({ bytes: '' }) }),
      },
      store: { get: async () => undefined },
    },
    ...{ user: { name: user, groups: [] }, headers: { 'audit-id': '7' }, remoteAddress: '192.0.2.1' },
  } as unknown as RequestScope;
  const answer = await Promise.resolve(takeRequest(intake)(scope)).catch((error: unknown) => error);
  if (!(answer instanceof Response)) {
    assert.ok(answer instanceof StatusError, String(answer));
    return { status: answer.status.code, message: answer.message, taken, error: answer };
  }
  const happening = taken[0]?.[1] ?? assert.fail('nothing was taken');
  const data = happening.data as Record<string, unknown> & { headers: Record<string, string> };
  return { status: answer.status, answer, taken, trigger, happening, data };
}

describe('a request to a trigger', () => {
  it('is answered with its event once that is stored', async () => {
    const { status, answer, taken, trigger } = await ask();
    assert.equal(status, 202);
    assert.deepEqual(JSON.parse(await new Response(answer?.body).text()), {
      id: 'the-id',
      event: 't-the-name',
    });
    assert.equal(answer?.headers.get('audit-id'), '7');
    assert.deepEqual([taken.length, taken[0]?.[0]], [1, trigger]);
  });
  it('is stored with its method, path, query, headers and body', async () => {
    const { happening, data } = await ask({
      ...{ method: 'PUT', spec: { http: { path: '/x', methods: ['PUT'] } } },
      ...{ url: 'http://gateway.test:8080/trigger/shop/x?a=1&b=2&a=3', rest: '/more' },
      headers: { 'content-type': 'application/json', 'x-own': 'yes' },
    });
    const { key: _, data: __, lessData, ...about } = happening ?? assert.fail();
    assert.deepEqual(about, {
      ...{ type: 'minik8s.io/http.request', source: '/namespaces/shop/triggers/t', time: at(0) },
    });
    const query = { a: '3', b: '2' };
    assert.deepEqual(data, {
      ...{ method: 'PUT', query, body: { a: 1 } },
      headers: {
        ...{ 'content-type': 'application/json', 'x-own': 'yes', host: 'gateway.test:8080' },
        ...{ 'x-forwarded-uri': '/more', 'x-forwarded-for': '192.0.2.1' },
      },
    });
    assert.deepEqual(lessData, { method: 'PUT', query, headers: {}, truncated: true, body: { a: 1 } });
    assert.equal((await ask()).data?.headers['x-forwarded-uri'], '/');
  });
  it('is stored as a test if the trigger has no path', async () => {
    assert.equal((await ask({ spec: {} })).happening?.type, 'minik8s.io/test');
  });
  it('is stored without secret headers, connection headers and headers of the cluster', async () => {
    const { data } = await ask({
      headers: {
        ...{ cookie: 'secret', authorization: 'Bearer secret', 'idempotency-key': 'secret' },
        ...{ connection: 'close', 'content-length': '7', 'transfer-encoding': 'chunked' },
        ...{ 'function-trigger-depth': '9', 'function-call-id': 'x', 'x-own': 'yes' },
      },
    });
    assert.deepEqual(Object.keys(data?.headers ?? {}).toSorted(), [
      ...['content-type', 'host', 'x-forwarded-for', 'x-forwarded-uri', 'x-own'],
    ]);
  });
  it('without a body has none', async () => {
    const { data } = await ask({ method: 'GET', spec: { http: { path: '/x', methods: ['GET'] } } });
    assert.deepEqual([data?.method, data && 'body' in data], ['GET', false]);
    assert.deepEqual((await ask({ body: new TextEncoder().encode('[1]') })).data?.body, [1]);
    assert.equal((await ask({ body: new Uint8Array([0xff]) })).data?.isBase64, true);
    assert.equal((await ask({ body: 'text', headers: { 'content-type': 'text/plain' } })).data?.body, 'text');
  });
});

describe('a request', () => {
  const http = (methods?: readonly string[]) => ({ http: { path: '/x', ...(methods && { methods }) } });
  for (const [what, shape, code] of [
    ['for a missing trigger', { isThere: false }, 404],
    ['for a trigger that is being deleted', { over: { deletionTimestamp: at(1) } }, 404],
    ['for a suspended trigger', { spec: { ...http(), suspend: true } }, 503],
    ['by a method that the trigger does not allow', { method: 'PUT' }, 405],
    ['by POST if the trigger allows other methods', { spec: http(['PUT']) }, 405],
    ['by PUT if the trigger has no path', { spec: {}, method: 'PUT' }, 405],
    ['with a key without characters', { headers: { 'idempotency-key': '' } }, 400],
    ['with a key of 129 characters', { headers: { 'idempotency-key': 'k'.repeat(129) } }, 400],
    ['with a body of more than half an event', { body: 'x'.repeat(maxEventData / 2 + 1) }, 413],
    ['of an anonymous user while too many events wait', { user: stranger, waiting: 1000 }, 429],
    ['while no more events are accepted', { fault: newStatusError('TooManyRequests', 'full') }, 429],
  ] as const)
    it(`${what} is rejected, and stores no event`, async () => {
      const { status, taken } = await ask(shape);
      assert.deepEqual([status, taken], [code, []]);
    });
  it('that is rejected has the reason in its answer', async () => {
    const words = async (shape: Shape) => (await ask(shape)).message;
    assert.match((await words({ isThere: false })) ?? '', /triggers.minik8s.io "t" not found/);
    assert.equal(await words({ spec: { suspend: true } }), 'the trigger is suspended: it takes no events');
    const key = { headers: { 'idempotency-key': '' } };
    assert.equal(await words(key), 'the header Idempotency-Key must have 1 to 128 characters');
    const body = { body: 'x'.repeat(maxEventData / 2 + 1) };
    assert.equal(await words(body), `the body of an event may not be more than ${maxEventData / 2} bytes`);
  });
  for (const [what, shape] of [
    ['of an anonymous user while fewer events wait', { user: stranger, waiting: 999 }],
    ['of an authenticated user, however many events wait,', { waiting: 5000 }],
    ['with a body of half an event', { body: 'x'.repeat(maxEventData / 2) }],
    ['with a key of 128 characters', { headers: { 'idempotency-key': 'k'.repeat(128) } }],
    ['by any method that the trigger allows', { method: 'PUT', spec: http(['GET', 'PUT']) }],
  ] as const)
    it(`${what} is accepted`, async () => assert.equal((await ask(shape)).status, 202));
});

describe('the key of a request', () => {
  const keyOf = async (shape: Shape) => (await ask(shape)).happening?.key ?? [];
  it('is generated for each request if the sender sets none', async () => {
    const [what, id, ...more] = await keyOf({});
    assert.deepEqual([what, id, more], ['request', new SeededRandom(1).uuid(), []]);
  });
  it('is the same for the same request of the same sender', async () => {
    const shape = {
      headers: { 'idempotency-key': 'order-7' },
      rest: '/a',
      url: 'http://h/trigger/shop/x?q=1',
    };
    const first = await keyOf(shape);
    assert.deepEqual(first.slice(0, 3), ['request', 'order-7', 'alice']);
    assert.deepEqual([first.length, /^[0-9a-f]{64}$/.test(first[3] ?? '')], [4, true]);
    assert.deepEqual(await keyOf({ ...shape, headers: { ...shape.headers, 'x-own': '1' } }), first);
    for (const [what, other] of [
      ['sender', { ...shape, user: 'bob' }],
      ['key', { ...shape, headers: { 'idempotency-key': 'order-8' } }],
      ['body', { ...shape, body: '{"a":2}' }],
      ['path', { ...shape, rest: '/b' }],
      ['query', { ...shape, url: 'http://h/trigger/shop/x?q=2' }],
      ['method', { ...shape, method: 'PUT', spec: { http: { path: '/x', methods: ['PUT'] } } }],
    ] as const)
      assert.notDeepEqual(await keyOf(other), first, `another ${what}`);
  });
});
