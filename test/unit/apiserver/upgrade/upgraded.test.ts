import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { upgradedOf } from '../../../../src/apiserver/upgrade/upgraded.ts';

class OneSocket extends EventEmitter {
  readonly kept: unknown[] = [];
  readonly first: Buffer[] = [];
  setKeepAlive(...args: unknown[]) {
    this.kept.push(args);
  }
  unshift(bytes: Buffer) {
    this.first.push(bytes);
  }
}

const upgrade = (headers: object, head = '') => {
  const socket = new OneSocket();
  const made = upgradedOf({ headers } as IncomingMessage, socket as unknown as Socket, Buffer.from(head));
  return { socket, made };
};

describe('a connection that has left HTTP', () => {
  it('is probed by keep-alive after fifteen seconds of silence, and can be closed', () => {
    const { socket } = upgrade({});
    assert.deepEqual(socket.kept, [[true, 15_000]]);
    socket.emit('error', new Error('ECONNRESET'));
  });

  it('begins with the bytes that arrived after the answer', () => {
    assert.deepEqual(upgrade({}, 'early').socket.first.map(String), ['early']);
    assert.deepEqual(upgrade({}).socket.first, []);
  });

  it('has its headers as strings', () => {
    const headers = { upgrade: 'SPDY/3.1', 'set-cookie': ['a', 'b'], 'x-none': undefined };
    assert.deepEqual(upgrade(headers).made.headers, { upgrade: 'SPDY/3.1', 'set-cookie': 'a, b' });
  });
});
