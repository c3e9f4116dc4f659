/** The record of the images that pods pulled, on this machine's disk. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ImageRecord } from '../../../src/kubelet/images/image-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

describe('the record of images', () => {
  let dataDir: string;
  let clock: FakeClock;
  let log: RecordingLogger;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'minik8s-record-'));
    clock = new FakeClock(1000);
    log = new RecordingLogger();
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));
  /** Returns the record of an agent that has just started. */
  const fresh = () => new ImageRecord({ dataDir, clock, log });
  const images = async (record = fresh()) => Object.fromEntries(await record.images());

  it('survives a restart of the agent, even if the agent ended during a pull', async () => {
    const first = fresh();
    await first.pulling('a:1');
    await first.pulled('a:1', 'A');
    await first.pulled('a:2', 'A');
    await first.pulling('b:1');
    assert.deepEqual(await images(), { A: { names: ['a:1', 'a:2'], since: 1000, usedAt: 1000 } });
    const next = fresh();
    await clock.advance(500);
    await next.look(
      [
        { id: 'A', names: ['a:1'] },
        { id: 'B', names: ['b:1'] },
        { id: 'C', names: ['c:1'] },
      ],
      new Set(['A']),
    );
    const expected = {
      A: { names: ['a:1', 'a:2'], since: 1000, usedAt: 1500 },
      B: { names: ['b:1'], since: 1500, usedAt: 1500 },
    };
    assert.deepEqual(await images(next), expected);
    assert.deepEqual(await images(), expected);
  });

  it('drops a pull that failed', async () => {
    await fresh().pulling('a:1');
    await fresh().gaveUp('a:1');
    const record = fresh();
    await record.look([{ id: 'A', names: ['a:1'] }], new Set());
    assert.deepEqual(await images(record), {}, 'the agent did not pull the image');
  });

  it('drops images that no longer exist', async () => {
    await fresh().pulled('a:1', 'A');
    const record = fresh();
    await record.look([], new Set());
    assert.deepEqual(await images(), {});
  });

  it('is empty if its file is damaged, and the damage is logged', async () => {
    for (const text of ['{', '[]', 'null', '{"pulling":1,"images":null}']) {
      writeFileSync(join(dataDir, 'images.json'), text);
      assert.deepEqual(await images(), {}, text);
    }
    assert.equal(log.lines.length, 4);
    await fresh().pulled('a:1', 'A');
    assert.deepEqual(Object.keys(await images()), ['A']);
    assert.deepEqual(readdirSync(dataDir), ['images.json']);
  });
});
