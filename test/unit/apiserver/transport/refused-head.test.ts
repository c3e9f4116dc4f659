import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import {
  isIndirect,
  refusesHead,
  refusesHeadOfUpgrade,
} from '../../../../src/apiserver/transport/refused-head.ts';

const request = (...rawHeaders: string[]) => ({ rawHeaders }) as unknown as IncomingMessage;
const twice = request('Host', 'a', 'HOST', 'b');
const indirect = (url: string) => ({ rawHeaders: [], url }) as unknown as IncomingMessage;
const text = 'the request has more than one Host header\n';

/** Returns a response that records the answer. */
function answer() {
  const said: { status?: number; headers?: object; body?: string } = {};
  const outgoing = {
    writeHead(status: number, headers: object) {
      Object.assign(said, { status, headers });
      return { end: (body: string) => Object.assign(said, { body }) };
    },
  };
  return { said, outgoing: outgoing as unknown as ServerResponse };
}

class OneSocket extends EventEmitter {
  sent = '';
  end(bytes: string) {
    this.sent += bytes;
  }
}

describe('a Transfer-Encoding', () => {
  for (const [value, isRefused] of [
    ['chunked', false],
    ['Chunked', false],
    ['xchunked', true],
    ['gzip, chunked', true],
    ['identity', true],
  ] as const)
    it(`${value} is ${isRefused ? 'refused' : 'read'}`, () => {
      assert.equal(refusesHead(request('Transfer-Encoding', value), answer().outgoing), isRefused);
    });
});

describe('the Host header', () => {
  it('may occur once, and is not confused with values of other headers', () => {
    for (const headers of [[], ['Host', 'a'], ['X', 'host', 'Y', 'host', 'host', 'host']]) {
      const { said, outgoing } = answer();
      assert.equal(refusesHead(request(...headers), outgoing), false);
      assert.deepEqual(said, {});
      const socket = new OneSocket();
      assert.equal(refusesHeadOfUpgrade(request(...headers), socket as unknown as Socket), false);
      assert.equal(socket.sent, '');
    }
  });

  it('is refused when it is repeated, and the connection ends', () => {
    const { said, outgoing } = answer();
    assert.equal(refusesHead(twice, outgoing), true);
    const headers = { 'content-type': 'text/plain', connection: 'close' };
    assert.deepEqual(said, { status: 400, headers, body: text });
  });

  it('is refused in an upgrade request, and a client that has disconnected by then is no failure', () => {
    const socket = new OneSocket();
    assert.equal(refusesHeadOfUpgrade(twice, socket as unknown as Socket), true);
    const [head = '', body] = socket.sent.split('\r\n\r\n');
    const [status, ...headers] = head.split('\r\n');
    assert.equal(status, 'HTTP/1.1 400 Bad Request');
    const lines = [
      'connection: close',
      `content-length: ${Buffer.byteLength(text)}`,
      'content-type: text/plain',
    ];
    assert.deepEqual(headers.sort(), lines);
    assert.equal(body, text);
    socket.emit('error', new Error('ECONNRESET'));
  });
});

describe('a path', () => {
  const maps = '/api/v1/namespaces/n/configmaps';
  for (const url of [
    '',
    '/',
    maps,
    `${maps}/a.b`,
    `${maps}/...`,
    `${maps}/.a`,
    `${maps}/a%2e`,
    `${maps}?a=/../x`,
  ])
    it(`${url} is accepted`, () => assert.equal(isIndirect(url), false));

  for (const end of ['.', '..', './', '../../n', '%2e', '%2E%2e', '.%2E/x', '#', '#x', '..?a', 'a\\..\\b'])
    it(`that ends with ${end} is rejected, because it means another path`, () => {
      const url = `${maps}/${end}`;
      assert.equal(isIndirect(url), true);
      const { said, outgoing } = answer();
      assert.equal(refusesHead(indirect(url), outgoing), true);
      assert.equal(said.status, 400);
      const socket = new OneSocket();
      assert.equal(refusesHeadOfUpgrade(indirect(url), socket as unknown as Socket), true);
      assert.match(socket.sent, /^HTTP\/1\.1 400 .*name what is meant\n$/s);
    });
});
