import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import {
  aborted,
  isAbort,
  onAbort,
  stopSignal,
  surviveHangup,
  unlessAborted,
} from '../../../src/base/abort.ts';

test('the first signal stops the process, and the second ends it with its number', () => {
  const exits: number[] = [];
  const source = Object.assign(new EventEmitter(), { exit: (code: number) => exits.push(code) });
  const signal = stopSignal(source);
  assert.equal(signal.aborted, false);
  source.emit('SIGTERM', 'SIGTERM');
  assert.ok(signal.aborted && isAbort(signal.reason));
  assert.deepEqual(exits, []);
  source.emit('SIGINT', 'SIGINT');
  assert.deepEqual(exits, [130]);
});

test('a closed terminal is reported, and ends nothing', () => {
  let notified = 0;
  const source = new EventEmitter();
  surviveHangup(() => notified++, source);
  assert.ok(source.emit('SIGHUP', 'SIGHUP'));
  assert.equal(notified, 1);
});

test('onAbort runs its function once, at once if the signal has already aborted, and never after it was undone', async () => {
  const controller = new AbortController();
  const calls: string[] = [];
  onAbort(controller.signal, () => calls.push('early'));
  const undo = onAbort(controller.signal, () => calls.push('undone'));
  undo();
  controller.abort();
  onAbort(controller.signal, () => calls.push('late'));
  await aborted(controller.signal);
  assert.deepEqual(calls, ['early', 'late']);
});

test('unlessAborted settles like its promise, or rejects with the signal’s reason if that aborts first', async () => {
  const stop = new AbortController();
  assert.equal(await unlessAborted(stop.signal, Promise.resolve(1)), 1);
  await assert.rejects(unlessAborted(stop.signal, Promise.reject(new Error('no'))), /^Error: no$/);
  const waiting = unlessAborted(stop.signal, new Promise(() => undefined));
  const reason = new Error('stopped');
  stop.abort(reason);
  await assert.rejects(waiting, reason);
  await assert.rejects(unlessAborted(stop.signal, new Promise(() => undefined)), reason);
});
