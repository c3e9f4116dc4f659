/** One exchange with an instance, which the caller of the function may cancel. */
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

it('an exchange that was aborted before it began sends nothing, and rejects with the reason', async () => {
  const reason = new Error('not wanted');
  const { programs, program, begin } = world(AbortSignal.abort(reason));
  await assert.rejects(begin(), reason);
  await programs.clock.settle();
  assert.equal(program.asked.length, 0);
});

it('an exchange that is aborted while the instance handles it rejects with the reason, and ends its connection', async () => {
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

it('a request without a body can be sent to another instance if the first has not called its handler', async () => {
  const { programs, program, begin } = world(new AbortController().signal);
  program.answer = refusing('busy');
  const outcome = begin();
  await programs.clock.settle();
  assert.deepEqual(await outcome, { notTaken: 'busy' });
});

it('an exchange whose connection breaks rejects with the reason of the connection, and leaves no timers', async () => {
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

it('an exchange that is answered no longer listens for an abort', async () => {
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

it('the connection of an exchange is reused after the body of the request was read to its end', async () => {
  const { programs, program, begin } = world(new AbortController().signal, Readable.from(['a', 'b']));
  const outcome = begin();
  await programs.clock.settle();
  const result = await outcome;
  assert.ok('answer' in result);
  result.answer.resume();
  await programs.clock.settle();
  assert.deepEqual([program.asked[0]?.body, program.connections.size], ['ab', 1]);
});
