/** Watches of documents that are no resources, such as the authorities of the cluster. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentSource } from '../../../src/apiserver/document-watch.ts';
import { replaceable } from '../../../src/base/current.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { Client } from './watch-body.ts';

function watched() {
  const clock = new FakeClock();
  const text = replaceable('one');
  const shutdown = new AbortController();
  const client = new Client();
  const source = documentSource({ text, clock, shutdown: shutdown.signal });
  source.begin(client);
  return { clock, text, shutdown, client, source };
}

describe('a watch of a document', () => {
  it('sends the text at once, and again after each change', () => {
    const { text, client } = watched();
    assert.deepEqual(client.lines, ['one']);
    text.replace('two');
    text.replace('two');
    text.replace('one');
    assert.deepEqual(client.lines, ['one', 'two', 'one']);
    assert.equal(client.state, 'open');
  });

  it('ends after ten minutes, and sends nothing after that', async () => {
    const { clock, text, client } = watched();
    await clock.advance(10 * 60_000 - 1);
    assert.equal(client.state, 'open');
    await clock.advance(1);
    assert.equal(client.state, 'ended');
    text.replace('two');
    assert.deepEqual(client.lines, ['one']);
  });

  it('ends when the server stops, also if the server stops already', () => {
    const { shutdown, text, client } = watched();
    shutdown.abort();
    assert.equal(client.state, 'ended');
    const late = new Client();
    documentSource({ text, clock: new FakeClock(), shutdown: shutdown.signal }).begin(late);
    assert.equal(late.state, 'ended');
    assert.deepEqual(late.lines, ['one']);
  });

  it('leaves no timer and no listener when the client disconnects', async () => {
    const { clock, text, shutdown, client, source } = watched();
    source.cancel();
    text.replace('two');
    shutdown.abort();
    await clock.advance(10 * 60_000);
    assert.deepEqual([client.lines, client.state], [['one'], 'open']);
  });

  it('disconnects a client that does not read', () => {
    const { text, client } = watched();
    for (let n = 0; n < 4; n++) text.replace(`${n}`.padEnd(100_000, 'x'));
    assert.equal(client.state, 'cut');
    assert.ok(client.backlog < 400_000, String(client.backlog));
  });
});
