import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FrameReader, framed } from '../../../src/grpc/frames.ts';
import type { GrpcError } from '../../../src/grpc/status.ts';

const messages = ['', 'a', 'b'.repeat(300), '', 'c'.repeat(70_000)];
/** Returns a frame whose message is the bytes of the text. */
const frameOf = (text: string) => framed(0, (writer) => writer.append(Buffer.from(text)));

describe('messages on a stream', () => {
  it('have their length before them', () => {
    assert.deepEqual(frameOf('ab'), Buffer.from([0, 0, 0, 0, 2, 0x61, 0x62]));
    assert.deepEqual(
      framed(0, () => undefined),
      Buffer.alloc(5),
    );
  });

  for (const size of [1, 2, 4, 5, 6, 7, 300, 1_000_000]) {
    it(`are put together from pieces of ${size} bytes`, () => {
      const all = Buffer.concat(messages.map(frameOf));
      const reader = new FrameReader(70_000);
      const read: string[] = [];
      for (let at = 0; at < all.length; at += size)
        for (const message of reader.push(all.subarray(at, at + size))) read.push(message.toString());
      assert.deepEqual(read, messages);
    });
  }

  it('are refused when they are too long, as soon as their length arrives', () => {
    const head = frameOf('x'.repeat(11)).subarray(0, 5);
    assert.throws(
      () => new FrameReader(10).push(head),
      (error: GrpcError) => {
        assert.equal(error.status, 'RESOURCE_EXHAUSTED');
        assert.equal(error.message, '8 RESOURCE_EXHAUSTED: Received message larger than max (11 vs 10)');
        return true;
      },
    );
    assert.deepEqual(new FrameReader(11).push(head), []);
  });

  it('are refused when they are compressed', () => {
    const bytes = frameOf('x');
    bytes[0] = 1;
    assert.throws(() => new FrameReader(10).push(bytes), /^GrpcError: 13 INTERNAL: the answer is compressed/);
  });

  it('are refused by their length even if the messages before them are whole', () => {
    const reader = new FrameReader(4);
    const huge = Buffer.from([0, 0xff, 0xff, 0xff, 0xff]);
    assert.throws(
      () => reader.push(Buffer.concat([frameOf('abcd'), huge])),
      /larger than max \(4294967295 vs 4\)/,
    );
  });

  it('are yielded when their last byte has arrived, and only once', () => {
    const reader = new FrameReader(100);
    const all = Buffer.concat([frameOf('first'), frameOf('second')]);
    assert.deepEqual(reader.push(all.subarray(0, all.length - 1)).map(String), ['first']);
    assert.deepEqual(reader.push(all.subarray(all.length - 1)).map(String), ['second']);
    assert.deepEqual(reader.push(Buffer.alloc(0)), []);
    assert.deepEqual(reader.push(frameOf('')).map(String), ['']);
  });
});
