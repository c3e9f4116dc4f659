import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dataFrames,
  type Frame,
  FrameReader,
  pingFrame,
  rstStreamFrame,
  synReplyFrame,
  synStreamFrame,
} from '../../../src/streams/spdy-frames.ts';
import { dictionary, HeaderDecoder, HeaderEncoder } from '../../../src/streams/spdy-headers.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const block = Buffer.from('a block');
const conversation = Buffer.concat([
  synStreamFrame(1, block),
  dataFrames(1, Buffer.from('hello'), false),
  pingFrame(7),
  synReplyFrame(3, block),
  dataFrames(1, Buffer.alloc(0), false),
  dataFrames(1, Buffer.from(' world'), true),
  rstStreamFrame(5, 5),
  dataFrames(3, Buffer.alloc(0), true),
]);

/** Returns the frames with the pieces of each stream's data joined, as a reader of the streams gets them. */
function summary(frames: readonly Frame[]): unknown {
  const data: Record<number, string> = {};
  const others: unknown[] = [];
  for (const frame of frames) {
    if (frame.type !== 'data') {
      others.push('block' in frame ? { ...frame, block: Buffer.from(frame.block).toString() } : frame);
      continue;
    }
    data[frame.streamId] = `${data[frame.streamId] ?? ''}${Buffer.from(frame.data)}${frame.fin ? '|' : ''}`;
  }
  return { data, others };
}

const expected = {
  data: { 1: 'hello world|', 3: '|' },
  others: [
    { type: 'syn-stream', streamId: 1, fin: false, block: 'a block' },
    { type: 'ping', id: 7 },
    { type: 'headers', block: 'a block' },
    { type: 'rst-stream', streamId: 5 },
  ],
};

test('frames are read whole', () => {
  assert.deepEqual(summary([...new FrameReader().push(conversation)]), expected);
});

test('frames are read in two parts, cut at any byte', () => {
  for (let cut = 0; cut <= conversation.length; cut++) {
    const reader = new FrameReader();
    const frames = [
      ...reader.push(conversation.subarray(0, cut)),
      ...reader.push(conversation.subarray(cut)),
    ];
    assert.deepEqual(summary(frames), expected, `cut at ${cut}`);
  }
});

test('frames are read byte by byte, and in parts of any size', () => {
  const random = new SeededRandom(11);
  for (let round = 0; round < 200; round++) {
    const reader = new FrameReader();
    const frames: Frame[] = [];
    const longest = round === 0 ? 1 : 1 + Math.floor(random.next() * 40);
    for (let at = 0; at < conversation.length; ) {
      const length = 1 + Math.floor(random.next() * longest);
      frames.push(...reader.push(conversation.subarray(at, at + length)));
      at += length;
    }
    assert.deepEqual(summary(frames), expected, `round ${round}`);
  }
});

test('data longer than a frame are sent in several frames, of which only the last one ends the stream', () => {
  const long = Buffer.alloc(0x100_0000 + 5, 'x');
  const frames = [...new FrameReader().push(dataFrames(9, long, true))];
  assert.equal(frames.length, 2);
  assert.deepEqual(
    frames.map((frame) => frame.type === 'data' && [frame.data.length, frame.fin]),
    [
      [0xff_ffff, false],
      [6, true],
    ],
  );
});

for (const [what, bytes, message] of [
  ['HTTP', Buffer.from('\xc7ET / HTTP/1.1\r\n', 'latin1'), /not SPDY/],
  ['another version', Buffer.from([0x80, 2, 0, 1, 0, 0, 0, 10]), /not SPDY/],
  ['a control frame of unlimited length', Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff]), /too long/],
  ['a stream without a number', Buffer.from([0x80, 3, 0, 1, 0, 0, 0, 2, 0, 1]), /too short/],
] as const) {
  test(`${what} is not a frame`, () => {
    assert.throws(() => [...new FrameReader().push(bytes)], { name: 'FrameError', message });
  });
}

test('the dictionary is that of SPDY/3', () => {
  assert.equal(dictionary.length, 1423);
  assert.equal(dictionary.toString('latin1', 4, 11), 'options');
  assert.match(dictionary.toString('latin1'), /200 OK.*enq=0\.$/s);
});

test('header blocks of the same direction share a compression context', async () => {
  const [encoder, decoder] = [new HeaderEncoder(), new HeaderDecoder()];
  const blocks: Record<string, string>[] = [{ streamtype: 'error' }, {}, { port: '80', requestid: '0' }];
  for (const headers of blocks) {
    assert.deepEqual({ ...(await decoder.decode(encoder.encode(headers))) }, headers);
  }
  await decoder.close();
});

test('an invalid or truncated header block is refused', async () => {
  for (const bytes of [Buffer.from('none'), new HeaderEncoder().encode({ a: 'b' }).subarray(0, 8)]) {
    const decoder = new HeaderDecoder();
    await assert.rejects(decoder.decode(bytes), { name: 'FrameError' });
    await decoder.close();
  }
});
