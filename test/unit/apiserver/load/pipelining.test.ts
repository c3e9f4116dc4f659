import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { Pipelining } from '../../../../src/apiserver/load/pipelining.ts';

class Answer extends EventEmitter {
  closed = false;
  writableEnded = false;
  shouldKeepAlive = true;

  leave() {
    this.writableEnded = true;
    this.closed = true;
    this.emit('close');
  }
}

describe('the line of a connection', () => {
  it('has room for one request of an anonymous client and eight of an authenticated one', () => {
    for (const [isStranger, room] of [
      [true, 1],
      [false, 8],
    ] as const) {
      const pipelining = new Pipelining<object>();
      const [one, other] = [{}, {}];
      const line = Array.from({ length: room }, () => new Answer());
      for (const answer of line) assert.equal(pipelining.join(one, answer, isStranger), 'answered');
      assert.equal(pipelining.join(one, new Answer(), isStranger), 'ended');
      assert.equal(pipelining.join(other, new Answer(), isStranger), 'answered');
      line[0]?.leave();
      assert.equal(pipelining.join(one, new Answer(), isStranger), 'answered');
    }
  });

  it('does not answer requests after an answer that closes the connection, but counts them', () => {
    const pipelining = new Pipelining<object>();
    const connection = {};
    const last = new Answer();
    assert.equal(pipelining.join(connection, last, false), 'answered');
    last.shouldKeepAlive = false;
    for (let i = 0; i < 7; i++) assert.equal(pipelining.join(connection, new Answer(), false), 'unanswered');
    assert.equal(pipelining.join(connection, new Answer(), false), 'ended');
  });

  it('is limited while another request waits, and does not count closed requests', () => {
    const pipelining = new Pipelining<object>();
    const connection = {};
    const closed = new Answer();
    closed.closed = true;
    assert.equal(pipelining.join(connection, closed, false), 'unanswered');
    assert.equal(pipelining.isAnswering(connection), false);
    const [first, second] = [new Answer(), new Answer()];
    for (const answer of [first, second]) {
      pipelining.join(connection, answer, false);
      answer.writableEnded = true;
    }
    assert.equal(pipelining.isOwing(connection), true);
    first.leave();
    assert.deepEqual([pipelining.isAnswering(connection), pipelining.isOwing(connection)], [true, false]);
  });

  it('reports whether an answer must still be written and whether one must still be sent', () => {
    const pipelining = new Pipelining<object>();
    const connection = {};
    const answer = new Answer();
    pipelining.join(connection, answer, false);
    assert.deepEqual([pipelining.isAnswering(connection), pipelining.isOwing(connection)], [true, true]);
    answer.writableEnded = true;
    assert.deepEqual([pipelining.isAnswering(connection), pipelining.isOwing(connection)], [true, false]);
    answer.leave();
    assert.deepEqual([pipelining.isAnswering(connection), pipelining.isOwing(connection)], [false, false]);
  });
});
