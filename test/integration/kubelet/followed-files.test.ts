/**
 * A log followed in files that are rotated as Docker does. For the real engine see
 * test/conformance/kubelet/docker-logs.test.ts.
 */
import assert from 'node:assert/strict';
import { appendFileSync, rmSync, truncateSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { followFiles } from '../../../src/kubelet/runtime/followed-files.ts';
import { Engine, numbers, openFilesBelow } from './rotated-log.ts';

/** Minimum size of a file that may be rotated, in bytes; files that are not rotated have shorter contents. */
const maxBytes = 1000;

describe('a log that is followed in its files', { timeout: 120_000 }, () => {
  let folder = '';
  let stop: AbortController;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'minik8s-followed-'));
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await rm(folder, { recursive: true, force: true });
  });

  async function settled(count: number): Promise<void> {
    while ((await openFilesBelow(folder)) !== count) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async function follow(engine: Engine, options: object = {}) {
    const usual = { timestamps: false, since: undefined, tailLines: undefined };
    const log = await followFiles(
      { path: engine.path, maxBytes },
      { ...usual, ...options },
      engine.ended,
      stop.signal,
    );
    assert.ok(log);
    const chunks = log[Symbol.asyncIterator]();
    let text = '';
    return {
      chunks,
      get text() {
        return text;
      },
      async until(expected: string) {
        while (text.length < expected.length) {
          const next = await chunks.next();
          if (next.done) break;
          text += Buffer.from(next.value).toString();
        }
        assert.equal(text, expected);
      },
      async rest() {
        for (let next = await chunks.next(); !next.done; next = await chunks.next())
          text += Buffer.from(next.value).toString();
        return text;
      },
    };
  }

  it('begins with all kept lines and continues over rotations', async () => {
    const engine = new Engine(folder);
    engine.lines(0, 10);
    engine.rotate();
    engine.lines(10, 20);
    const log = await follow(engine);
    await log.until(numbers(0, 20));
    for (let turn = 2; turn < 30; turn++) {
      engine.rotate();
      engine.lines(turn * 10, turn * 10 + 10);
      await log.until(numbers(0, turn * 10 + 10));
    }
    engine.end();
    assert.equal(await log.rest(), numbers(0, 300));
    await settled(0);
  });

  it('has every line when its reader is behind all kept files but one, also where inodes are used again', async () => {
    const engine = new Engine(folder, 3);
    const log = await follow(engine);
    let printed = 0;
    for (let turn = 0; turn < 20; turn++) {
      engine.lines(printed, printed + 5);
      await log.until(numbers(0, printed + 5));
      // The file that is being read becomes the oldest, and is removed by the third rotation.
      for (let rotation = 1; rotation <= 3; rotation++) {
        engine.lines(printed + 5 * rotation, printed + 5 * rotation + 5);
        engine.rotate();
      }
      printed += 20;
    }
    engine.end();
    assert.equal(await log.rest(), numbers(0, printed));
  });

  it('waits while a rotation has renamed the files but not created the next one', async () => {
    const engine = new Engine(folder, 4);
    engine.lines(0, 5);
    const log = await follow(engine);
    await log.until(numbers(0, 5));
    const reading = log.rest();
    engine.beginRotation();
    await new Promise((resolve) => setTimeout(resolve, 50));
    engine.lines(5, 10);
    engine.rotate();
    engine.lines(10, 15);
    engine.end();
    assert.equal(await reading, numbers(0, 15));
  });

  it('begins with the last entries, in whichever files they are', async () => {
    const engine = new Engine(folder, 5);
    for (let turn = 0; turn < 4; turn++) {
      if (turn > 0) engine.rotate();
      engine.lines(turn * 10, turn * 10 + 10);
    }
    engine.end();
    for (const tailLines of [0, 1, 9, 10, 11, 20, 25, 39, 40, 41, 1000])
      assert.equal(
        await (await follow(engine, { tailLines })).rest(),
        numbers(Math.max(0, 40 - tailLines), 40),
        `tail ${tailLines}`,
      );
  });

  it('has the time of each line once, and leaves out lines before the requested time', async () => {
    const engine = new Engine(folder);
    engine.write('old\n', { time: '2026-01-02T03:04:04.999999999Z' });
    engine.write('x'.repeat(16_384));
    engine.write('error\n', { stream: 'stderr', time: '2026-01-02T03:04:06Z' });
    engine.write('end\n');
    engine.end();
    const since = Date.parse('2026-01-02T03:04:05.123Z');
    const log = await follow(engine, { timestamps: true, since });
    const long = `2026-01-02T03:04:05.123400000Z ${'x'.repeat(16_384)}`;
    assert.equal(await log.rest(), `${long}2026-01-02T03:04:06.000000000Z error\nend\n`);
  });

  it('has whole lines even if they are written in pieces', async () => {
    const engine = new Engine(folder);
    const log = await follow(engine);
    const line = Buffer.from('{"log":"€ one\\n","stream":"stdout","time":"2026-01-02T03:04:05Z"}\n');
    const reading = log.rest();
    for (const byte of line) {
      appendFileSync(engine.path, Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    engine.end();
    assert.equal(await reading, '€ one\n');
  });

  it('begins again when a file is emptied', async () => {
    const engine = new Engine(folder);
    engine.lines(0, 5);
    const log = await follow(engine);
    await log.until(numbers(0, 5));
    truncateSync(engine.path);
    engine.lines(5, 6);
    await log.until(numbers(0, 6));
    engine.end();
    await log.rest();
  });

  it('ends with the container when that is removed at once', async () => {
    const engine = new Engine(folder);
    engine.lines(0, 5);
    const log = await follow(engine);
    await log.until(numbers(0, 5));
    engine.lines(5, 10);
    rmSync(folder, { recursive: true });
    engine.end();
    assert.equal(await log.rest(), numbers(0, 10));
  });

  it('is an error if files were removed that other lines may have followed', async () => {
    const engine = new Engine(folder);
    engine.lines(0, 50);
    const log = await follow(engine);
    await log.until(numbers(0, 50));
    engine.rotate();
    engine.lines(50, 60);
    rmSync(folder, { recursive: true });
    engine.end();
    await assert.rejects(log.rest(), /the container was removed before its log was read to the end/);
  });

  it('is an error if the engine becomes unreachable, after the available lines', async () => {
    const engine = new Engine(folder);
    const log = await follow(engine);
    engine.lines(0, 5);
    engine.goAway();
    await assert.rejects(log.rest(), /the engine is gone/);
    assert.equal(log.text, numbers(0, 5));
    await settled(0);
  });

  it('closes its files when its reader leaves, also within a rotation or before reading', async () => {
    const engine = new Engine(folder);
    engine.lines(0, 5);
    await follow(engine);
    await settled(1);
    stop.abort();
    await settled(0);
    stop = new AbortController();
    const log = await follow(engine);
    engine.rotate();
    engine.lines(5, 10);
    await log.chunks.next();
    await log.chunks.return?.();
    await settled(0);
  });

  it('cannot be followed in files that do not exist', async () => {
    const options = { timestamps: false, since: undefined, tailLines: undefined };
    for (const path of ['/proc/no-such/x-json.log', join(folder, 'x-json.log')])
      assert.equal(await followFiles({ path, maxBytes }, options, Promise.resolve(), stop.signal), undefined);
    await settled(0);
  });
});
