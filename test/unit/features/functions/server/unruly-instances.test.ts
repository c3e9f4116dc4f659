/**
 * Calls of instances that reject, break off, hang and disappear, on a clock of the test: each call is
 * made once, and leaves no place occupied.
 */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { StatusError } from '../../../../../src/apimachinery/status-error.ts';
import { type AskedCall, callFunction } from '../../../../../src/features/functions/server/call.ts';
import { pod } from './function-cache.ts';
import { cut, InstancePrograms, refusing } from './instance-programs.ts';

describe('a call', () => {
  function world() {
    const programs = new InstancePrograms();
    const gone = new AbortController();
    const call = (over: Partial<AskedCall> = {}) => {
      const result: { status?: number; text?: string; code?: number; error?: unknown } = {};
      const asked: AskedCall = {
        ...{ method: 'POST', target: '/x?y=1', path: '/function/f/x', host: 'h', remoteAddress: '192.0.2.1' },
        ...{ headers: new Headers(), body: Buffer.from('in'), isDelivery: false, signal: gone.signal },
        ...over,
      };
      callFunction(programs.server, programs.gateway.callsOf('default', 'f'), asked).then(
        async ({ status, body }) => {
          result.status = status;
          if (!body) return;
          const chunks: Buffer[] = [];
          try {
            for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
            result.text = Buffer.concat(chunks).toString();
          } catch (error) {
            result.error = error;
          }
        },
        (error: unknown) => {
          result.error = error;
          if (error instanceof StatusError) result.code = error.status.code;
        },
      );
      return result;
    };
    return { programs, clock: programs.clock, gone, call };
  }

  it('is answered by the instance, and its place is released then', async () => {
    const { programs, clock, call } = world();
    const program = programs.add('one');
    const headers = new Headers({
      ...{ 'function-name': 'forged', 'x-own': '1', 'function-call-id': 'mine', 'content-length': '99' },
      ...{ 'transfer-encoding': 'chunked', 'function-trigger-depth': '9' },
    });
    const result = call({ headers });
    await clock.settle();
    assert.deepEqual(result, { status: 200, text: 'one' });
    const [asked] = program.asked;
    assert.deepEqual([asked?.method, asked?.path, asked?.body], ['POST', '/x?y=1', 'in']);
    const {
      'function-name': name,
      'function-namespace': namespace,
      'function-call-id': id,
    } = asked?.headers ?? {};
    assert.deepEqual([name, namespace, id, asked?.headers['x-own']], ['f', 'default', 'mine', '1']);
    const { 'content-length': length, 'transfer-encoding': coding } = asked?.headers ?? {};
    assert.deepEqual([length, coding], ['2', undefined]);
    assert.equal(asked?.headers['function-trigger-depth'], undefined, 'only the cluster says it');
    assert.equal(programs.underWay('one'), 0);
    assert.equal(program.connections.size, 1, 'its connection is kept for the next one');
    call({ isDelivery: true, headers: new Headers({ 'function-trigger-depth': '9' }) });
    await clock.settle();
    assert.deepEqual([program.asked.length, program.connections.size], [2, 1]);
    assert.equal(program.asked[1]?.headers['function-trigger-depth'], '9');
  });
  it('leaves no connection to the earlier address of an instance', async () => {
    const { programs, clock, call } = world();
    const program = programs.add('one');
    call();
    await clock.settle();
    const before = [...program.connections];
    programs.cache.put({ ...pod('one'), status: { ...pod('one').status, podIP: '10.0.0.2' } } as never);
    call();
    await clock.settle();
    assert.equal(program.asked.length, 2);
    assert.deepEqual([before.length, program.connections.size, before[0]?.destroyed], [1, 1, true]);
  });
  it('forwards a body in pieces completely, and never twice', async () => {
    for (const isRefused of [false, true]) {
      const { programs, clock, call } = world();
      const program = programs.add('one');
      if (isRefused) program.answer = refusing('busy');
      const result = call({ body: Readable.from([Buffer.from('a'), Buffer.from('b')]) });
      await clock.advance(1000);
      assert.deepEqual([result.status, program.asked.length], [isRefused ? 503 : 200, 1]);
      assert.equal(program.asked[0]?.body, 'ab');
      assert.equal(programs.underWay('one'), 0);
    }
  });
  it('is rejected if its body becomes too large', async () => {
    const { programs, clock, call } = world();
    const program = programs.add('one');
    const parts = [...Array.from({ length: 16 }, () => Buffer.alloc(1024 * 1024)), Buffer.alloc(1)];
    const result = call({ body: Readable.from(parts) });
    await clock.advance(1000);
    assert.match(String(result.error), /the body of a call may not be more than 16777216 bytes/);
    assert.deepEqual([result.code, program.asked.length, programs.underWay('one')], [413, 0, 0]);
  });
  it('without a body has the length 0 if its method may have a body, and a HEAD call occupies no place', async () => {
    const { programs, clock, call } = world();
    const program = programs.add('one');
    for (const method of ['GET', 'POST', 'HEAD'] as const) {
      const result = call({ method, body: undefined });
      await clock.settle();
      assert.deepEqual([result.status, result.text], [200, method === 'HEAD' ? undefined : 'one']);
      assert.equal(programs.underWay('one'), 0);
    }
    assert.deepEqual(
      program.asked.map(({ headers }) => headers['content-length']),
      [undefined, '0', undefined],
    );
  });
  it('by OPTIONS has no length of a body, and a length that the caller sends without a body is not forwarded', async () => {
    const { programs, clock, call } = world();
    const program = programs.add('one');
    const headers = new Headers({ 'content-length': '5', 'transfer-encoding': 'chunked' });
    for (const method of ['OPTIONS', 'DELETE', 'PUT']) {
      call({ method, body: undefined, headers });
      await clock.settle();
    }
    assert.deepEqual(
      program.asked.map((asked) => [asked.headers['content-length'], asked.headers['transfer-encoding']]),
      [
        [undefined, undefined],
        [undefined, undefined],
        ['0', undefined],
      ],
    );
  });
  it("passes on the caller's headers of a streamed body", async () => {
    const { programs, clock, call } = world();
    const program = programs.add('one');
    call({ body: Readable.from([Buffer.from('in')]), headers: new Headers({ 'content-length': '2' }) });
    await clock.settle();
    assert.deepEqual([program.asked[0]?.headers['content-length'], program.asked[0]?.body], ['2', 'in']);
  });
  it('with a body of the maximum size is made', async () => {
    const { programs, clock, call } = world();
    programs.add('one');
    const result = call({ body: Readable.from(Array.from({ length: 16 }, () => Buffer.alloc(1024 * 1024))) });
    await clock.advance(1000);
    assert.equal(result.status, 200);
  });
  it('with a body above the limit leaves no connection, and the rest is not read', async () => {
    const { programs, clock, call } = world();
    const program = programs.add('one');
    let sent = 0;
    const endless = new Readable({
      read() {
        sent++;
        this.push(Buffer.alloc(1024 * 1024));
      },
    });
    const result = call({ body: endless });
    await clock.advance(1000);
    assert.deepEqual([result.code, program.connections.size], [413, 0]);
    const before = sent;
    await clock.advance(1000);
    assert.equal(sent, before);
  });
  it('begins at the instance before its body is complete', async () => {
    const { programs, clock, call } = world();
    const program = programs.add('one');
    program.answersEarly = true;
    const result = call({ body: new Readable({ read: () => undefined }) });
    await clock.settle();
    assert.deepEqual([result.status, result.text], [200, 'one']);
    assert.equal(program.connections.size, 0, 'the body is not read');
    assert.equal(programs.underWay('one'), 0);
  });
  for (const [what, head, words] of [
    [
      'an invalid status',
      'HTTP/1.1 700 Odd\r\ncontent-length: 0\r\n\r\n',
      /the function answered with the status 700/,
    ],
    [
      'leaving HTTP',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      /the instance ended before it had answered the call: the connection was closed/,
    ],
  ] as const)
    it(`that is answered by ${what} is a failure of the function`, async () => {
      const { programs, clock, call } = world();
      const program = programs.add('one');
      program.answer = ({ socket }) => void socket.write(head);
      const result = call();
      await clock.settle();
      assert.equal(result.code, 502);
      assert.match(String(result.error), words);
      assert.deepEqual([programs.underWay('one'), program.connections.size], [0, 0]);
    });
  it('is counted by the status code of its answer or its failure', async () => {
    const { programs, clock, call, gone } = world();
    const program = programs.add('one');
    const counted = () =>
      [...programs.page.pieces()].join('').match(/(?<=minik8s_function_calls_total\{.*code=)"\d+"\} \d+/g);
    call();
    await clock.settle();
    assert.deepEqual(counted(), ['"200"} 1']);
    program.answer = cut;
    call();
    await clock.settle();
    assert.deepEqual(counted(), ['"200"} 1', '"502"} 1']);
    program.answer = () => undefined;
    call();
    await clock.settle();
    gone.abort(new DOMException('left', 'AbortError'));
    await clock.settle();
    assert.deepEqual(counted(), ['"200"} 1', '"502"} 1', '"499"} 1']);
  });
  it('has a new id if its caller sets none, and cannot be upgraded', async () => {
    const { programs, clock, call } = world();
    const program = programs.add('one');
    call({ headers: new Headers({ upgrade: 'websocket', connection: 'upgrade' }) });
    call();
    await clock.settle();
    const [first, second] = program.asked.map(({ headers }) => headers['function-call-id']);
    assert.match(String(first), /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    assert.notEqual(first, second);
    assert.deepEqual(
      [program.asked[0]?.headers.upgrade, program.asked[0]?.headers.connection],
      [undefined, 'keep-alive'],
    );
  });
  it('has one timeout for all instances if the first one rejects it', async () => {
    const { programs, clock, call } = world();
    programs.add('one').answer = refusing('busy');
    const second = programs.add('two');
    second.answer = () => undefined;
    const result = call();
    await clock.advance(29_999);
    assert.deepEqual([result, second.asked.length], [{}, 1]);
    await clock.advance(1);
    assert.equal(result.code, 504);
  });
  it('leaves no timer after a rejection and a success, except that of the gateway', async () => {
    const { programs, clock, call } = world();
    programs.add('one').answer = refusing('busy');
    programs.add('two');
    const result = call();
    await clock.settle();
    assert.deepEqual([result.status, clock.pending], [200, 1]);
  });
  it('leaves no listeners at its caller when it has ended', async () => {
    const { programs, clock, call, gone } = world();
    programs.add('one');
    call();
    await clock.settle();
    assert.deepEqual([getEventListeners(gone.signal, 'abort').length, clock.pending], [0, 1]);
    await clock.advance(61_000);
    assert.equal(clock.pending, 0);
  });
  it('is sent to an instance when the instance listens', async () => {
    const { programs, clock, call } = world();
    const program = programs.add('one');
    program.isDeaf = true;
    const result = call();
    await clock.advance(1000);
    assert.deepEqual([result, programs.underWay('one')], [{}, 0]);
    program.isDeaf = false;
    await clock.advance(1000);
    assert.deepEqual([result.text, program.asked.length], ['one', 1]);
  });
  it('is sent with its body to another instance if the first rejects it before its handler runs', async () => {
    const { programs, clock, call } = world();
    const first = programs.add('one');
    first.answer = refusing('busy');
    const second = programs.add('two');
    const result = call();
    await clock.advance(100);
    assert.deepEqual([result.text, second.asked[0]?.body], ['two', 'in']);
    assert.deepEqual([first.asked.length, programs.underWay('one'), programs.underWay('two')], [1, 0, 0]);
  });
  it('is answered with 503 if its handler answers 503', async () => {
    const { programs, clock, call } = world();
    const program = programs.add('one');
    program.answer = (_, respond) => void respond.writeHead(503).end('own');
    const result = call();
    await clock.advance(1000);
    assert.deepEqual([result.status, result.text, program.asked.length], [503, 'own', 1]);
  });
  it('whose connection breaks after it may have been made is not sent to another instance', async () => {
    const { programs, clock, call } = world();
    const [first, second] = [programs.add('one'), programs.add('two')];
    first.answer = cut;
    const result = call();
    await clock.advance(1000);
    assert.equal(result.code, 502);
    assert.deepEqual([first.asked.length, second.asked.length, programs.underWay('one')], [1, 0, 0]);
  });
  it('ends at the timeout of its function, for the program too', async () => {
    const { programs, clock, call } = world();
    const program = programs.add('one');
    program.answer = () => undefined;
    const result = call();
    await clock.advance(29_000);
    assert.deepEqual([result, programs.underWay('one')], [{}, 1]);
    await clock.advance(1000);
    assert.deepEqual([result.code, programs.underWay('one'), program.connections.size], [504, 0, 0]);
    assert.match(String(result.error), /timeoutSeconds of 30/);
  });
  it('occupies no place and no program after its caller has disconnected, in any phase', async () => {
    for (const state of ['before', 'waiting', 'connecting', 'called', 'answered'] as const) {
      const { programs, clock, call, gone } = world();
      if (state === 'before') gone.abort(new Error('left'));
      if (state !== 'waiting') programs.add('one');
      const program = programs.programs.get('one');
      if (program && state === 'connecting') program.isDeaf = true;
      if (program)
        program.answer = (_, respond) => void (state === 'answered' && respond.writeHead(200).write('begin'));
      const result = call();
      await clock.settle();
      gone.abort(new Error('left'));
      await clock.settle();
      assert.ok(result.error, state);
      assert.deepEqual([programs.underWay('one') ?? 0, program?.connections.size ?? 0], [0, 0], state);
      assert.equal(programs.gateway.callsOf('default', 'f').isIdle, true, state);
    }
  });
});
