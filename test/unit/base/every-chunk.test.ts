import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { everyChunk } from '../../../src/base/every-chunk.ts';

async function read(chunks: AsyncIterable<Uint8Array>) {
  const parts: string[] = [];
  try {
    for await (const chunk of chunks) parts.push(Buffer.from(chunk).toString());
  } catch (error) {
    return { text: parts.join(''), error: (error as Error).message };
  }
  return { text: parts.join('') };
}

describe('a stream read chunk by chunk', () => {
  test('yields the bytes before a failure, and then its error', async () => {
    const source = new PassThrough();
    const reading = read(everyChunk(source));
    source.write('one');
    await new Promise(setImmediate);
    source.write('two');
    source.destroy(new Error('broken'));
    assert.deepEqual(await reading, { text: 'onetwo', error: 'broken' });
  });

  test('yields its chunks and then the error if it failed before the first read', async () => {
    const source = new PassThrough();
    source.on('error', () => undefined);
    source.write('one');
    source.destroy(new Error('broken'));
    await new Promise(setImmediate);
    assert.deepEqual(await read(everyChunk(source)), { text: 'one', error: 'broken' });
  });

  test('is reported as incomplete if it is closed before its end', async () => {
    const source = new PassThrough();
    const reading = read(everyChunk(source));
    source.write('one');
    source.destroy();
    assert.deepEqual(await reading, { text: 'one', error: 'premature close' });
  });

  test('ends with its end', async () => {
    const source = new PassThrough();
    const reading = read(everyChunk(source));
    source.write('one');
    await new Promise(setImmediate);
    source.end('two');
    assert.deepEqual(await reading, { text: 'onetwo' });
    const empty = new PassThrough();
    empty.end();
    assert.deepEqual(await read(everyChunk(empty)), { text: '' });
  });

  test('is destroyed when its reader stops', async () => {
    const source = new PassThrough();
    source.write('one');
    for await (const _ of everyChunk(source)) break;
    assert.equal(source.destroyed, true);
  });
});
