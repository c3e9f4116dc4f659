/** Results of function calls as events, and the maximum number of events. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newNotFound, newStatusError, StatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { RequestScope } from '../../../../../src/apiserver/request/request-scope.ts';
import { functionResource } from '../../../../../src/features/functions/api/function.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import type { Happening } from '../../../../../src/features/triggers/api/trigger-event-draft.ts';
import { Intake } from '../../../../../src/features/triggers/server/intake.ts';
import { reportResults } from '../../../../../src/features/triggers/server/report-results.ts';
import type { Cache } from '../../../../../src/storage/cache.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { meta } from '../../../controllers/objects.ts';

const deliverer = 'system:serviceaccount:kube-system:trigger-controller';

describe('the result of a call', () => {
  interface Shape {
    readonly headers?: Record<string, string>;
    readonly user?: string;
    readonly signal?: AbortSignal;
  }
  async function told(
    call: () => Response | Promise<Response>,
    { headers = {}, user = 'me', signal }: Shape = {},
  ) {
    const events: Happening[] = [];
    const trigger = {
      metadata: meta('t'),
      spec: { result: { function: 'f', outcomes: ['Success', 'Failure'] } },
    };
    const intake = {
      triggersOfResults: () => [trigger as unknown as Trigger],
      takeAnyway: async (_: Trigger, happening: Happening) => void events.push(happening),
    } as unknown as Intake;
    const scope = {
      info: { namespace: 'default', name: 'f' },
      request: new Request('http://x/', { method: 'POST', headers }),
      server: { clock: new FakeClock(), random: new SeededRandom(1) },
      user: { name: user, groups: [] },
      signal: signal ?? new AbortController().signal,
    } as unknown as RequestScope;
    const answer = await Promise.resolve(reportResults(intake, call)(scope)).catch((error: unknown) => error);
    return { events, answer, data: events[0]?.data as Record<string, unknown> | undefined };
  }
  const json = (status: number) => () =>
    new Response('{"a":1}', { status, headers: { 'content-type': 'application/json' } });

  it('is reported with its chain, one deeper; only the cluster can set the chain', async () => {
    const headers = {
      'function-trigger-depth': '3',
      'function-trigger-chain': 'default/s',
      'function-call-id': 'id',
    };
    const { events, data, answer } = await told(json(200), { headers, user: deliverer });
    assert.deepEqual([events[0]?.depth, events[0]?.chain], [4, ['default/s']]);
    const { events: others } = await told(json(200), { headers });
    assert.deepEqual([others[0]?.depth, others[0]?.chain], [1, []], 'only the cluster can set the chain');
    assert.deepEqual(data, { function: 'f', outcome: 'Success', status: 200, callId: 'id', body: { a: 1 } });
    assert.equal(await (answer as Response).text(), '{"a":1}');
  });
  it('is no failure yet if its delivery is retried; only the cluster can set this', async () => {
    const headers = { 'function-trigger-retried': 'true' };
    assert.equal((await told(json(500), { headers, user: deliverer })).events.length, 0);
    assert.equal((await told(json(200), { headers, user: deliverer })).events.length, 1);
    assert.equal((await told(json(500), { user: deliverer })).events.length, 1);
    assert.equal(
      (await told(json(500), { headers })).data?.outcome,
      'Failure',
      'only the cluster can mark a call as retried',
    );
  });
  it('is a failure without an answer, but not without a function or a caller', async () => {
    const fails = (error: Error) => () => Promise.reject(error);
    const late = await told(fails(newStatusError('Timeout', 'too late')));
    assert.deepEqual([late.data?.status, late.data?.error], [504, 'too late']);
    assert.ok(late.answer instanceof StatusError);
    assert.equal((await told(fails(newNotFound(functionResource, 'f')))).events.length, 0);
    const gone = AbortSignal.abort();
    assert.equal((await told(fails(new Error('gone')), { signal: gone })).events.length, 0);
    assert.equal((await told(json(200), { signal: gone })).events.length, 0);
  });
  it('is forwarded completely above the size of an event, and is not read further when the caller stops', async () => {
    let sent = 0;
    let isEnded = false;
    const body = new ReadableStream({
      pull(controller) {
        if (sent === 8) return controller.close();
        sent++;
        controller.enqueue(new Uint8Array(64 * 1024));
      },
      cancel() {
        isEnded = true;
      },
    });
    const { data, answer } = await told(() => new Response(body));
    assert.deepEqual([data?.truncated, data?.body], [true, undefined]);
    const reader = (answer as Response).body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    assert.equal(value?.length, 64 * 1024);
    await reader?.cancel();
    assert.deepEqual([isEnded, sent < 8], [true, true]);
  });
});

describe('an answer that breaks off', () => {
  it('is reported as a failure, and is cut off for the caller too', async () => {
    let hungUp = 0;
    const events: Happening[] = [];
    const scope = {
      info: { namespace: 'default', name: 'f' },
      request: new Request('http://x/', { method: 'POST' }),
      server: { clock: new FakeClock(), random: new SeededRandom(1) },
      user: { name: 'me', groups: [] },
      signal: new AbortController().signal,
      hangUp: () => void hungUp++,
    } as unknown as RequestScope;
    const intake = {
      triggersOfResults: () => [{ metadata: meta('t'), spec: { result: { outcomes: ['Failure'] } } }],
      takeAnyway: async (_: Trigger, happening: Happening) => void events.push(happening),
    } as unknown as Intake;
    const answerOf = (breaksOff: boolean) =>
      new Response(
        new ReadableStream({
          start(to) {
            to.enqueue(new Uint8Array(3));
            if (breaksOff) to.error(new Error('reset'));
            else to.close();
          },
        }),
      );
    await reportResults(intake, async () => answerOf(false))(scope);
    assert.deepEqual([hungUp, events.length], [0, 0]);
    await reportResults(intake, async () => answerOf(true))(scope);
    const { outcome, error } = (events[0]?.data ?? {}) as Record<string, unknown>;
    assert.deepEqual([hungUp, outcome, error], [1, 'Failure', 'the answer broke off']);
  });
});

describe('an answer without a receiver', () => {
  /** Result of 300 KiB and more; records whether it was released. */
  const large = () => {
    const seen = { isOver: false };
    const body = new ReadableStream({
      pull: (to) => to.enqueue(new Uint8Array(64 * 1024)),
      cancel: () => {
        seen.isOver = true;
      },
    });
    return { seen, call: async () => new Response(body) };
  };
  const scope = {
    info: { namespace: 'default', name: 'f' },
    request: new Request('http://x/', { method: 'POST' }),
    server: { clock: new FakeClock(), random: new SeededRandom(1) },
    user: { name: 'me', groups: [] },
    signal: new AbortController().signal,
  } as unknown as RequestScope;
  const intakeOf = (take: () => Promise<void>) =>
    ({
      triggersOfResults: () => [{ metadata: meta('t'), spec: { result: { outcomes: ['Success'] } } }],
      takeAnyway: take,
    }) as unknown as Intake;

  it('occupies no instance if its event cannot be stored', async () => {
    const { seen, call } = large();
    const full = newStatusError('Forbidden', 'exceeded quota');
    const intake = intakeOf(() => Promise.reject(full));
    await assert.rejects(Promise.resolve(reportResults(intake, call)(scope)), full);
    assert.ok(seen.isOver);
  });
  it('occupies no instance if its caller disconnects before reading any of it', async () => {
    const { seen, call } = large();
    const answer = await reportResults(
      intakeOf(async () => undefined),
      call,
    )(scope);
    await answer.body?.cancel();
    assert.ok(seen.isOver);
  });
});

describe('the maximum of waiting events', () => {
  const trigger = { metadata: meta('t'), spec: {} } as unknown as Trigger;
  const happening = (n: number): Happening => ({ key: [String(n)], type: 'x', source: 'x', time: 'T' });
  const pending = { metadata: meta('e'), spec: {}, status: {} };
  const cacheOf = (count: () => number) =>
    ({ index: () => ({ get: () => Array(count()).fill({ object: pending }) }) }) as unknown as Cache;

  it('includes the events that are being stored', async () => {
    const stored = Promise.withResolvers<Response>();
    const intake = new Intake({
      cache: cacheOf(() => 0),
      handler: () => stored.promise.then((r) => r.clone()),
    });
    const taken = Array.from({ length: 1000 }, (_, n) => intake.take(trigger, happening(n)));
    const refused = assert.rejects(intake.take(trigger, happening(1000)), { name: 'StatusError' });
    stored.resolve(new Response('{}'));
    await refused;
    await Promise.all(taken);
    await intake.take(trigger, happening(1001));
  });
  it('counts a stored event once, whether or not the write succeeded', async () => {
    let isAway = false;
    const intake = new Intake({
      cache: cacheOf(() => 998),
      handler: async () =>
        isAway ? new Response('{"reason":"InternalError","code":500}', { status: 500 }) : new Response('{}'),
    });
    for (let n = 0; n < 20; n++) {
      isAway = n % 3 === 0;
      await Promise.allSettled([intake.take(trigger, happening(n)), intake.take(trigger, happening(-n))]);
    }
    isAway = false;
    await intake.take(trigger, happening(99));
  });
  it('an event that is stored already is accepted as the same event', async () => {
    const refused = (reason: string, code: number) =>
      new Intake({
        cache: cacheOf(() => 0),
        handler: async () => new Response(JSON.stringify({ reason, code }), { status: code }),
      }).take(trigger, happening(1));
    const first = await new Intake({
      cache: cacheOf(() => 0),
      handler: async () => new Response('{}'),
    }).take(trigger, happening(1));
    assert.deepEqual(await refused('AlreadyExists', 409), first);
    await assert.rejects(refused('Conflict', 409), { name: 'StatusError' });
  });
  it('does not include dead letters', async () => {
    const dead = { object: { ...pending, spec: { replays: 0 }, status: { phase: 'Failed' } } };
    const cache = { index: () => ({ get: () => Array(2000).fill(dead) }) } as unknown as Cache;
    await new Intake({ cache, handler: async () => new Response('{}') }).take(trigger, happening(1));
  });
  it('the thousandth event is accepted, and the next one is not', async () => {
    const intake = (count: number) =>
      new Intake({ cache: cacheOf(() => count), handler: async () => new Response('{}') });
    await intake(999).take(trigger, happening(1));
    await assert.rejects(
      intake(1000).take(trigger, happening(1)),
      (error: StatusError) => error.status.code === 429,
    );
  });
});
