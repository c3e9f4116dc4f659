import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  spdyCommandProtocol,
  spdyPortForwardProtocol,
  webSocketCommandProtocol,
  webSocketPortForwardProtocol,
} from '../../../../../src/kubelet/server/streaming/negotiate.ts';
import { outcomeStatus, outcomeText } from '../../../../../src/kubelet/server/streaming/outcome.ts';
import { parseStreamRequest } from '../../../../../src/kubelet/server/streaming/stream-request.ts';
import { TerminalSizes } from '../../../../../src/kubelet/server/streaming/terminal-sizes.ts';

test('the first known protocol of the client is used', () => {
  const name = (offered?: string) => webSocketCommandProtocol(offered)?.protocol;
  assert.equal(name('v5.channel.k8s.io, v4.channel.k8s.io'), 'v5.channel.k8s.io');
  assert.equal(name('base64.binary.k8s.io, v4.channel.k8s.io'), 'v4.channel.k8s.io');
  assert.equal(name('base64.channel.k8s.io,channel.k8s.io'), 'base64.channel.k8s.io');
  assert.equal(name(undefined), '');
  assert.equal(name('v9.channel.k8s.io'), undefined);
  assert.equal(spdyCommandProtocol('v5.channel.k8s.io,v4.channel.k8s.io'), 'v4.channel.k8s.io');
  assert.equal(spdyCommandProtocol(undefined), undefined);
  assert.equal(spdyPortForwardProtocol('portforward.k8s.io'), 'portforward.k8s.io');
  // client-node offers v5 but uses v4.
  assert.deepEqual(webSocketPortForwardProtocol('v5.channel.k8s.io,v4.channel.k8s.io'), {
    protocol: 'v4.channel.k8s.io',
    carries: 'channels',
    base64: false,
  });
  for (const nothing of [undefined, '', ' ']) {
    assert.deepEqual(webSocketPortForwardProtocol(nothing), {
      protocol: '',
      carries: 'channels',
      base64: false,
    });
  }
  assert.equal(webSocketPortForwardProtocol('SPDY/3.1+portforward.k8s.io')?.carries, 'spdy');
});

test('a list of protocols that is too long is refused', () => {
  const most = 'v5.channel.k8s.io,'.padEnd(16_384, ',');
  for (const choose of [webSocketCommandProtocol, webSocketPortForwardProtocol, spdyCommandProtocol]) {
    choose(most);
    assert.throws(() => choose(`${most},`), { code: 400, message: /longer than 16384 bytes/ });
  }
});

test('an exit status is sent in the form that kubectl reads', () => {
  assert.deepEqual(JSON.parse(outcomeStatus({ exitCode: 0 })), { metadata: {}, status: 'Success' });
  assert.deepEqual(JSON.parse(outcomeStatus({ exitCode: 3 })), {
    metadata: {},
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: 'command terminated with non-zero exit code: exit status 3',
    details: { causes: [{ reason: 'ExitCode', message: '3' }] },
  });
  assert.equal(JSON.parse(outcomeStatus({ failure: 'no such thing' })).reason, 'InternalError');
  assert.equal(outcomeText({ exitCode: 0 }), '');
  assert.match(outcomeText({ exitCode: 3 }), /exit status 3$/);
});

test('a terminal gets its newest size', async () => {
  const sizes = new TerminalSizes();
  sizes.push('{"Width":80,"Hei');
  sizes.push('ght":24}\n{"Width":81,"Height":25}\n{"Width":-1,"Height":2}\nnonsense\n');
  const reading = sizes[Symbol.asyncIterator]();
  assert.deepEqual((await reading.next()).value, { width: 81, height: 25 });
  const next = reading.next();
  sizes.push('{"Width":100,"Height":50}');
  sizes.flush();
  assert.deepEqual((await next).value, { width: 100, height: 50 });
  for (const size of ['{"height":51,"width":101}', 'null', '{"Width":102}', '{"width":102,"height":70000}']) {
    sizes.push(size);
    sizes.flush();
  }
  assert.deepEqual((await reading.next()).value, { width: 101, height: 51 });
  sizes.end();
  assert.equal((await reading.next()).done, true);
});

const parse = (path: string) => parseStreamRequest(new URL(path, 'https://kubelet'));

test('requests for streams are read', () => {
  assert.deepEqual(parse('/exec/shop/web/main?command=ls&command=a%20b&input=1&output=1&error=1'), {
    kind: 'exec',
    namespace: 'shop',
    pod: 'web',
    container: 'main',
    command: ['ls', 'a b'],
    wanted: { stdin: true, stdout: true, stderr: true, tty: false },
  });
  const attach = parse('/attach/shop/web/main?output=1&error=1&tty=1');
  assert.deepEqual(attach?.kind === 'attach' && attach.wanted, {
    stdin: false,
    stdout: true,
    stderr: false,
    tty: true,
  });
  const forward = parse('/portForward/shop/web?port=80,81&port=82');
  assert.deepEqual(forward?.kind === 'portForward' && forward.ports, [80, 81, 82]);
  for (const path of ['/exec/shop/web', '/exec/shop/web/main/more', '/portForward/shop', '/other/a/b/c']) {
    assert.equal(parse(path), undefined);
  }
});

for (const [path, message] of [
  ['/exec/shop/web/main?output=1', /command/],
  ['/exec/shop/web/main?command=ls', /at least 1 of stdin, stdout, stderr/],
  ['/attach/shop/web/main?error=1&tty=1', /at least 1 of/],
  ['/portForward/shop/web?port=70000', /"70000" is not a port/],
] as const) {
  test(`${path} is refused`, () => assert.throws(() => parse(path), { code: 400, message }));
}
