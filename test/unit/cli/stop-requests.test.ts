import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { stoppedStatus, stopRequests } from '../../../src/cli/stop-requests.ts';

const started = () => {
  const exits: number[] = [];
  const source = Object.assign(new EventEmitter(), { exit: (code: number) => exits.push(code) });
  const send = (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => source.emit(name, name);
  return { requests: stopRequests(source), send, exits };
};

test('the first signal stops the command with its status, and a second Ctrl-C or SIGTERM ends the process', () => {
  for (const [first, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    const { requests, send, exits } = started();
    assert.equal(requests.signal.aborted, false);
    send(first);
    assert.equal(requests.signal.aborted, true);
    assert.equal(stoppedStatus(requests.signal), status);
    send('SIGHUP');
    assert.deepEqual(exits, [], 'a closed terminal sends SIGHUP twice');
    send('SIGINT');
    send('SIGTERM');
    assert.deepEqual(exits, [130, 143]);
    assert.equal(stoppedStatus(requests.signal), status, 'the first request counts');
  }
});

test('a disconnected reader of the output stops the command without a status', () => {
  const { requests } = started();
  requests.readerGone();
  assert.equal(requests.signal.aborted, true);
  assert.equal(stoppedStatus(requests.signal), undefined);
});

test('while another program has the terminal, Ctrl-C is left to it, and other signals are not', async () => {
  const { requests, send, exits } = started();
  const other = Promise.withResolvers<string>();
  const lent = requests.lendTerminal(() => other.promise);
  send('SIGINT');
  send('SIGINT');
  assert.deepEqual([requests.signal.aborted, exits], [false, []]);
  send('SIGTERM');
  assert.equal(stoppedStatus(requests.signal), 143);
  send('SIGINT');
  assert.deepEqual(exits, []);
  other.resolve('done');
  assert.equal(await lent, 'done');
  send('SIGINT');
  assert.deepEqual(exits, [130]);
});

test('Ctrl-C is for the command again after the other program has failed', async () => {
  const { requests, send } = started();
  await assert.rejects(
    requests.lendTerminal(() => Promise.reject(new Error('no editor'))),
    /no editor/,
  );
  send('SIGINT');
  assert.equal(stoppedStatus(requests.signal), 130);
});
