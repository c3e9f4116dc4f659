/** A server that never ends its answer costs an error, not the memory of the client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRequester } from '../../../src/client/requester.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { watchEvents } from '../../../src/client/watch-stream.ts';

const chunk = Buffer.alloc(2 ** 20, 0x20);

/** Answers every request with a body that has no end; `ended` is true once the reader has cancelled it. */
function endless(status: number) {
  const state = { sent: 0, ended: false };
  async function* body() {
    try {
      for (;;) {
        state.sent += chunk.length;
        yield chunk;
      }
    } finally {
      state.ended = true;
    }
  }
  const transport: Transport = {
    request: async () => ({ status, header: () => undefined, body: body() }),
    close() {},
  };
  return { state, transport };
}

test('an object without an end is rejected before it fills the memory', async () => {
  const { state, transport } = endless(200);
  const asked = createRequester(transport).json({ method: 'GET', path: '/api/v1/pods' });
  await assert.rejects(asked, /^Error: GET \/api\/v1\/pods answered more than 510 MiB/);
  assert.ok(state.ended && state.sent < 512 * 2 ** 20);
});

test('the error for a rejection without an end contains its beginning', async () => {
  const { state, transport } = endless(502);
  const asked = createRequester(transport).json({ method: 'GET', path: '/api/v1/pods' });
  await assert.rejects(asked, { message: 'GET /api/v1/pods answered 502' });
  assert.ok(state.ended && state.sent <= 2 ** 20);
});

test('a watch whose line does not end is rejected before it fills the memory', async () => {
  const { state, transport } = endless(200);
  const { body } = await createRequester(transport).open({ method: 'GET', path: '/api/v1/pods?watch=1' });
  const events = watchEvents(body, 'GET /api/v1/pods');
  await assert.rejects(async () => {
    for await (const _ of events);
  }, /the watch sent an event of more than 128 MiB/);
  assert.ok(state.ended && state.sent <= 130 * 2 ** 20);
});
