/** One event for very many watches yields to other requests. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Sink, Source } from '../../../src/apiserver/transport/pushed-body.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const MB = 1024 * 1024;
const watchers = 200;
/** A ConfigMap of 100 kB for all watches amounts to 20 MB. */
const text = 'x'.repeat(100_000);

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

/** Counts the bytes written to it, and the bytes written to all readers since the event loop turned. */
class Reader implements Sink {
  static thisTurn = 0;
  static most = 0;
  readonly pieces: Uint8Array[] = [];
  readonly backlog = 0;

  write(piece: Uint8Array): void {
    this.pieces.push(piece);
    Reader.thisTurn += piece.length;
    Reader.most = Math.max(Reader.most, Reader.thisTurn);
  }
  end(): void {}
  cut(): void {}
  room = () => Promise.resolve();

  has(text: string): boolean {
    return Buffer.from(this.pieces.at(-1) ?? []).includes(text);
  }

  names(): string[] {
    const lines = Buffer.concat(this.pieces).toString().trim().split('\n');
    return lines.map((line) => {
      const { type, object } = JSON.parse(line);
      return `${type} ${object.metadata.name} ${object.data.text.length}`;
    });
  }
}

it('a large event is written to a part of the watches in each turn of the event loop, completely and in order', async () => {
  const readers = Array.from({ length: watchers }, () => new Reader());
  const { resourceVersion } = (await server.call('GET', maps)).json().metadata;
  const sources: Source[] = [];
  for (const reader of readers) {
    const push = (source: Source) => {
      sources.push(source);
      source.begin(reader);
    };
    const request = new Request(`https://apiserver${maps}?watch=true&resourceVersion=${resourceVersion}`);
    await server.app.fetch(request, { user: admin, push });
  }
  assert.equal(sources.length, watchers, 'every watch is pushed');
  let over = false;
  const counting = (async () => {
    for (; !over; await setImmediate()) Reader.thisTurn = 0;
  })();
  for (const name of ['a', 'b']) {
    const made = await server.call('POST', maps, { metadata: { name }, data: { text } });
    assert.equal(made.status, 201);
  }
  const small = await server.call('POST', maps, { metadata: { name: 'c' }, data: { text: 'x' } });
  assert.equal(small.status, 201);
  for (let turn = 0; turn < 10_000 && readers.some((reader) => !reader.has('"c"')); turn++) {
    if (turn % 100 === 99) await server.clock.advance(1);
    await setImmediate();
  }
  over = true;
  await counting;
  for (const reader of readers) {
    assert.deepEqual(reader.names(), ['ADDED a 100000', 'ADDED b 100000', 'ADDED c 1']);
  }
  // New data and data that waited may be written in one turn.
  assert.ok(Reader.most <= 2 * 4.5 * MB, `${Reader.most} bytes in one turn`);
  for (const source of sources) source.cancel();
});
