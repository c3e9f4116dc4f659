import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBody } from '../../../src/apiserver/body.ts';
import type { RequestScope } from '../../../src/apiserver/request-scope.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

describe('readBody', () => {
  const clock = new FakeClock();
  const scopeOf = (body: ReadableStream<Uint8Array> | string) =>
    ({
      request: new Request('https://apiserver/', { method: 'POST', body, duplex: 'half' } as RequestInit),
      server: { clock },
    }) as unknown as RequestScope;

  it('reads all of it, and waits for nothing then', async () => {
    assert.equal(String(await readBody(scopeOf('{"a":1}'))), '{"a":1}');
    assert.equal(clock.pending, 0);
  });

  it('does not wait for ever', async () => {
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
});
