import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { describe, it } from 'node:test';
import { SpdyConnection, type SpdyStream } from '../../../src/streams/spdy-connection.ts';
import {
  dataFrames,
  type Frame,
  FrameReader,
  pingFrame,
  rstStreamFrame,
  synStreamFrame,
} from '../../../src/streams/spdy-frames.ts';
import { HeaderEncoder } from '../../../src/streams/spdy-headers.ts';

/** The client's side: writes frames, and records every received frame. */
class Client {
  readonly transport: Duplex;
  readonly frames: Frame[] = [];
  readonly opened: SpdyStream[] = [];
  readonly running: Promise<void>;
  readonly #encoder = new HeaderEncoder();
  readonly #reader = new FrameReader();
  #changed = Promise.withResolvers<void>();

  constructor() {
    const [ours, theirs] = duplexPair();
    this.transport = ours;
    ours.on('data', (chunk: Buffer) => {
      this.frames.push(...this.#reader.push(chunk));
      this.#tell();
    });
    this.running = new SpdyConnection(theirs, (stream) => {
      this.opened.push(stream);
      this.#tell();
    }).run();
    this.running.catch(() => undefined);
  }

  open(streamId: number, headers: Record<string, string>): void {
    this.transport.write(synStreamFrame(streamId, this.#encoder.encode(headers)));
  }

  /** Resolves when the condition holds; every event that can change it triggers a check. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await this.#changed.promise;
    }
  }

  data(streamId: number): string {
    return this.frames
      .map((frame) => (frame.type === 'data' && frame.streamId === streamId ? Buffer.from(frame.data) : ''))
      .join('');
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

describe('SPDY connection', () => {
  it('answers every stream the client opens, and carries both directions to their ends', async () => {
    const client = new Client();
    client.open(1, { streamtype: 'data', port: '80' });
    client.transport.write(
      Buffer.concat([dataFrames(1, Buffer.from('hel'), false), dataFrames(1, Buffer.from('lo'), true)]),
    );
    await client.until(() => client.opened.length === 1);
    const [stream] = client.opened;
    assert.deepEqual({ ...stream?.headers }, { streamtype: 'data', port: '80' });
    let text = '';
    for await (const chunk of stream?.iterator({ destroyOnReturn: false }) ?? []) text += chunk;
    assert.equal(text, 'hello');
    stream?.end('answer');
    await client.until(() => client.frames.some((frame) => frame.type === 'data' && frame.fin));
    assert.equal(client.data(1), 'answer');
    assert.equal(client.frames.filter(({ type }) => type === 'headers').length, 1);
    assert.equal(client.frames.filter(({ type }) => type === 'rst-stream').length, 0);
    client.transport.end();
    await client.running;
  });

  it('echoes pings of the client', async () => {
    const client = new Client();
    client.transport.write(pingFrame(5));
    await client.until(() => client.frames.length > 0);
    assert.deepEqual(client.frames, [{ type: 'ping', id: 5 }]);
    client.transport.end();
    await client.running;
  });

  it('resets a stream that is destroyed here, and releases one that the client resets', async () => {
    const client = new Client();
    client.open(1, { streamtype: 'data' });
    client.open(3, { streamtype: 'data' });
    await client.until(() => client.opened.length === 2);
    client.opened[0]?.destroy();
    await client.until(() => client.frames.some(({ type }) => type === 'rst-stream'));
    const closed = once(client.opened[1] as SpdyStream, 'close');
    client.transport.write(rstStreamFrame(3, 5));
    await closed;
    // The connection continues, and a reset is not answered with a reset.
    client.open(5, {});
    await client.until(() => client.opened.length === 3);
    assert.deepEqual(
      client.frames.filter(({ type }) => type === 'rst-stream'),
      [{ type: 'rst-stream', streamId: 1 }],
    );
    client.transport.end();
    await client.running;
  });

  it('refuses a second stream of one number, and a stream with an even number', async () => {
    const client = new Client();
    client.open(1, {});
    client.open(1, {});
    client.open(2, {});
    await client.until(() => client.frames.filter(({ type }) => type === 'rst-stream').length === 2);
    assert.equal(client.opened.length, 1);
    client.transport.end();
    await client.running;
  });

  it('reads no more when a stream is full, and continues when it is read', async () => {
    const client = new Client();
    client.open(1, {});
    await client.until(() => client.opened.length === 1);
    const [stream] = client.opened as [SpdyStream];
    const sent = 4_000_000;
    const all = new Promise<void>((resolve) =>
      client.transport.write(dataFrames(1, Buffer.alloc(sent, 'x'), true), () => resolve()),
    );
    client.transport.write(pingFrame(1));
    await once(stream, 'readable');
    await all;
    let got = 0;
    for await (const chunk of stream) got += (chunk as Buffer).length;
    assert.equal(got, sent);
    await client.until(() => client.frames.some(({ type }) => type === 'ping'));
    client.transport.end();
    await client.running;
  });

  it('does not read a ping after a full stream until the stream is destroyed', async () => {
    const client = new Client();
    client.open(1, {});
    await client.until(() => client.opened.length === 1);
    client.transport.write(dataFrames(1, Buffer.alloc(1024 * 1024), false));
    client.transport.write(pingFrame(1));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(client.frames.filter(({ type }) => type === 'ping').length, 0);
    client.opened[0]?.destroy();
    await client.until(() => client.frames.some(({ type }) => type === 'ping'));
    client.transport.end();
    await client.running;
  });

  it('ends its streams with the connection, also a stream that waits for its reader', async () => {
    const client = new Client();
    client.open(1, {});
    await client.until(() => client.opened.length === 1);
    const closed = once(client.opened[0] as SpdyStream, 'close');
    client.transport.end();
    await client.running;
    await closed;
  });

  it('rejects when the client uses another protocol', async () => {
    const client = new Client();
    client.transport.write(Buffer.alloc(100, 0xff));
    await assert.rejects(client.running, { name: 'FrameError' });
  });
});

describe('SPDY connection of a client', () => {
  it('opens streams, each with separate directions', async () => {
    const [near, far] = duplexPair();
    const server = new SpdyConnection(far, (stream) => void stream.pipe(stream));
    const client = new SpdyConnection(near);
    const running = [server.run().then(() => far.end()), client.run()];
    const echo = async (text: string) => {
      const stream = client.open({ streamtype: 'data', text });
      stream.end(text.repeat(100_000));
      let got = '';
      for await (const chunk of stream) got += chunk;
      return got;
    };
    const texts = ['one', 'two', 'three'];
    assert.deepEqual(
      await Promise.all(texts.map(echo)),
      texts.map((text) => text.repeat(100_000)),
    );
    near.end();
    await Promise.all(running);
  });

  it('refuses streams that the server would open', async () => {
    const [near, far] = duplexPair();
    const running = new SpdyConnection(near).run();
    const frames: Frame[] = [];
    const reader = new FrameReader();
    far.write(synStreamFrame(2, new HeaderEncoder().encode({})));
    far.write(pingFrame(2));
    for await (const chunk of far.iterator({ destroyOnReturn: false })) {
      frames.push(...reader.push(chunk));
      if (frames.length === 2) break;
    }
    assert.deepEqual(frames, [
      { type: 'rst-stream', streamId: 2 },
      { type: 'ping', id: 2 },
    ]);
    far.end();
    await running;
  });
});
