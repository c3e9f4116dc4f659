/** The log of minik8s is followed while a writer rotates it; large, replaced and removed logs are read. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { RotatingFile } from '../../../src/os/rotating-file.ts';
import { readFiles } from '../../../src/roles/own-log/file-source.ts';
import type { Selection } from '../../../src/roles/own-log/selection.ts';
import { until } from '../../fixtures/eventually.ts';

const all: Selection = { components: [], level: 'debug', format: 'text' };

describe('the reader of a log file', { timeout: 180_000 }, () => {
  const parent = mkdtempSync(join(tmpdir(), 'minik8s-own-log-'));
  after(() => rmSync(parent, { recursive: true }));
  let path = '';
  const stops: AbortController[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop.abort();
  });
  beforeEach(() => {
    path = join(mkdtempSync(join(parent, 'a')), 'up.log');
  });

  const writer = (maxBytes: number, maxBackups = 3) =>
    new RotatingFile({
      ...{ path, clock: systemClock, maxBytes, maxAgeMs: 3_600_000, maxBackups },
      lostLine: (count) => `lost ${count}\n`,
    });

  /** Follows the log into a list. */
  function follow() {
    const lines: string[] = [];
    let checks = 0;
    const stop = new AbortController();
    stops.push(stop);
    const options = {
      selection: all,
      tail: undefined,
      follows: true,
      clock: systemClock,
      signal: stop.signal,
    };
    const done = (async () => {
      for await (const batch of readFiles(path, options)) {
        lines.push(...batch.lines);
        // A check ends with a batch without lines while no other file follows.
        if (batch.lines.length === 0) checks++;
      }
    })();
    return {
      lines,
      /** Resolves when a check of the follower that began after this call has ended. */
      async sees() {
        const after = checks + 1;
        await until(() => {
          // A change of the folder makes the follower check.
          writeFileSync(join(dirname(path), 'beside'), '');
          return checks > after;
        });
      },
      async stop() {
        stop.abort();
        await done;
      },
    };
  }

  async function read(selection: Partial<Selection> = {}, tail?: number): Promise<string[]> {
    const lines: string[] = [];
    const { signal } = new AbortController();
    const options = { selection: { ...all, ...selection }, tail, follows: false, clock: systemClock, signal };
    for await (const batch of readFiles(path, options)) for (const line of batch.lines) lines.push(line);
    return lines;
  }

  it('has each line once and in order while the file is rotated dozens of times', async () => {
    const file = writer(2_000, 20);
    const followed = follow();
    const written: string[] = [];
    for (let number = 0; number < 8_000; number++) {
      const line = `line ${number}`;
      written.push(line);
      file.write(`${line}\n`);
      // The follower begins with the first file, and is behind by less than the files that are kept.
      if (number % 500 === 0) await until(() => followed.lines.length >= Math.max(1, number - 1_000));
    }
    await until(() => followed.lines.length >= written.length);
    await followed.stop();
    assert.deepEqual(followed.lines, written);
    file.close();
  });

  it('continues with a file that replaced the log, that was emptied, or that is created later', async () => {
    const followed = follow();
    await followed.sees();
    writeFileSync(path, 'a\n');
    await until(() => followed.lines.length === 1);
    rmSync(path);
    writeFileSync(path, 'b\n');
    await until(() => followed.lines.length === 2);
    renameSync(path, `${path}.old`);
    writeFileSync(path, 'c\n');
    await until(() => followed.lines.length === 3);
    truncateSync(path);
    // An emptied file that has its former length again looks unchanged.
    await followed.sees();
    appendFileSync(path, 'd\n');
    await until(() => followed.lines.length === 4);
    await followed.stop();
    assert.deepEqual(followed.lines, ['a', 'b', 'c', 'd']);
  });

  it('reads the last lines of a log of one gigabyte within 30 s', async () => {
    const line = (level: string, second: number) =>
      `${new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()} ${level.padEnd(5)} kubelet: ${'x'.repeat(80)} n=${second}\n`;
    const piece = Array.from({ length: 1000 }, (_, index) => line('INFO', index)).join('');
    writeFileSync(path, line('ERROR', 0));
    // A hole in the file takes the room of a gigabyte of older lines, without a write of as much.
    truncateSync(path, 2 ** 30);
    appendFileSync(path, `\n${piece}${line('WARN', 2000)}${line('INFO', 2001)}`);
    const from = performance.now();
    const last = await read({}, 2);
    assert.match(last.at(-1) ?? '', /n=2001$/);
    assert.match(
      (await read({ level: 'warn' }, 1)).findLast((one) => one.includes(' WARN ')) ?? '',
      /n=2000$/,
    );
    const since = await read({ since: Date.UTC(2026, 0, 1, 0, 30) });
    assert.match(since.at(-1) ?? '', /n=2001$/);
    assert.ok(performance.now() - from < 30_000, `${performance.now() - from} ms`);
  });

  it('finds the lines before a rotation for a tail, and fails without a file', async () => {
    await assert.rejects(read(), /there is no log at /);
    const file = writer(50);
    for (let number = 0; number < 12; number++) file.write(`line ${number} ${'y'.repeat(8)}\n`);
    file.close();
    assert.ok((await read({}, 5)).length >= 5);
    assert.equal((await read()).at(-1), 'line 11 yyyyyyyy');
  });
});
