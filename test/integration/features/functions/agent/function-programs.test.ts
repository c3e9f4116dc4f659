/** Calls of the programs that run functions, in both runtimes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type FunctionProgram, startFunction } from '../../../../fixtures/function-program.ts';
import { eventually } from '../../../kubelet/node-harness.ts';
import { env, sources } from './program-sources.ts';

const ofCall = (id: string) => ({ 'Function-Call-Id': id });

/** Returns the resident memory of a process, in bytes. */
async function residentBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]) * 1024;
}

for (const runtime of ['python', 'nodejs'] as const) {
  describe(`calls of ${runtime}`, () => {
    let program: FunctionProgram;
    before(async () => {
      program = await startFunction(runtime, sources[runtime], { ...env, FUNCTION_CONCURRENCY: '2' });
    });
    after(() => program.close());

    const table: [what: string, body: unknown, status: number, answer: unknown][] = [
      ['an object', { do: 'echo', a: [1, null, 'ü'] }, 200, { do: 'echo', a: [1, null, 'ü'] }],
      ['a list', [1, 2], 200, [1, 2]],
      ['no body', undefined, 200, {}],
      ['no result', { do: 'none' }, 200, null],
      ['other scripts', { do: 'text' }, 200, 'héllo 世界 🎉'],
      ['an error', { do: 'throw' }, 500, { error: 'Odd: it went … wrong\r\nHost: x' }],
      ['a large result', { do: 'big', size: 1_000_000 }, 200, 'x'.repeat(1_000_000)],
    ];
    for (const [what, body, status, answer] of table) {
      it(`answers ${what}`, async () => {
        const found = await program.call({ body });
        assert.equal(found.status, status, found.text.slice(0, 500));
        assert.deepEqual(found.json(), answer);
        assert.equal(found.headers['content-type'], 'application/json');
        assert.equal(found.headers['function-error'], status === 500 ? 'Odd' : undefined);
      });
    }

    for (const what of ['no json', 'circle'])
      it(`answers ${what} with a separate error`, async () => {
        const { status, headers, json } = await program.call({ body: { do: what } });
        assert.equal(status, 500);
        assert.equal(headers['function-error'], 'InvalidResult');
        assert.match((json() as { error: string }).error, /^InvalidResult: the result is not JSON/);
      });

    it('shows no trace to callers, and cuts a long message', async () => {
      const { status, text } = await program.call({ body: { do: 'throw much' }, headers: ofCall('long') });
      assert.equal(status, 500);
      assert.ok(text.length < 5000);
      const thrown = await program.call({ body: { do: 'throw' }, headers: ofCall('traced') });
      assert.ok(!/main\.(py|mjs)/.test(thrown.text));
      await eventually(async () => assert.match(program.output.tail, /\[traced\][\s\S]*main\.(py|mjs)/));
    });

    it('have the data of the call', async () => {
      const { json } = await program.call({
        body: { do: 'context' },
        path: '/a/b?x=1&y=%C3%BC&x=2',
        headers: { ...ofCall('c-1'), 'X-Some': 'thing' },
      });
      const { left, ...rest } = json() as { left: number };
      assert.deepEqual(rest, {
        ...{ id: 'c-1', name: 'f', namespace: 'n', version: 'f-1', method: 'POST', path: '/a/b' },
        ...{ query: { x: ['1', '2'], y: 'ü' }, header: 'thing' },
      });
      assert.ok(left > 0 && left <= 30_000);
    });

    it('passes on bodies of other types, and other methods', async () => {
      const get = await program.call({ method: 'GET', path: '/x?q=1' });
      assert.deepEqual(get.json(), {});
      const text = await program.call({
        method: 'PUT',
        path: '/t',
        body: 'täxt',
        headers: { 'Content-Type': 'text/plain' },
      });
      const { headers, ...rest } = text.json() as { headers: Record<string, string> };
      assert.deepEqual(rest, { body: 'täxt', isBase64: false, method: 'PUT', path: '/t', query: {} });
      assert.equal(headers['content-type'], 'text/plain');
      const bytes = Buffer.from([0xff, 0, 0xfe]);
      const binary = await program.call({
        body: bytes,
        headers: { 'Content-Type': 'application/octet-stream' },
      });
      const event = binary.json() as { body: string; isBase64: boolean };
      assert.deepEqual([event.body, event.isBase64], [bytes.toString('base64'), true]);
      const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
      assert.deepEqual((await program.call({ body: '{"a": 1}', headers: form })).json(), { a: 1 });
      assert.equal(
        ((await program.call({ body: 'a=1', headers: form })).json() as { body: string }).body,
        'a=1',
      );
      const head = await program.call({ method: 'HEAD' });
      assert.deepEqual([head.status, head.text], [200, '']);
    });

    it('refuses a body that is not JSON without calling the handler', async () => {
      const number = async () => (await program.call({ body: { do: 'count' } })).json() as number;
      const first = await number();
      const { status, json } = await program.call({
        body: '{"a":',
        headers: { 'Content-Type': 'application/json' },
      });
      assert.equal(status, 400);
      assert.match((json() as { error: string }).error, /^the body is not JSON: /);
      assert.equal(await number(), first + 1);
    });

    it('passes on a status, headers and a body', async () => {
      const told = (result: unknown) => program.call({ body: { do: 'told', result } });
      const made = await told({
        statusCode: 201,
        headers: { 'X-A': 'b', 'Set-Cookie': ['a=1', 'b=2'] },
        body: 'döne',
      });
      assert.deepEqual([made.status, made.headers['x-a'], made.text], [201, 'b', 'döne']);
      assert.deepEqual(made.headers['set-cookie'], ['a=1', 'b=2']);
      assert.equal(made.headers['content-type'], 'text/plain; charset=utf-8');
      const page = await told({ statusCode: 200, headers: { 'content-type': 'text/html' }, body: '<p>' });
      assert.equal(page.headers['content-type'], 'text/html');
      assert.deepEqual((await told({ statusCode: 200, body: { a: 1 } })).json(), { a: 1 });
      assert.deepEqual(
        (await told({ statusCode: 200, body: 'AP8=', isBase64: true })).body,
        Buffer.from([0, 255]),
      );
      const empty = await told({ statusCode: 204 });
      assert.deepEqual([empty.status, empty.text], [204, '']);
      assert.deepEqual((await told({ statusCode: 200, more: 1 })).json(), { statusCode: 200, more: 1 });
      assert.deepEqual((await program.call({ body: { do: 'bytes' } })).body, Buffer.from([0, 255, 10]));
      for (const wrong of [
        { statusCode: 100 },
        { statusCode: '200' },
        { statusCode: 200, headers: { 'X-A': 'b\r\nX-B: c' } },
        { statusCode: 200, headers: { 'X A': 'b' } },
        { statusCode: 200, headers: { 'Transfer-Encoding': 'chunked' } },
        { statusCode: 200, headers: { 'Function-Not-Called': 'busy' } },
        { statusCode: 200, headers: [] },
        { statusCode: 200, body: '%', isBase64: true },
      ].filter(({ headers }) => !Array.isArray(headers) || runtime === 'nodejs')) {
        const { status, headers } = await told(wrong);
        assert.deepEqual([status, headers['function-error']], [500, 'InvalidResult'], JSON.stringify(wrong));
      }
    });

    it('run up to the maximum number at once, and further calls are reported as not made', async () => {
      const holding = [1, 2, 3].map(() => program.call({ body: { do: 'hold' } }));
      const refused = await Promise.race(holding);
      assert.equal(refused.status, 503);
      assert.equal(refused.headers['function-not-called'], 'busy');
      const expecting = await program.raw(
        'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n',
      );
      assert.match(expecting, /^HTTP\/1\.1 503 /);
      // The held calls cannot be released from outside; the next test starts another program.
      program.child.kill('SIGKILL');
      await Promise.allSettled(holding);
      await program.ended;
      program = await startFunction(runtime, sources[runtime], { ...env, FUNCTION_CONCURRENCY: '2' });
    });

    it('makes a call only once, even if it is sent several times', async () => {
      const once = (id: string, seconds = '0') => ({ ...ofCall(id), 'Function-Once': seconds });
      const count = async () => (await program.call({ body: { do: 'count' } })).json() as number;
      const before = await count();
      for (const seconds of ['0', '0', '9999']) {
        const answer = await program.call({ body: { do: 'count' }, headers: once('o-1', seconds) });
        assert.equal(answer.json(), before + 1);
      }
      assert.equal(await count(), before + 2);
      const unsure = await program.call({ body: { do: 'count' }, headers: once('o-2', '9999') });
      assert.deepEqual([unsure.status, unsure.headers['function-not-called']], [404, 'unknown']);
      const broken = await program.call({
        body: Buffer.from('{'),
        headers: { ...once('o-3'), 'Content-Type': 'application/json' },
      });
      assert.equal(broken.status, 400);
      const mended = await program.call({ body: { do: 'count' }, headers: once('o-3') });
      assert.equal(mended.json(), before + 3);
      const wrong = await program.call({ body: { do: 'count' }, headers: once('o-4', 'x') });
      assert.equal(wrong.status, 400);
      const thrown = await program.call({ body: { do: 'throw' }, headers: once('o-6') });
      const repeated = await program.call({ headers: once('o-6', '1') });
      assert.deepEqual([repeated.status, repeated.text], [500, thrown.text]);
      assert.equal(repeated.headers['function-error'], 'Odd');
      // A repeated call waits for the call that is in progress.
      const both = ['1', '2'].map(() => program.call({ body: { do: 'hold' }, headers: once('o-5') }));
      await program.call({ body: { do: 'release' } });
      assert.deepEqual(
        (await Promise.all(both)).map(({ text }) => text),
        ['"held"', '"held"'],
      );
    });

    it('stores nothing of a call that may be repeated', async () => {
      const count = async (id: string, more: object = {}) =>
        (await program.call({ body: { do: 'count' }, headers: { ...ofCall(id), ...more } })).json() as number;
      const first = await count('r-1');
      assert.equal(await count('r-1', { 'Function-Repeat': 'true' }), first + 1);
      assert.equal(await count('r-1', { 'Function-Once': '0' }), first + 2);
      const size = 5_000_000;
      for (const id of ['r-2', 'r-3', 'r-4', 'r-5', 'r-6'])
        assert.equal((await program.call({ body: { do: 'big', size }, headers: ofCall(id) })).status, 200);
      // Repeatable calls therefore do not make the program forget a call that may be made only once.
      assert.equal(await count('r-1', { 'Function-Once': '1' }), first + 2);
    });

    it('does not repeat a call whose answer it may have forgotten', async () => {
      const fresh = await startFunction(runtime, sources[runtime], env);
      const began = performance.now();
      /**
       * Headers of a call that was first made when the program started, with its age minus its time in
       * transit.
       */
      const once = (id: string, transitMs = 0) => ({
        ...ofCall(id),
        'Function-Once': `${Math.max(0, performance.now() - began - transitMs) / 1000}`,
      });
      try {
        const size = 4_000_000;
        for (const id of ['f-1', 'f-2', 'f-3', 'f-4', 'f-5'])
          assert.equal((await fresh.call({ body: { do: 'big', size }, headers: once(id) })).status, 200);
        const untilForgotten = performance.now() - began;
        const before = (await fresh.call({ body: { do: 'count' } })).json() as number;
        // Transit makes a call seem younger than it is, as a call from a busy master may be.
        for (const transitMs of [0, Math.min(1000, untilForgotten / 2)]) {
          const forgotten = await fresh.call({ body: { do: 'count' }, headers: once('f-1', transitMs) });
          assert.deepEqual([forgotten.status, forgotten.headers['function-not-called']], [404, 'unknown']);
        }
        const known = await fresh.call({ body: { do: 'count' }, headers: once('f-5') });
        assert.equal(known.text.length, size + 2);
        assert.equal((await fresh.call({ body: { do: 'count' } })).json(), before + 1);
        // A call that was first made just now was surely not made before.
        const young = { ...ofCall('f-6'), 'Function-Once': '0' };
        assert.equal((await fresh.call({ body: { do: 'count' }, headers: young })).json(), before + 2);
      } finally {
        await fresh.close();
      }
    });

    it('drops the oldest answers when the room is used up', async () => {
      const size = 4_000_000;
      const again = async (id: string, seconds: string, body: object = { do: 'count' }) =>
        (await program.call({ body, headers: { ...ofCall(id), 'Function-Once': seconds } })).status;
      for (const id of ['m-1', 'm-2', 'm-3', 'm-4', 'm-5'])
        assert.equal(await again(id, '0', { do: 'big', size }), 200);
      assert.deepEqual(
        [await again('m-1', '60'), await again('m-4', '60'), await again('m-5', '60')],
        [404, 200, 200],
      );
      // The program can therefore no longer claim that it never received a call.
      assert.equal(await again('m-6', '60'), 404);
    });

    it('refuses a body and a result that are too large', async () => {
      const large = await program.call({ body: Buffer.alloc(6 * 1024 * 1024 + 1) });
      assert.equal(large.status, 413);
      const headers = { 'Transfer-Encoding': 'chunked' };
      const chunked = await program.call({ body: Buffer.alloc(7_000_000), headers });
      assert.equal(chunked.status, 413);
      const result = await program.call({ body: { do: 'big', size: 6 * 1024 * 1024 } });
      assert.deepEqual([result.status, result.headers['function-error']], [500, 'InvalidResult']);
      const fits = await program.call({
        body: Buffer.alloc(5_000_000, 'a'),
        headers: { 'Content-Type': 'text/plain', 'Transfer-Encoding': 'chunked' },
      });
      assert.equal((fits.json() as { body: string }).body.length, 5_000_000);
    });

    it('continues to read after it has rejected a body, so that a client that is still sending can read the answer', async () => {
      const bytes = 7_000_000;
      const socket = connect({ port: program.port, host: '127.0.0.1', allowHalfOpen: true });
      let text = '';
      socket.setEncoding('latin1');
      socket.on('data', (data: string) => {
        if (text === '') socket.end(Buffer.alloc(bytes - 1));
        text += data;
      });
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\nx`);
      // Rejects when the connection is reset.
      await once(socket, 'close');
      assert.match(text, /^HTTP\/1\.1 413 [\s\S]*may have at most 6291456 bytes"\}$/);
    });

    it('prints any amount of output without keeping it in memory', async () => {
      const { pid = 0 } = program.child;
      await program.call({ body: { do: 'print', lines: 1000 } });
      const [memory, printed] = [await residentBytes(pid), program.output.bytes];
      assert.equal((await program.call({ body: { do: 'print', lines: 100_000 } })).json(), 'printed');
      await eventually(async () => assert.ok(program.output.bytes - printed >= 100_000_000));
      const more = (await residentBytes(pid)) - memory;
      assert.ok(more < 60e6, `${more} bytes more are resident, and 100 MB were printed`);
    });

    const post = 'POST / HTTP/1.1\r\nHost: x\r\n';
    const smuggled: [what: string, request: string, status: RegExp][] = [
      [
        'both lengths',
        `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
        /^HTTP\/1\.1 400 /,
      ],
      ['two lengths', `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, /^HTTP\/1\.1 400 /],
      ['a length with a sign', `${post}Content-Length: +2\r\n\r\n{}`, /^HTTP\/1\.1 400 /],
      ['another coding', `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, /^HTTP\/1\.1 400 /],
      [
        'the transfer encoding chunked, given twice',
        `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
        /^HTTP\/1\.1 400 /,
      ],
      ['a space before the colon', `${post}Content-Length : 2\r\n\r\n{}`, /^HTTP\/1\.1 400 /],
      ['a folded header', `${post}X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}`, /^HTTP\/1\.1 400 /],
      ['a bare line feed', `POST / HTTP/1.1\nHost: x\n\n`, /^HTTP\/1\.1 400 /],
      ['no host', 'POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n', /^HTTP\/1\.1 400 /],
      [
        'a chunk without a size',
        `${post}Transfer-Encoding: chunked\r\n\r\nx\r\n{}\r\n0\r\n\r\n`,
        /^HTTP\/1\.1 400 /,
      ],
      [
        'a chunk longer than its stated length',
        `${post}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`,
        /^HTTP\/1\.1 400 /,
      ],
      ['no HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 /],
      ['a huge head', `${post}X: ${'a'.repeat(70_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ];
    for (const [what, request, expected] of smuggled)
      it(`ends a connection with ${what}`, async () => {
        if (what === 'a bare line feed' || what === 'no HTTP') {
          // The server may not see the end of a head in these bytes: then its timeout ends the connection.
          const socket = connect(program.port, '127.0.0.1');
          socket.end(request);
          let text = '';
          for await (const data of socket) text += String(data);
          assert.ok(text === '' || expected.test(text), text);
          return;
        }
        assert.match(await program.raw(request), expected);
      });

    it('answers requests that are pipelined on one connection, and an Expect: 100-continue', async () => {
      const one = `${post}Content-Length: 13\r\n\r\n{"do":"none"}`;
      const last = one.replace('Host: x', 'Host: x\r\nConnection: close');
      const found = await program.raw(one + one + last);
      assert.equal(found.match(/HTTP\/1\.1 200/g)?.length, 3);
      const expecting = await program.raw(
        `${post}Connection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`,
      );
      assert.match(expecting, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
      assert.match(await program.raw('GET / HTTP/1.0\r\n\r\n'), /^HTTP\/1\.[01] 200 /);
    });

    it('ends when a handler ends the process', async () => {
      await assert.rejects(program.call({ body: { do: 'exit' } }));
      assert.equal(await program.ended, 3);
      program = await startFunction(runtime, sources[runtime], { ...env, FUNCTION_CONCURRENCY: '2' });
    });
  });
}

describe('calls of async handlers in python', () => {
  it('are ended by the time limit', async () => {
    const program = await startFunction('python', sources.python, {
      ...env,
      FUNCTION_HANDLER: 'main.later',
      FUNCTION_TIMEOUT_SECONDS: '1',
    });
    const { status, headers } = await program.call({ body: { sleep: 60 } });
    assert.deepEqual([status, headers['function-error']], [500, 'TimeoutError']);
    assert.equal((await program.call({ body: {} })).status, 200);
    await program.close();
  });
});
