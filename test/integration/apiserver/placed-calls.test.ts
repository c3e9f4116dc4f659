/**
 * Calls with a reserved place: their state after a rejection, a failure and a restart, with a program that
 * listens.
 */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, beforeEach, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { newNotFound } from '../../../src/apimachinery/status-error.ts';
import { Registry } from '../../../src/base/metrics/registry.ts';
import { type Fn, functionResource } from '../../../src/features/functions/api/function.ts';
import type { CallOutcome } from '../../../src/features/functions/api/placed-calls.ts';
import { FunctionCalls } from '../../../src/features/functions/server/function-calls.ts';
import { FunctionMetrics } from '../../../src/features/functions/server/function-metrics.ts';
import type { Gateway } from '../../../src/features/functions/server/gateway.ts';
import { InstanceConnections } from '../../../src/features/functions/server/instance-connections.ts';
import { placedCalls } from '../../../src/features/functions/server/placed-calls.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

let answer: RequestListener = (_, outgoing) => outgoing.end();
const seen: (string | undefined)[] = [];
const program = createServer((incoming, outgoing) => {
  seen.push(incoming.headers['function-once'] as string | undefined);
  incoming.resume();
  incoming.on('end', () => answer(incoming, outgoing));
});
before(() => new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve)));
after(() => {
  program.closeAllConnections();
  program.close();
});
beforeEach(() => {
  seen.length = 0;
});

const spec = {
  runtime: 'python',
  concurrency: 1,
  timeoutSeconds: 30,
  maxScale: 1,
  target: 1,
  windowSeconds: 30,
};
const pod = {
  metadata: { uid: 'i1', name: 'p' },
  status: { phase: 'Running', podIP: '127.0.0.1' },
} as unknown as Pod;

function world(more: object = {}) {
  const clock = new FakeClock();
  const fn = { metadata: { name: 'f', namespace: 'default' }, spec: { ...spec, ...more } } as unknown as Fn;
  const calls = new FunctionCalls(fn, { clock, onDemand: () => undefined });
  calls.instances.set([pod]);
  const state = { isGone: false, pods: [pod] };
  const gateway = {
    metrics: new FunctionMetrics(new Registry(), clock, () => []),
    callsOf: () => {
      if (state.isGone) throw newNotFound(functionResource, 'f');
      return calls;
    },
    podOf: (_: string, __: string, uid: string) => state.pods.find(({ metadata }) => metadata.uid === uid),
  } as unknown as Gateway;
  const connections = new InstanceConnections(async () => {
    const socket = connect((program.address() as AddressInfo).port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  });
  const placed = placedCalls({ gateway, connections, clock });
  const call = { namespace: 'default', function: 'f', id: 'r.0-0' };
  const never = new AbortController().signal;
  return {
    ...{ clock, calls, state, placed, call },
    place: () => placed.place(call, never),
    /** Sends the call with its place, as the first attempt, or without a place, as after a restart. */
    send: (
      place: Awaited<ReturnType<typeof placed.place>> | undefined,
      signal = never,
    ): Promise<CallOutcome> =>
      placed.send({ ...call, instance: 'i1', place, ageMs: 4000, body: '{}' }, signal),
  };
}
const refuses =
  (why: string): RequestListener =>
  (_, outgoing) =>
    outgoing.writeHead(503, { 'function-not-called': why }).end('{}');

it('a call is answered at its first and repeated attempts, and its place is released then', async () => {
  const { calls, place, send } = world();
  answer = (_, outgoing) => outgoing.setHeader('content-type', 'application/json').end('7');
  const outcome = await send(await place());
  assert.deepEqual(outcome.type === 'answered' && [outcome.status, outcome.isJson, String(outcome.body)], [
    200,
    true,
    '7',
  ]);
  assert.equal((await send(undefined)).type, 'answered');
  assert.deepEqual(seen, ['0', '4.000']);
  assert.deepEqual([calls.hasRoom, calls.isIdle], [true, true]);
});
it('the first attempt of a call to a busy instance was certainly not made; a repeated attempt may have been made', async () => {
  for (const why of ['busy', 'stopping', 'stuck']) {
    const { clock, calls, place, send } = world();
    answer = refuses(why);
    assert.equal((await send(await place())).type, 'notMade', why);
    await clock.advance(1000);
    assert.equal((await send(undefined)).type, why === 'busy' ? 'unclear' : 'notMade', why);
    assert.deepEqual([calls.hasRoom, calls.isIdle], [true, true]);
  }
});
it('a call is lost if the instance has no record of it, or if the instance no longer exists', async () => {
  const { place, send, state } = world();
  answer = (_, outgoing) => outgoing.writeHead(404, { 'function-not-called': 'unknown' }).end('{}');
  assert.equal((await send(undefined)).type, 'lost');
  const held = await place();
  state.pods = [];
  assert.equal((await send(held)).type, 'notMade');
  assert.equal((await send(undefined)).type, 'lost');
});
it('the first call of a deleted function was not made, and a sent one is lost', async () => {
  const { calls, place, send, state } = world();
  const held = await place();
  state.isGone = true;
  assert.equal((await send(held)).type, 'notMade');
  assert.equal((await send(undefined)).type, 'lost');
  assert.equal(calls.isIdle, true, 'the place is released');
});
it('an interrupted call may have been made; a call that takes too long is late; an aborted call has no outcome', async () => {
  const { clock, calls, place, send } = world();
  answer = (_, outgoing) => outgoing.destroy();
  assert.equal((await send(await place())).type, 'unclear');
  const asked = Promise.withResolvers<void>();
  answer = () => asked.resolve();
  const late = send(await place());
  await asked.promise;
  await clock.advance(30_000);
  assert.equal((await late).type, 'late');
  const gone = new AbortController();
  const again = Promise.withResolvers<void>();
  answer = () => again.resolve();
  const given = send(await place(), gone.signal);
  await again.promise;
  gone.abort(new Error('the task is over'));
  await assert.rejects(given, /the task is over/);
  assert.deepEqual([calls.hasRoom, calls.isIdle, clock.pending], [true, true, 0]);
});
it('an image of a user has no record of its answers', async () => {
  const { send } = world({ runtime: undefined });
  answer = (_, outgoing) => outgoing.end('7');
  assert.equal((await send(undefined)).type, 'lost');
  assert.deepEqual(seen, []);
});
