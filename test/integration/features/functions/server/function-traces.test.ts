/** The trace context that an instance receives with a call. */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import type { FinishedSpan } from '../../../../../src/base/tracing/span.ts';
import { formatTraceparent } from '../../../../../src/base/tracing/trace-context.ts';
import { createTracer } from '../../../../../src/base/tracing/tracer.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { startGatewayWorld } from '../../../apiserver/gateway-world.ts';

const header = '00-c0ffee00c0ffee00c0ffee00c0ffee00-00f067aa0ba902b7-01';
const headers = { traceparent: header };

/**
 * Starts a gateway with a public function. `called` calls the function and returns the trace context that the
 * instance received.
 */
async function start(context: TestContext, rate: number | undefined) {
  const spans: FinishedSpan[] = [];
  const clock = systemClock;
  const take = (span: FinishedSpan) => void spans.push(span);
  const tracer =
    rate === undefined ? undefined : createTracer({ clock, random: new SeededRandom(1), rate, take });
  const world = await startGatewayWorld(tracer && { tracer });
  context.after(async () => {
    await world.cleanUp();
    await world.stop();
  });
  let told: unknown;
  const answer: RequestListener = (incoming, outgoing) => {
    told = incoming.headers.traceparent;
    outgoing.end();
  };
  const one = await world.fn({ public: true });
  await world.instance(one, answer);
  spans.length = 0;
  return {
    spans,
    world,
    async called(asked: Parameters<typeof world.call>[1], path = `/function/${one.metadata.name}`) {
      told = undefined;
      assert.equal((await world.call(path, asked)).status, 200);
      return told;
    },
    odd: `/function/default/${one.metadata.name}/%7B%7D`,
  };
}

test("the call of a trusted caller is a span of the caller's trace, with the instance in it", async (context) => {
  const { spans, called, odd } = await start(context, 0);
  for (const path of [undefined, odd]) {
    spans.length = 0;
    const told = await called({ headers }, path);
    const call = spans.find(({ kind }) => kind === 'server');
    assert.ok(call);
    assert.equal(call.parent, '00f067aa0ba902b7');
    assert.equal(told, formatTraceparent(call.context));
  }
});

test("the call of any other caller stays in the caller's trace, and is not recorded as a span here", async (context) => {
  const { spans, called, world } = await start(context, 1);
  const agent = world.stranger();
  assert.equal(await called({ headers, agent }), header);
  assert.equal(spans.length, 0);
  const told = await called({ agent });
  const call = spans.find(({ kind }) => kind === 'server');
  assert.ok(call);
  assert.equal(told, formatTraceparent(call.context), 'without a trace one begins');
  agent.destroy();
});

for (const [what, rate] of [
  ['recorded', 0],
  ['traced', undefined],
] as const) {
  test(`the header passes unchanged if nothing is ${what}`, async (context) => {
    const { called, world } = await start(context, rate);
    const agent = world.stranger();
    assert.equal(await called({ headers, agent }), header);
    assert.equal(await called({ agent }), undefined);
    if (rate === undefined) assert.equal(await called({ headers }), header);
    agent.destroy();
  });
}
