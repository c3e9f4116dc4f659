/** The body of a long answer as a web stream: its backlog, and how it ends. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Sink, type Source, streamOf } from '../../../../src/apiserver/transport/pushed-body.ts';

const KiB = 1024;

/** Writer of the body; keeps the sink that it was given, and records that its reader has left. */
class Writer implements Source {
  sink: Sink | undefined;
  cancelled = 0;

  begin(sink: Sink): void {
    this.sink = sink;
  }
  cancel(): void {
    this.cancelled++;
  }
  get to(): Sink {
    return this.sink ?? assert.fail('it has not begun');
  }
}

let writer: Writer;
let client: AbortController;
let hungUp: number;
beforeEach(() => {
  writer = new Writer();
  client = new AbortController();
  hungUp = 0;
});
const body = (connection = false) =>
  streamOf(writer, client.signal, connection ? () => hungUp++ : undefined).getReader();

/** Returns whether a promise is settled once all pending callbacks have run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const done = () => {
    settled = true;
  };
  promise.then(done, done);
  await setImmediate();
  return settled;
}

describe('written data', () => {
  test('is sent in pieces, one at a time', async () => {
    const reader = body();
    for (const [size, pieces] of [
      [1, [1]],
      [16 * KiB, [16 * KiB]],
      [16 * KiB + 1, [16 * KiB, 1]],
      [40 * KiB, [16 * KiB, 16 * KiB, 8 * KiB]],
    ] as const) {
      writer.to.write(Buffer.alloc(size, size % 251));
      for (const piece of pieces) {
        const { value } = await reader.read();
        assert.deepEqual(Buffer.from(value ?? []), Buffer.alloc(piece, size % 251));
      }
    }
    writer.to.write(Buffer.alloc(0));
    writer.to.end();
    assert.equal((await reader.read()).done, true);
  });

  test('is queued for its reader and counted', async () => {
    const reader = body();
    assert.equal(writer.to.backlog, 0);
    writer.to.write(Buffer.alloc(10 * KiB));
    writer.to.write(Buffer.alloc(20 * KiB));
    assert.equal(writer.to.backlog, 30 * KiB);
    await reader.read();
    assert.equal(writer.to.backlog, 20 * KiB);
  });

  test('is accepted until 64 KiB are queued, and again when fewer are queued', async () => {
    const reader = body();
    assert.equal(await isSettled(writer.to.room()), true);
    writer.to.write(Buffer.alloc(64 * KiB - 1));
    assert.equal(await isSettled(writer.to.room()), true);
    writer.to.write(Buffer.alloc(1));
    const room = writer.to.room();
    assert.equal(await isSettled(room), false);
    await reader.read();
    await room;
  });
});

describe('the body ends', () => {
  test('when the source ends it, after the written data', async () => {
    const reader = body(true);
    writer.to.write(Buffer.from('last'));
    writer.to.end();
    assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), 'last');
    assert.equal((await reader.read()).done, true);
    assert.equal(writer.to.backlog, 0);
    // Late writes are dropped, and a later cancel has no effect.
    writer.to.write(Buffer.from('late'));
    writer.to.end();
    client.abort();
    assert.deepEqual([writer.cancelled, hungUp], [0, 0]);
  });

  test('when the source has no data', async () => {
    writer.begin = (sink) => sink.end();
    assert.equal((await body().read()).done, true);
    client.abort();
    assert.equal(writer.cancelled, 0);
  });

  test('when the client disconnects', async () => {
    const reader = body();
    client.abort();
    assert.equal((await reader.read()).done, true);
    assert.equal(writer.cancelled, 1);
  });

  test('before it begins, if the client has disconnected earlier', async () => {
    client.abort();
    assert.equal((await body().read()).done, true);
    assert.equal(writer.sink, undefined);
  });

  test('when its reader disconnects', async () => {
    const reader = body();
    await reader.cancel();
    assert.equal(writer.cancelled, 1);
    writer.to.write(Buffer.from('late'));
    assert.equal(writer.to.backlog, 0);
    client.abort();
    assert.equal(writer.cancelled, 1);
  });

  test('with the connection, if there is one', async () => {
    const reader = body(true);
    writer.to.write(Buffer.alloc(KiB));
    writer.to.cut();
    assert.equal(hungUp, 1);
    writer.to.write(Buffer.alloc(KiB));
    await reader.cancel();
    client.abort();
    assert.equal(writer.cancelled, 1);
  });

  test('with an error of the source, and the waiting data are dropped', async () => {
    const reader = body();
    writer.to.write(Buffer.alloc(KiB));
    writer.to.cut();
    writer.to.write(Buffer.alloc(KiB));
    await assert.rejects(reader.read(), /^Error: the client did not read the response in time$/);
    client.abort();
    assert.equal(writer.cancelled, 0);
  });
});
