/** Requests at the gateway's port that are served directly, and their answers. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { duplexPair } from 'node:stream';
import { describe, it } from 'node:test';
import { newStatusError, StatusError } from '../../../../../src/apimachinery/status-error.ts';
import { respondStatus } from '../../../../../src/apiserver/respond.ts';
import type { DirectRequest } from '../../../../../src/apiserver/transport/asked-request.ts';
import type { DirectWay } from '../../../../../src/apiserver/transport/listen-options.ts';
import { maxKept } from '../../../../../src/features/functions/server/call-body.ts';
import { directCalls } from '../../../../../src/features/functions/server/direct-calls.ts';
import { maxBodyBytes } from '../../../../../src/features/functions/server/exchange.ts';
import { InstancePrograms } from './instance-programs.ts';

function world() {
  const programs = new InstancePrograms();
  const program = programs.add('one');
  const { clock } = programs;
  const state = {
    refusal: undefined as Error | undefined,
    refused: (error: unknown): Response =>
      respondStatus(
        error instanceof StatusError ? error.status : newStatusError('InternalError', String(error)).status,
      ),
    told: [] as string[],
  };
  const admitted: { request: DirectRequest; env: Record<string, unknown> }[] = [];
  const settled: number[] = [];
  const serve = directCalls({
    ...programs.server,
    results: { listens: (namespace, name) => state.told.includes(`${namespace}/${name}`) },
    server: {
      admit: (request, env, work) => {
        admitted.push({ request, env: { ...env } });
        if (state.refusal) return Promise.reject(state.refusal);
        const [, , , , , namespace = '', , name = '', , ...rest] = request.address.split('/');
        const info = { namespace, name, rest: rest.map((part) => `/${part}`).join('') };
        return work(info as never, { name: 'alice', groups: [] } as never);
      },
      refuse: (_, error) => state.refused(error),
    },
  });
  const server = createServer((incoming, outgoing) => {
    const env = { remoteAddress: '192.0.2.1', impersonation: false };
    const way = { env, settle: (status: number) => void settled.push(status) } as unknown as DirectWay;
    if (!serve(incoming, outgoing, way)) outgoing.end('the app');
  });
  /** Sends a request; returns the answer and whether the connection is still open. */
  const send = async (head: string, body = '') => {
    const [near, far] = duplexPair();
    const result = { text: '', isOpen: true };
    near.setEncoding('latin1');
    near.on('data', (text: string) => {
      result.text += text;
    });
    near.on('error', () => undefined);
    far.on('error', () => undefined);
    const close = () => {
      result.isOpen = false;
    };
    far.once('close', close);
    near.once('close', close).once('end', close);
    server.emit('connection', far);
    near.write(`${head.replaceAll('\n', '\r\n')}\r\n\r\n${body}`);
    await clock.settle();
    return Object.assign(result, { leave: () => far.destroy() });
  };
  return { programs, program, clock, state, admitted, settled, send };
}

const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4);
const statusOf = (text: string) => Number(text.slice(9, 12));

describe('a call at the port of the gateway', () => {
  it('is admitted as the equivalent request, and answered by its function', async () => {
    const { program, admitted, settled, send } = world();
    program.answer = (_, respond) =>
      void respond.writeHead(201, { 'X-Own': 'yes', 'content-length': 3 }).end('out');
    const { text, isOpen } = await send(
      'PUT /function/default/f/a/b?c=1&d=%20 HTTP/1.1\nHost: gateway.test:8080\nX-Own: 1\nContent-Length: 2',
      'in',
    );
    assert.deepEqual([statusOf(text), bodyOf(text), isOpen, settled], [201, 'out', true, [201]]);
    assert.match(text, /^X-Own: yes\r$/m);
    const { request, env } = admitted[0] ?? assert.fail();
    assert.deepEqual([request.method, request.url], ['PUT', '/function/default/f/a/b?c=1&d=%20']);
    assert.equal(request.address, '/apis/minik8s.io/v1/namespaces/default/functions/f/invoke/a/b');
    assert.deepEqual(
      [...request.query],
      [
        ['c', '1'],
        ['d', ' '],
      ],
    );
    assert.deepEqual(env, { remoteAddress: '192.0.2.1', impersonation: false, mayBeAnonymous: true });
    const [asked] = program.asked;
    assert.deepEqual([asked?.method, asked?.path, asked?.body], ['PUT', '/a/b?c=1&d=%20', 'in']);
    const { host, 'x-own': own, 'x-forwarded-for': from, 'x-forwarded-uri': uri } = asked?.headers ?? {};
    assert.deepEqual(
      [host, own, from, uri],
      ['gateway.test:8080', '1', '192.0.2.1', '/function/default/f/a/b'],
    );
  });
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
    it(`with the method ${method} is served`, async () => {
      const { program, send } = world();
      const { text } = await send(`${method} /function/f HTTP/1.1\nHost: h`);
      assert.deepEqual(
        [statusOf(text), program.asked[0]?.method, program.asked[0]?.path],
        [200, method, '/'],
      );
      assert.equal(bodyOf(text).includes('one'), method !== 'HEAD');
    });
  it('has repeated headers joined, and no headers of triggers', async () => {
    const { program, send } = world();
    await send(
      'GET /function/f HTTP/1.1\nHost: h\nX-A: 1\nX-A: 2\nSet-Cookie: a\nSet-Cookie: b\nFunction-Trigger-Depth: 3',
    );
    const { headers } = program.asked[0] ?? assert.fail();
    assert.deepEqual([headers['x-a'], headers['function-trigger-depth']], ['1, 2', undefined]);
    assert.deepEqual(headers['set-cookie'], ['a, b']);
  });
  it('keeps the id of its caller', async () => {
    const { program, send, admitted } = world();
    await send('GET /function/f HTTP/1.1\nHost: h\nFunction-Call-Id: mine\nAuthorization: Bearer x');
    assert.equal(program.asked[0]?.headers['function-call-id'], 'mine');
    const { headers } = admitted[0]?.request ?? assert.fail();
    assert.deepEqual([headers.get('Authorization'), headers.get('x-none')], ['Bearer x', null]);
  });
  it('releases its place when the caller disconnects, also while the call waits', async () => {
    for (const isPlaced of [true, false]) {
      const { programs, program, clock, send } = world();
      program.answer = () => undefined;
      if (!isPlaced) program.isDeaf = true;
      const { leave } = await send('GET /function/f HTTP/1.1\nHost: h');
      assert.equal(programs.gateway.callsOf('default', 'f').isIdle, false);
      leave();
      await clock.settle();
      assert.equal(programs.gateway.callsOf('default', 'f').isIdle, true);
      assert.equal(program.connections.size, 0);
    }
  });
  it('is cut off for its caller if the instance cuts the answer off', async () => {
    const { program, send } = world();
    program.answer = ({ socket }, respond) => {
      respond.writeHead(200, { 'content-length': 10 });
      respond.write('begin');
      setImmediate(() => socket.destroy());
    };
    const { text, isOpen } = await send('GET /function/f HTTP/1.1\nHost: h');
    assert.equal(isOpen, false);
    assert.ok(!bodyOf(text).includes('0\r\n\r\n'));
  });
});

describe('the body of a call at the port of the gateway', () => {
  const post = 'POST /function/f HTTP/1.1\nHost: h';
  it('has its length in the request, also if it arrives in chunks', async () => {
    for (const [head, body, length, whole] of [
      ['', '', '0', ''],
      ['\nContent-Length: 0', '', '0', ''],
      ['\nContent-Length: 2', 'in', '2', 'in'],
      ['\nTransfer-Encoding: chunked', '2\r\nin\r\n1\r\n!\r\n0\r\n\r\n', '3', 'in!'],
    ] as const) {
      const { program, send } = world();
      await send(`${post}${head}`, body);
      const [asked] = program.asked;
      assert.deepEqual([asked?.headers['content-length'], asked?.body], [length, whole]);
      assert.equal(asked?.headers['transfer-encoding'], undefined);
    }
  });
  it('is rejected if its length is above the limit, and its connection ends', async () => {
    const { program, send, settled } = world();
    const { text, isOpen } = await send(`${post}\nContent-Length: ${maxBodyBytes + 1}`, 'x');
    assert.deepEqual([statusOf(text), program.asked.length, settled, isOpen], [413, 0, [413], false]);
    const { text: none } = await world().send(`${post}\nContent-Length: ${maxBodyBytes}`, 'x');
    assert.equal(none, '', 'it is waited for');
  });
  it('is rejected if it does not arrive in time', async () => {
    const { send, clock, settled } = world();
    const result = await send(`${post}\nContent-Length: 5`, 'x');
    await clock.advance(60_000);
    assert.deepEqual([statusOf(result.text), settled], [504, [504]]);
  });
});

describe('a rejected call', () => {
  it('is answered with the Status, and keeps its connection', async () => {
    const { state, program, send, settled } = world();
    state.refusal = newStatusError('Forbidden', 'not yours');
    const { text, isOpen } = await send('GET /function/f HTTP/1.1\nHost: h');
    assert.deepEqual([statusOf(text), JSON.parse(bodyOf(text)).message], [403, 'not yours']);
    assert.deepEqual([isOpen, settled, program.asked.length], [true, [403], 0]);
  });
  it('keeps its connection if the rest of its body is small, and ends it otherwise', async () => {
    for (const [length, isKept] of [
      [maxKept, true],
      [maxKept + 1, false],
    ] as const) {
      const { state, send } = world();
      state.refusal = newStatusError('Forbidden', 'not yours');
      const { text } = await send(`POST /function/f HTTP/1.1\nHost: h\nContent-Length: ${length}`, 'x');
      assert.equal(/^connection: close\r$/im.test(text), !isKept, `${length}`);
    }
    const { state, send } = world();
    state.refusal = newStatusError('Forbidden', 'not yours');
    const chunked = await send(
      'POST /function/f HTTP/1.1\nHost: h\nTransfer-Encoding: chunked',
      '1\r\nx\r\n',
    );
    assert.match(chunked.text, /^connection: close\r$/im);
  });
  it('is answered by its status alone if that has no body', async () => {
    const { state, send, settled } = world();
    state.refusal = new Error('odd');
    state.refused = () => new Response(null, { status: 418 });
    const { text } = await send('GET /function/f HTTP/1.1\nHost: h');
    assert.deepEqual([statusOf(text), settled], [418, [418]]);
  });
  it('gets no answer after its caller has disconnected', async () => {
    const { programs, program, send, settled, clock } = world();
    program.answer = () => undefined;
    const { leave } = await send('GET /function/f HTTP/1.1\nHost: h');
    leave();
    await clock.advance(60_000);
    assert.deepEqual([settled, programs.underWay('one')], [[], 0]);
  });
});

describe('a request that is left to the app', () => {
  for (const [why, head] of [
    ['is by an unusual method', 'OPTIONS /function/f HTTP/1.1\nHost: h'],
    ['has an unusual URL', 'GET /function/f/"x" HTTP/1.1\nHost: h'],
    ['has an unusual query', 'GET /function/f?"x" HTTP/1.1\nHost: h'],
    ['has no name', 'GET /function/ HTTP/1.1\nHost: h'],
    ['has an empty name', 'GET /function//f HTTP/1.1\nHost: h'],
    ['is no call of a function', 'GET /workflow/w HTTP/1.1\nHost: h'],
    ['is of another root', 'GET /x/function/f HTTP/1.1\nHost: h'],
    ['has an unusual host', 'GET /function/f HTTP/1.1\nHost: [::1]'],
    ['has no host', 'GET /function/f HTTP/1.0'],
    ['has two credentials', 'GET /function/f HTTP/1.1\nHost: h\nAuthorization: a\nAUTHORIZATION: b'],
    ['writes its name in another way', 'GET /function/%66 HTTP/1.1\nHost: h'],
    ['writes its namespace in another way', 'GET /function/def%61ult/f HTTP/1.1\nHost: h'],
  ] as const)
    it(why, async () => {
      const { program, admitted, send } = world();
      const { text } = await send(head);
      assert.equal(bodyOf(text).includes('the app'), true);
      assert.deepEqual([program.asked.length, admitted.length], [0, 0]);
    });
  it('has a result that triggers wait for', async () => {
    const { state, program, send } = world();
    state.told.push('default/f');
    assert.equal(bodyOf((await send('GET /function/f HTTP/1.1\nHost: h')).text).includes('the app'), true);
    assert.equal(program.asked.length, 0);
    state.told = ['other/f'];
    assert.equal(bodyOf((await send('GET /function/f HTTP/1.1\nHost: h')).text).includes('one'), true);
  });
  it('may have any spelling of the path after the name', async () => {
    const { program, send } = world();
    await send("GET /function/default/f/%61!$&'()*+,;=:@~._-?a=/?%20 HTTP/1.1\nHost: h");
    assert.equal(program.asked[0]?.path, "/%61!$&'()*+,;=:@~._-?a=/?%20");
  });
});
