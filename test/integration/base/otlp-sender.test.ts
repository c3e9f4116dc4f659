/**
 * Faulty collectors: the answers that are read, the spans that are sent again, and the spans that are
 * dropped.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { otlpSender } from '../../../src/base/tracing/otlp-sender.ts';
import type { FinishedSpan } from '../../../src/base/tracing/span.ts';

const context = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
const span: FinishedSpan = {
  ...{ service: 's', name: 'n', kind: 'internal', context, parent: undefined, link: undefined },
  ...{ from: 1, to: 2, attributes: {}, error: undefined },
};

describe('sending spans to a collector', { timeout: 60_000 }, () => {
  let collector: Server;
  let answer = (_: ServerResponse) => {};
  let asked = 0;
  before(async () => {
    collector = createServer((request, response) => {
      asked++;
      request.resume();
      answer(response);
    });
    await once(collector.listen(0, '127.0.0.1'), 'listening');
  });
  after(() => {
    collector.closeAllConnections();
    collector.close();
  });

  const send = (signal = new AbortController().signal) => {
    const { port } = collector.address() as AddressInfo;
    return otlpSender(new URL(`http://127.0.0.1:${port}/v1/traces`))([span, span], signal);
  };
  const status = (code: number, headers: Readonly<Record<string, string>> = {}) => {
    answer = (response) => response.writeHead(code, headers).end('<html>');
  };

  for (const code of [408, 429, 502, 503, 504])
    it(`fails with ${code}, so that the spans are sent again`, async () => {
      status(code);
      await assert.rejects(send(), { message: new RegExp(`^http://127.0.0.1:\\d+ answered ${code}$`) });
    });

  for (const code of [400, 401, 404, 413, 500])
    it(`drops all spans after ${code}, and returns the reason`, async () => {
      status(code);
      const { count, why } = await send();
      assert.deepEqual([count, why.replace(/:\d+ /, ' ')], [2, `http://127.0.0.1 answered ${code}`]);
    });

  it('follows no redirect', async () => {
    status(307, { location: '/elsewhere' });
    asked = 0;
    await assert.rejects(send(), { message: /^no answer from .*: / });
    assert.equal(asked, 1);
  });

  it('stops reading an answer that is far too long', async () => {
    const chunk = Buffer.alloc(16 * 1024, ' ');
    const most = 256 * 2 ** 20;
    let sent = 0;
    const closed = new Promise<void>((resolve) => {
      answer = (response) => {
        const go = () => {
          for (let hasRoom = true; hasRoom && !response.destroyed && sent < most; sent += chunk.length)
            hasRoom = response.write(chunk);
          if (sent >= most) response.end();
        };
        response.writeHead(200).on('drain', go).on('close', resolve);
        go();
      };
    });
    assert.equal((await send()).count, 0);
    await closed;
    assert.ok(sent < most, `all ${sent} bytes were read`);
  });

  it('ends when its signal aborts during an unfinished response of the collector', async () => {
    const late = new AbortController();
    answer = (response) => {
      response.writeHead(200).write('{');
      late.abort(new Error('late'));
    };
    await assert.rejects(send(late.signal));
  });
});
