/**
 * Events for the results of function calls: their fields, the triggers that get them, and the forwarded
 * answer.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { RequestScope } from '../../../../../src/apiserver/request/request-scope.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import { maxEventData } from '../../../../../src/features/triggers/api/trigger-event.ts';
import type { Happening } from '../../../../../src/features/triggers/api/trigger-event-draft.ts';
import type { Intake } from '../../../../../src/features/triggers/server/intake.ts';
import { reportResults } from '../../../../../src/features/triggers/server/report-results.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { at, meta } from '../../../controllers/objects.ts';

type GivenBody = ConstructorParameters<typeof Response>[0];

const deliverer = 'system:serviceaccount:kube-system:trigger-controller';

interface Shape {
  readonly headers?: Record<string, string>;
  readonly user?: string;
  /** Outcomes that each trigger waits for, by its name. */
  readonly triggers?: Readonly<Record<string, readonly string[]>>;
}

async function report(call: () => Promise<Response>, { headers = {}, user = 'me', triggers }: Shape = {}) {
  const told: { name: string; happening: Happening; time: string }[] = [];
  const named = Object.entries(triggers ?? { t: ['Success', 'Failure'] });
  const intake = {
    triggersOfResults: (namespace: string, name: string) => {
      assert.deepEqual([namespace, name], ['shop', 'f']);
      return named.map(([of, outcomes]) => ({
        metadata: meta(of),
        spec: { result: { function: 'f', outcomes } },
      }));
    },
    takeAnyway: async ({ metadata }: Trigger, happening: Happening, time: string) =>
      void told.push({ name: metadata.name, happening, time }),
  } as unknown as Intake;
  const scope = {
    info: { namespace: 'shop', name: 'f' },
    request: new Request('http://x/', { method: 'POST', headers }),
    server: { clock: new FakeClock(), random: new SeededRandom(1) },
    ...{ user: { name: user, groups: [] }, signal: new AbortController().signal },
  } as unknown as RequestScope;
  const answer = await Promise.resolve(reportResults(intake, call)(scope)).catch((error: unknown) => error);
  return { told, answer: answer as Response, data: told[0]?.happening.data as Record<string, unknown> };
}

const answering = (status: number, body: GivenBody = '1', type = 'application/json') => {
  return async () => new Response(body, { status, headers: { 'content-type': type } });
};
const pieces = (...sizes: readonly number[]) => {
  const left = [...sizes];
  return new ReadableStream<Uint8Array>({
    pull: (to) => {
      const size = left.shift();
      if (size === undefined) to.close();
      else to.enqueue(new Uint8Array(size).fill(0x61));
    },
  });
};

describe('the event of a result', () => {
  it('has the function, the result and the call', async () => {
    const { told } = await report(answering(200), { headers: { 'function-call-id': 'mine' } });
    const about = { function: 'f', outcome: 'Success', status: 200, callId: 'mine' };
    assert.deepEqual(told, [
      {
        ...{ name: 't', time: at(0) },
        happening: {
          key: ['result', new SeededRandom(1).uuid()],
          ...{ type: 'minik8s.io/function.success', source: '/namespaces/shop/functions/f', subject: 'f' },
          ...{ time: at(0), data: { ...about, body: 1 }, lessData: { ...about, truncated: true } },
          ...{ depth: 1, chain: [] },
        },
      },
    ]);
  });
  it('of a failure has that type, and no id if the caller gave none', async () => {
    const { told, data } = await report(answering(500, '{"error":"E"}'));
    assert.equal(told[0]?.happening.type, 'minik8s.io/function.failure');
    assert.deepEqual(data, { function: 'f', outcome: 'Failure', status: 500, body: { error: 'E' } });
  });
  for (const [status, outcome] of [
    [200, 'Success'],
    [204, 'Success'],
    [299, 'Success'],
    [300, 'Failure'],
    [404, 'Failure'],
  ] as const)
    it(`with the status ${status} is a ${outcome}`, async () => {
      const { data, answer } = await report(answering(status, status === 204 ? null : '1'));
      assert.deepEqual([data.outcome, data.status, answer.status], [outcome, status, status]);
    });
  it('of an answer without a type is JSON if it parses, otherwise text', async () => {
    const bare = (text: string) => async () => {
      const answer = new Response(text);
      answer.headers.delete('content-type');
      return answer;
    };
    assert.deepEqual((await report(bare('[1]'))).data.body, [1]);
    assert.equal((await report(bare('x'))).data.body, 'x');
  });
  it('of a call without an answer has the status 500', async () => {
    const { data, answer } = await report(() => Promise.reject(new Error('a fault of ours')));
    assert.deepEqual(data, { function: 'f', outcome: 'Failure', status: 500, error: undefined });
    assert.equal((answer as unknown as Error).message, 'a fault of ours');
    const late = await report(() => Promise.reject(newStatusError('Timeout', 'too late')));
    assert.deepEqual(late.data, { function: 'f', outcome: 'Failure', status: 504, error: 'too late' });
  });
  it('is sent to the triggers that wait for such a result, and to all of them', async () => {
    const triggers = { a: ['Success'], b: ['Failure'], c: ['Failure', 'Success'] };
    const names = async (status: number) =>
      (await report(answering(status), { triggers })).told.map(({ name }) => name);
    assert.deepEqual(
      [await names(200), await names(500)],
      [
        ['a', 'c'],
        ['b', 'c'],
      ],
    );
  });
  it('is not stored if no trigger selects it, and the answer is passed on unchanged', async () => {
    const response = new Response('1');
    const { told, answer } = await report(async () => response, { triggers: {} });
    assert.deepEqual([told, answer === response], [[], true]);
  });
  for (const [text, depth] of [
    [undefined, 1],
    ['0', 1],
    ['7', 8],
    ['15', 16],
    ['16', 17],
    ['99', 17],
    ['100', 1],
    ['-1', 1],
    ['7x', 1],
    ['x7', 1],
    ['', 1],
  ] as const)
    it(`has the depth ${depth} after a delivery with the depth ${text ?? 'unset'}`, async () => {
      const headers: Record<string, string> = text === undefined ? {} : { 'function-trigger-depth': text };
      const { told } = await report(answering(200), { user: deliverer, headers });
      assert.equal(told[0]?.happening.depth, depth);
    });
});

describe('an answer whose result is stored', () => {
  it('is forwarded with its status, its headers and its complete body', async () => {
    const { answer, data } = await report(answering(201, 'text', 'text/plain'));
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type'), await answer.text(), data.body],
      [201, 'text/plain', 'text', 'text'],
    );
  });
  it('has no body in the event if it has none', async () => {
    const { answer, data } = await report(answering(204, null));
    assert.deepEqual([answer.body, 'body' in data, 'truncated' in data], [null, false, false]);
  });
  const most = maxEventData / 2;
  for (const [what, sizes, isTold] of [
    ['of half an event', [most], true],
    ['of half an event in pieces', [most - 10, 4, 6], true],
    ['of one byte more', [most + 1], false],
    ['of one byte more in pieces', [most - 1, 1, 1, 5], false],
    ['of a megabyte', Array(16).fill(64 * 1024), false],
  ] as const)
    it(`${what} is passed on completely and stored ${isTold ? 'completely' : 'as truncated'}`, async () => {
      const { answer, data } = await report(answering(200, pieces(...sizes), 'text/plain'));
      const whole = sizes.reduce((sum, size) => sum + size, 0);
      assert.equal((await answer.text()).length, whole);
      assert.equal((data.body as string | undefined)?.length, isTold ? whole : undefined);
      assert.equal(data.truncated, isTold ? undefined : true);
    });
  it('is forwarded up to the place at which it is cut off', async () => {
    let count = 0;
    const cut = new ReadableStream<Uint8Array>(
      {
        pull: (to) => {
          if (count++ < 2) to.enqueue(new Uint8Array(3).fill(0x61));
          else to.error(new Error('reset'));
        },
      },
      { highWaterMark: 0 },
    );
    const { answer, data } = await report(answering(200, cut));
    assert.equal(await answer.text(), 'aaaaaa');
    assert.deepEqual(data, {
      ...{ function: 'f', outcome: 'Failure', status: 200, truncated: true, error: 'the answer broke off' },
    });
  });
});
