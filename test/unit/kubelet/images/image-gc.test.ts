/** Times at which images are removed, and the messages about it, with an engine that is only data. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { RuntimeError } from '../../../../src/docker/runtime-error.ts';
import { ImageGc } from '../../../../src/kubelet/images/image-gc.ts';
import type { RecordedImage } from '../../../../src/kubelet/images/plan/images-to-free.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';

describe('the garbage collection of images', () => {
  let removed: string[];
  let events: string[];
  let available: number;
  let refuse: (name: string) => RuntimeError | undefined;
  let clock: FakeClock;
  let gc: ImageGc;

  beforeEach(() => {
    [removed, events, available] = [[], [], 100];
    refuse = () => undefined;
    clock = new FakeClock(1000);
    const present = ['a', 'b', 'user'].map((id) => ({ id, names: [`${id}:1`], sizeBytes: 60 }));
    const record = new Map<string, RecordedImage>([
      ['a', { names: ['a:1'], since: 0, usedAt: 1 }],
      ['b', { names: ['b:1'], since: 0, usedAt: 2 }],
    ]);
    gc = new ImageGc({
      runtime: {
        listImages: async () => present.filter(({ names }) => !removed.includes(names[0] ?? '')),
        usedImages: async () => new Set(),
        removeImage: async (name) => {
          const problem = refuse(name);
          if (problem) throw problem;
          removed.push(name);
        },
      },
      record: { images: async () => record, look: async () => undefined },
      thresholds: { highPercent: 85, lowPercent: 80, minAgeMs: 0 },
      readUsage: async () => ({ size: 1000, available }),
      node: () => ({ kind: 'Node' }) as never,
      events: { event: (_about, type, reason, message) => void events.push(`${type} ${reason} ${message}`) },
      clock,
      log: new RecordingLogger(),
    });
  });

  it('removes the images unused for longest until the low threshold is reached', async () => {
    available = 150;
    await gc.collect();
    assert.deepEqual(removed, ['a:1']);
    available = 100;
    await gc.collect();
    assert.deepEqual(removed, ['a:1', 'b:1']);
  });

  it('reports by a warning event each time that it cannot free enough', async () => {
    available = 0;
    await gc.collect();
    const told = (bytes: number) =>
      `Failed to garbage collect required amount of images. Attempted to free 200 bytes, but only found ${bytes} bytes eligible to free.`;
    assert.deepEqual(removed, ['a:1', 'b:1']);
    assert.deepEqual(events, [`Warning FreeDiskSpaceFailed ${told(120)}`]);
    await gc.collect();
    assert.deepEqual(events.slice(1), [
      `Warning FreeDiskSpaceFailed ${told(0)}`,
      `Warning ImageGCFailed ${told(0)}`,
    ]);
    available = 500;
    await gc.collect();
    available = 0;
    await gc.collect();
    assert.equal(
      events.filter((event) => event.includes('ImageGCFailed')).length,
      1,
      'a collection had succeeded in between',
    );
  });

  it('removes the next image if a container has started from one in the meantime', async () => {
    refuse = (name) => (name === 'a:1' ? new RuntimeError('Conflict', 'in use') : undefined);
    available = 150;
    await gc.collect();
    assert.deepEqual(removed, ['b:1']);
    assert.deepEqual(events, []);
  });

  it('removes all removable images before a pod is evicted', async () => {
    available = 999;
    assert.equal(await gc.freeAll(), 120);
    assert.deepEqual(removed, ['a:1', 'b:1']);
    refuse = () => new RuntimeError('Unavailable', 'Docker is away');
    removed = [];
    await assert.rejects(gc.freeAll(), /Docker is away/);
    refuse = () => undefined;
    assert.equal(await gc.freeAll(), 120, 'a failure does not prevent the next collection');
  });

  it('runs at once and every five minutes until it is stopped', async () => {
    available = 0;
    const stop = new AbortController();
    const running = gc.run(stop.signal);
    await clock.advance(0);
    assert.equal(events.length, 1);
    await clock.advance(300_000);
    assert.equal(events.length, 3);
    stop.abort();
    await running;
    await clock.advance(300_000);
    assert.equal(events.length, 3);
  });

  it('reports a disk without a size by a warning event', async () => {
    const broken = new ImageGc({
      runtime: {
        listImages: async () => [],
        usedImages: async () => new Set(),
        removeImage: async () => undefined,
      },
      record: { images: async () => new Map(), look: async () => undefined },
      thresholds: { highPercent: 85, lowPercent: 80, minAgeMs: 0 },
      readUsage: async () => ({ size: 0, available: 0 }),
      node: () => ({ kind: 'Node' }) as never,
      events: { event: (_about, type, reason, message) => void events.push(`${type} ${reason} ${message}`) },
      clock,
      log: new RecordingLogger(),
    });
    await broken.collect();
    assert.deepEqual(events, ['Warning InvalidDiskCapacity invalid capacity 0 on image filesystem']);
  });
});
