import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { maxBodyBytes, readBody } from '../../../../src/apiserver/body/body.ts';
import type { RequestScope } from '../../../../src/apiserver/request/request-scope.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

describe('readBody', () => {
  const clock = new FakeClock();
  const scopeOf = (body: ReadableStream<Uint8Array> | string, headers: Record<string, string> = {}) => {
    const init = { method: 'POST', body, headers, duplex: 'half' };
    const request = new Request('https://apiserver/', init as RequestInit);
    return { request, server: { clock } } as unknown as RequestScope;
  };

  it('reads the whole body, and leaves no timer', async () => {
    assert.equal(String(await readBody(scopeOf('{"a":1}'))), '{"a":1}');
    assert.equal(clock.pending, 0);
  });

  it('rejects a body that does not arrive within 60 s', async () => {
    const reading = readBody(
      scopeOf(new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from('{')) })),
    );
    let settled = false;
    const refused = assert.rejects(reading, /did not arrive within 60 s/).then(() => {
      settled = true;
    });
    await clock.advance(59_999);
    assert.equal(settled, false);
    await clock.advance(1);
    await refused;
    assert.equal(settled, true);
  });

  for (const [what, headers] of [
    ['in parts', {}],
    ['of a length', { 'content-length': '5' }],
  ] as const) {
    it(`reads a body ${what}`, async () => {
      assert.equal(String(await readBody(scopeOf('[1,2]', headers))), '[1,2]');
      assert.equal(clock.pending, 0);
    });

    it(`reports that a body ${what} was cut off`, async () => {
      const body = new ReadableStream({ start: (stream) => stream.error(new Error('the client left')) });
      await assert.rejects(
        readBody(scopeOf(body, headers)),
        (error: StatusError) =>
          error.status.code === 400 &&
          error.message === 'the request body could not be read: the client left',
      );
    });

    it(`refuses a body ${what} that is too large`, async () => {
      const body = 'x'.repeat(maxBodyBytes + 1);
      await assert.rejects(
        readBody(scopeOf(body, headers)),
        (error: StatusError) => error.status.code === 413,
      );
    });
  }

  it('does not read a body whose length is far above the limit', async () => {
    let asked = 0;
    const body = new ReadableStream({ pull: () => void asked++ }, { highWaterMark: 0 });
    const refused = readBody(scopeOf(body, { 'content-length': `${33 * 1024 * 1024}` }));
    await assert.rejects(refused, (error: StatusError) => error.status.code === 413);
    assert.equal(asked, 0);
  });
});
