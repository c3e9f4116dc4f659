/** One exchange with an instance that its caller cancels. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { it } from 'node:test';
import { exchange } from '../../../../../src/features/functions/server/exchange.ts';
import { InstancePrograms } from './instance-programs.ts';

function world(signal: AbortSignal) {
  const programs = new InstancePrograms();
  const program = programs.add('one');
  const instance = programs.gateway.callsOf('default', 'f').instances.known('uid-one') ?? assert.fail();
  const agent = programs.connections.agentOf(instance);
  const begin = () =>
    exchange({ agent, method: 'POST', path: '/', headers: ['host', 'f'], body: undefined, signal });
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
