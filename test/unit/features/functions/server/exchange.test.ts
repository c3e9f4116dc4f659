/** One exchange with an instance that its caller cancels. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { it } from 'node:test';
import { exchange } from '../../../../../src/features/functions/server/exchange.ts';
import { cut, InstancePrograms, refusing } from './instance-programs.ts';

function world(signal: AbortSignal, body?: Readable) {
  const programs = new InstancePrograms();
  const program = programs.add('one');
  const instance = programs.gateway.callsOf('default', 'f').instances.known('uid-one') ?? assert.fail();
  const agent = programs.connections.agentOf(instance);
  const begin = () => exchange({ agent, method: 'POST', path: '/', headers: ['host', 'f'], body, signal });
  return { programs, program, begin };
}

it('is not sent after an earlier abort, and rejects with the reason', async () => {
  const reason = new Error('not wanted');
  const { programs, program, begin } = world(AbortSignal.abort(reason));
  await assert.rejects(begin(), reason);
  await programs.clock.settle();
  assert.equal(program.asked.length, 0);
});

it('rejects with the reason of an abort while the instance has it, and ends its connection', async () => {
  const gone = new AbortController();
  const { programs, program, begin } = world(gone.signal);
  program.answer = () => undefined;
  const rejected = assert.rejects(begin(), { message: 'not wanted' });
  await programs.clock.settle();
  assert.equal(program.asked.length, 1);
  gone.abort(new Error('not wanted'));
  await rejected;
  assert.deepEqual([program.connections.size, getEventListeners(gone.signal, 'abort').length], [0, 0]);
});

it('without a body can be sent to another instance if the first has not called its handler', async () => {
  const { programs, program, begin } = world(new AbortController().signal);
  program.answer = refusing('busy');
  const outcome = begin();
  await programs.clock.settle();
  assert.deepEqual(await outcome, { notTaken: 'busy' });
});

it('that breaks off is rejected with the reason of the connection, and waits for nothing', async () => {
  const gone = new AbortController();
  const { programs, program, begin } = world(gone.signal);
  program.answer = cut;
  const rejected = assert.rejects(begin(), {
    message: 'the instance ended before it had answered the call: socket hang up',
  });
  await programs.clock.settle();
  await rejected;
  assert.equal(getEventListeners(gone.signal, 'abort').length, 0);
});

it('that is answered no longer waits for an abort', async () => {
  const gone = new AbortController();
  const { programs, begin } = world(gone.signal);
  const outcome = begin();
  await programs.clock.settle();
  const result = await outcome;
  assert.ok('answer' in result);
  result.answer.resume();
  await programs.clock.settle();
  assert.equal(getEventListeners(gone.signal, 'abort').length, 0);
});

it('with a body that was read to its end leaves its connection to the next one', async () => {
  const { programs, program, begin } = world(new AbortController().signal, Readable.from(['a', 'b']));
  const outcome = begin();
  await programs.clock.settle();
  const result = await outcome;
  assert.ok('answer' in result);
  result.answer.resume();
  await programs.clock.settle();
  assert.deepEqual([program.asked[0]?.body, program.connections.size], ['ab', 1]);
});
