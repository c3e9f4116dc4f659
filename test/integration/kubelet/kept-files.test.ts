/**
 * Logs that are read up to their end, from files that are rotated as by Docker. For the real engine see
 * test/conformance/kubelet/docker-logs.test.ts.
 */
import assert from 'node:assert/strict';
import { rmSync, truncateSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { readKeptFiles } from '../../../src/kubelet/runtime/kept-files.ts';
import { Engine, numbers, openFilesBelow } from './rotated-log.ts';

describe('a log that is read up to its end', { timeout: 120_000 }, () => {
  let folder = '';
  let stop: AbortController;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'minik8s-kept-'));
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await rm(folder, { recursive: true, force: true });
  });

  async function settled(count: number): Promise<void> {
    while ((await openFilesBelow(folder)) !== count) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  const open = async (path: string, tailLines?: number) =>
    readKeptFiles(path, { timestamps: false, since: undefined, tailLines }, stop.signal);

  async function opened(engine: Engine, tailLines?: number): Promise<AsyncIterable<Uint8Array>> {
    const log = await open(engine.path, tailLines);
    assert.ok(log);
    return log;
  }

  async function textOf(log: AsyncIterable<Uint8Array>): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of log) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  it('has the lines of all files, or as many of the last lines as requested', async () => {
    const engine = new Engine(folder, 5);
    for (let turn = 0; turn < 4; turn++) {
      if (turn > 0) engine.rotate();
      engine.lines(turn * 10, turn * 10 + 10);
    }
    assert.equal(await textOf(await opened(engine)), numbers(0, 40));
    for (const tail of [0, 1, 9, 10, 11, 20, 25, 39, 40, 41, 1000])
      assert.equal(
        await textOf(await opened(engine, tail)),
        numbers(Math.max(0, 40 - tail), 40),
        `tail ${tail}`,
      );
    await settled(0);
  });

  it('has no line that is written later, and no line is lost by a later rotation', async () => {
    const engine = new Engine(folder, 3);
    engine.lines(0, 10);
    engine.rotate();
    engine.lines(10, 20);
    const log = await opened(engine);
    engine.lines(20, 30);
    for (let turn = 0; turn < 4; turn++) {
      engine.rotate();
      engine.lines(100, 110);
    }
    assert.equal(await textOf(log), numbers(0, 20));
  });

  it('has the newest lines while a rotation has renamed the files but not created the next one', async () => {
    const engine = new Engine(folder, 3);
    engine.lines(0, 10);
    engine.beginRotation();
    assert.equal(await textOf(await opened(engine)), numbers(0, 10));
  });

  it('has every line of a file that takes many read operations', async () => {
    const engine = new Engine(folder);
    engine.lines(0, 20_000);
    const log = await opened(engine);
    rmSync(folder, { recursive: true });
    assert.equal(await textOf(log), numbers(0, 20_000));
  });

  it('has no lines if its file is emptied before they are read', async () => {
    const engine = new Engine(folder);
    engine.lines(0, 10);
    const log = await opened(engine);
    truncateSync(engine.path);
    assert.equal(await textOf(log), '');
  });

  it('closes its files when its reader stops, also before the first read', async () => {
    const engine = new Engine(folder);
    engine.lines(0, 5);
    engine.rotate();
    engine.lines(5, 10);
    await opened(engine);
    await settled(2);
    stop.abort();
    await settled(0);
    stop = new AbortController();
    const chunks = (await opened(engine))[Symbol.asyncIterator]();
    await chunks.next();
    await settled(2);
    await chunks.return?.();
    await settled(0);
  });

  it('ends when its request is aborted in the middle', async () => {
    const engine = new Engine(folder);
    engine.lines(0, 5);
    engine.rotate();
    engine.lines(5, 10);
    const chunks = (await opened(engine))[Symbol.asyncIterator]();
    assert.equal(Buffer.from((await chunks.next()).value ?? []).toString(), numbers(0, 5));
    stop.abort();
    assert.equal((await chunks.next()).done, true);
  });

  it('is undefined if its file does not exist', async () => {
    for (const path of ['/proc/no-such/x-json.log', join(folder, 'x-json.log')])
      assert.equal(await open(path), undefined);
  });
});
