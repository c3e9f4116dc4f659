/**
 * Function calls as bytes on a connection. Both implementations, the direct one and the app, must send the
 * same bytes to the program and to the caller.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { systemClock } from '../../../../../src/base/clock.ts';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import { maxKept } from '../../../../../src/features/functions/server/call-body.ts';
import { eventually } from '../../../../fixtures/eventually.ts';
import { echo, program, startWireServer, type WireServer } from './wire-server.ts';

let wire: WireServer;
before(async () => {
  wire = await startWireServer();
});
after(() => wire.stop());

for (const way of ['directly', 'by the app'] as const) {
  describe(`a call that is served ${way}`, () => {
    const dial = async (isKnown = true): Promise<TLSSocket> => {
      const identity = isKnown ? { key: wire.admin.key, cert: wire.admin.certificate } : {};
      const ca = wire.server.authority.certificate;
      const socket = connect({ host: '127.0.0.1', port: wire.ports[way], ca, ...identity });
      socket.on('error', () => undefined);
      await once(socket, 'secureConnect');
      return socket;
    };
    /** Returns everything that is received until the connection is closed, or until `end` is received. */
    const talk = async (text: string, end?: string | RegExp, isKnown = true): Promise<string> => {
      const socket = await dial(isKnown);
      let said = '';
      const over = new Promise<void>((resolve) => {
        socket.on('close', () => resolve());
        socket.on('data', (chunk) => {
          said += chunk.toString('latin1');
          if (end !== undefined && said.match(end)) resolve();
        });
      });
      socket.write(text);
      await over;
      socket.destroy();
      return said;
    };
    const request = (method: string, more = '', body = '') =>
      `${method} /function/wire HTTP/1.1\r\nHost: gateway\r\n${more}\r\n${body}`;
    const close = 'Connection: close\r\n';

    it('with the method HEAD gets the head of the answer and no body, and the connection stays open', async () => {
      program.answer = (_, outgoing) => outgoing.setHeader('content-length', '5').end('hello');
      const said = await talk(request('HEAD') + request('GET', close));
      const [head = '', second = ''] = said.split(/(?=HTTP\/1\.1 )/);
      assert.match(head, /^HTTP\/1\.1 200 OK\r\n[\s\S]*content-length: 5\r\n[\s\S]*\r\n\r\n$/i);
      assert.match(second, /\r\n\r\nhello$/);
    });
    for (const status of [204, 304])
      it(`is answered with ${status} and no more bytes, and the connection stays usable`, async () => {
        program.answer = (_, outgoing) => outgoing.writeHead(status).end();
        const said = await talk(request('GET') + request('GET', close));
        assert.match(said, new RegExp(`^(HTTP/1\\.1 ${status} [\\s\\S]*?\\r\\n\\r\\n){2}$`));
      });
    it("returns no headers of the instance's connection, and the function's own headers unchanged", async () => {
      program.answer = (_, outgoing) => {
        outgoing.setHeader('connection', 'x-secret, keep-alive');
        outgoing.setHeader('x-secret', 'hop');
        outgoing.setHeader('trailer', 'x-late');
        outgoing.setHeader('set-cookie', ['a=1', 'b=2']);
        outgoing.addTrailers({ 'x-late': 'late' });
        outgoing.write('one');
        setImmediate(() => outgoing.end('two'));
      };
      const said = await talk(request('GET', close));
      assert.doesNotMatch(said, /x-secret|x-late/i);
      assert.match(said, /set-cookie: a=1\r\nset-cookie: b=2/i);
      assert.match(said, /transfer-encoding: chunked/i);
      assert.equal(said.slice(said.indexOf('\r\n\r\n')).replaceAll(/\r\n[0-9a-f]*/g, ''), 'onetwo');
    });
    it('passes on neither hop-by-hop headers nor headers that claim an identity', async () => {
      program.answer = echo;
      const more = [
        'Connection: close, x-hop',
        'X-Hop: 1',
        'TE: trailers',
        'Proxy-Authorization: Basic eA==',
        'X-Remote-User: root',
        'X-Forwarded-For: 192.0.2.1',
        'X-Kept: yes',
        'Function-Name: other',
      ].join('\r\n');
      const said = await talk(request('POST', `${more}\r\nContent-Length: 2\r\n`, '{}'));
      const seen = JSON.parse(said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1));
      const fields = new Map<string, string>();
      for (let i = 0; i < seen.rawHeaders.length; i += 2)
        fields.set(seen.rawHeaders[i].toLowerCase(), seen.rawHeaders[i + 1]);
      for (const gone of ['x-hop', 'te', 'proxy-authorization', 'x-remote-user'])
        assert.equal(fields.get(gone), undefined, gone);
      assert.equal(fields.get('x-kept'), 'yes');
      assert.equal(fields.get('host'), 'gateway');
      assert.equal(fields.get('x-forwarded-for'), '192.0.2.1, 127.0.0.1');
      assert.equal(fields.get('x-forwarded-uri'), '/function/wire');
      assert.equal(fields.get('function-name'), 'wire');
      assert.equal(fields.get('content-length'), '2');
      assert.equal(seen.body, '{}');
    });
    it('is rejected if servers could parse it differently', async () => {
      program.answer = echo;
      const before = program.calls;
      for (const [more, body] of [
        ['Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\nGET / HTTP/1.1\r\n\r\n'],
        ['Content-Length: 4\r\nContent-Length: 5\r\n', 'abcde'],
        ['Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'],
        ['Content-Length: +4\r\n', 'abcd'],
        ['X-A: 1\r\n folded: 2\r\n', ''],
        ['Host: other\r\n', ''],
      ] as const)
        assert.match(await talk(request('POST', more, body)), /^(HTTP\/1\.1 400 [\s\S]*)?$/, more);
      assert.equal(program.calls, before);
    });
    it('with two Authorization headers is rejected with 401', async () => {
      program.answer = echo;
      const account = '/api/v1/namespaces/default/serviceaccounts';
      await wire.server.call('POST', account, { metadata: { name: 'default' } });
      const made = await wire.server.call('POST', `${account}/default/token`, { spec: {} });
      const { token } = made.json<{ status: { token: string } }>().status;
      const asked = (...tokens: string[]) =>
        talk(
          request('GET', tokens.map((one) => `Authorization: Bearer ${one}\r\n`).join('') + close),
          undefined,
          false,
        );
      assert.match(await asked(token), /^HTTP\/1\.1 200 /);
      const before = program.calls;
      assert.match(await asked(token, 'b'), /^HTTP\/1\.1 401 /);
      assert.match(await asked('a', token), /^HTTP\/1\.1 401 /);
      assert.equal(program.calls, before);
    });
    it('with Expect: 100-continue gets the interim answer', async () => {
      program.answer = echo;
      const socket = await dial();
      let said = '';
      socket.on('data', (chunk) => {
        said += chunk;
      });
      socket.write(request('POST', 'Expect: 100-continue\r\nContent-Length: 3\r\n'));
      await eventually(systemClock, 'leave to send', () => said.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
      socket.write('abc');
      await eventually(systemClock, 'the answer', () => said.includes('"body":"abc"'));
      assert.doesNotMatch(said, /"expect"/i);
      socket.destroy();
    });
    it('over HTTP/1.0 is answered without chunked encoding, and the connection closes', async () => {
      program.answer = (_, outgoing) => {
        outgoing.write('in ');
        setImmediate(() => outgoing.end('parts'));
      };
      const said = await talk('GET /function/wire HTTP/1.0\r\nHost: gateway\r\n\r\n');
      assert.doesNotMatch(said, /transfer-encoding/i);
      assert.match(said, /\r\n\r\nin parts$/);
    });
    it('has the id that the caller sent, cut at 128 characters, or else a generated UUID', async () => {
      program.answer = echo;
      const idOf = async (more: string) => {
        const said = await talk(request('GET', more + close));
        return /"function-call-id","([^"]*)"/.exec(said)?.[1];
      };
      assert.equal(await idOf('Function-Call-Id: mine\r\n'), 'mine');
      assert.equal(await idOf(`Function-Call-Id: ${'x'.repeat(200)}\r\n`), 'x'.repeat(128));
      assert.match((await idOf('')) ?? '', /^[0-9a-f-]{36}$/);
    });
    it('that an instance refuses is sent again if its body was kept, otherwise it is rejected', async () => {
      program.answer = (incoming, outgoing) => {
        incoming.resume();
        outgoing.writeHead(503, { 'function-not-called': 'busy' }).end('refused');
        program.answer = echo;
      };
      assert.match(await talk(request('POST', `${close}Content-Length: 2\r\n`, '{}')), /"body":"{}"/);
      const size = maxKept + 1;
      program.answer = (incoming, outgoing) => {
        incoming.resume();
        incoming.on('end', () => outgoing.writeHead(503, { 'function-not-called': 'busy' }).end('refused'));
      };
      const before = program.calls;
      const said = await talk(
        request(
          'POST',
          `${close}Transfer-Encoding: chunked\r\n`,
          `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`,
        ),
      );
      assert.match(said, /^HTTP\/1\.1 503 [\s\S]*refused/);
      assert.equal(program.calls, before + 1);
    });
    it('creates a TriggerEvent for a trigger on the results of its function', async () => {
      program.answer = (_, outgoing) => outgoing.end('hello');
      const path = '/apis/minik8s.io/v1/namespaces/default';
      const spec = { target: { name: 'other' }, result: { function: 'wire' } };
      const made = await wire.server.call('POST', `${path}/triggers`, {
        metadata: { name: 'results' },
        spec,
      });
      assert.equal(made.status, 201, made.text);
      assert.match(await talk(request('GET', close)), /hello/);
      // The path is percent-encoded.
      const spelled = `GET /function/d%65fault/w%69re HTTP/1.1\r\nHost: gateway\r\n${close}\r\n`;
      assert.match(await talk(spelled), /hello/);
      const { items } = (await wire.server.call('GET', `${path}/triggerevents`)).json<{ items: Fn[] }>();
      assert.equal(items.length, 2);
      await wire.server.call('DELETE', `${path}/triggers/results`);
      for (const { metadata } of items)
        await wire.server.call('DELETE', `${path}/triggerevents/${metadata.name}`);
    });
    it('that is pipelined is answered after the previous call', async () => {
      program.answer = echo;
      // All three requests are sent before the first one is authenticated.
      const said = await talk(
        [1, 2, 3]
          .map((n) => request('POST', `${n === 3 ? close : ''}Content-Length: 1\r\n`, String(n)))
          .join(''),
      );
      assert.deepEqual(said.match(/"body":"\d"/g), ['"body":"1"', '"body":"2"', '"body":"3"']);
    });
    it('reaches the program with exactly the path that the caller wrote', async () => {
      program.answer = echo;
      const urlOf = async (path: string) =>
        /"url":"([^"]*)"/.exec(await talk(`GET ${path} HTTP/1.1\r\nHost: gateway\r\n${close}\r\n`))?.[1];
      assert.equal(await urlOf('/function/default/wire/a%2Fb//c?x=%20&y=?'), '/a%2Fb//c?x=%20&y=?');
      assert.equal(await urlOf('/function/default/wire'), '/');
      assert.equal(await urlOf('https://gateway/function/wire?z'), '/?z');
      for (const path of [
        '/function/default/wire/../x',
        '/function/default/wire/%2e%2e/x',
        '/function/wire#x',
      ])
        assert.equal(await urlOf(path), undefined, path);
    });
    it('cannot upgrade its connection to another protocol', async () => {
      program.answer = echo;
      const more = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
      const said = await talk(
        request('GET', `${more}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n`),
        /\r\n\r\n/,
      );
      assert.doesNotMatch(said, /^HTTP\/1\.1 101/);
    });
    it('with a body of unknown length above the limit is rejected', async () => {
      program.answer = (incoming, outgoing) => {
        incoming.resume();
        incoming.on('end', () => outgoing.end('all'));
      };
      const socket = await dial();
      let said = '';
      socket.on('data', (chunk) => {
        said += chunk;
      });
      socket.write(request('POST', 'Transfer-Encoding: chunked\r\n'));
      const piece = `100000\r\n${'x'.repeat(1024 * 1024)}\r\n`;
      for (let i = 0; i < 17; i++) socket.write(piece);
      const isOver = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.write('0\r\n\r\n');
      await isOver;
      assert.doesNotMatch(said, /all$/);
      assert.match(said, /^(HTTP\/1\.1 413 [\s\S]*)?$/);
    });
    it('without a complete head ends when its connection is closed after the timeout', async () => {
      const socket = await dial();
      const isOver = once(socket, 'close');
      socket.resume();
      socket.write('POST /function/wire HTTP/1.1\r\nHost: gateway\r\nX-Slow: ');
      await isOver;
    });
    it('does not reach the program if its caller disconnects during the body', async () => {
      program.answer = echo;
      const before = program.calls;
      const socket = await dial();
      socket.write(request('POST', 'Content-Length: 10\r\n', 'abc'));
      socket.destroy();
      program.answer = echo;
      await talk(request('GET', close));
      assert.equal(program.calls, before + 1);
    });
    if (way === 'directly')
      it('with a body that is not complete within a minute is rejected, and does not reach the program', async () => {
        program.answer = echo;
        const before = program.calls;
        const socket = await dial();
        let said = '';
        socket.on('data', (chunk) => {
          said += chunk;
        });
        socket.write(request('POST', 'Content-Length: 10\r\n', 'abc'));
        await eventually(systemClock, 'it is waited for', () => wire.minutes.size === 1);
        for (const isOver of wire.minutes) isOver();
        await eventually(systemClock, 'the refusal', () => said.includes('did not arrive within 60 s'));
        assert.match(said, /^HTTP\/1\.1 504 /);
        // The rest of the body still belongs to the rejected request; the next request follows it.
        socket.write(`defghij${request('POST', 'Content-Length: 1\r\n', 'x')}`);
        await eventually(systemClock, 'the next answer', () => said.includes('"body":"x"'));
        assert.equal(program.calls, before + 1);
        assert.equal(wire.minutes.size, 0, 'nothing is waited for any more');
        socket.destroy();
      });
    it('gets an answer in pieces if the program answers in pieces', async () => {
      let more: (() => void) | undefined;
      program.answer = (_, outgoing) => {
        outgoing.flushHeaders();
        more = () => {
          outgoing.write('first');
          more = () => outgoing.end('last');
        };
      };
      const socket = await dial();
      let said = '';
      socket.on('data', (chunk) => {
        said += chunk;
      });
      socket.write(request('GET'));
      await eventually(systemClock, 'the head', () => said.includes('\r\n\r\n'));
      more?.();
      await eventually(systemClock, 'the first part', () => said.includes('first'));
      assert.doesNotMatch(said, /last/);
      more?.();
      await eventually(systemClock, 'the end', () => said.endsWith('0\r\n\r\n'));
      socket.destroy();
    });
  });
}
