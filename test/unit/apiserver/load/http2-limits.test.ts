import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ControlFrames, http2Options } from '../../../../src/apiserver/load/http2-limits.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

describe('frames that carry no request', () => {
  const accepted = (frames: ControlFrames, count: number) =>
    Array.from({ length: count }, () => frames.accepts()).filter(Boolean).length;

  it('are accepted up to 200 within ten seconds', () => {
    assert.equal(accepted(new ControlFrames(new FakeClock()), 300), 200);
  });

  it('are counted again after ten seconds, and not before', async () => {
    const clock = new FakeClock();
    const frames = new ControlFrames(clock);
    accepted(frames, 150);
    await clock.advance(9999);
    assert.equal(accepted(frames, 100), 50);
    await clock.advance(1);
    assert.equal(accepted(frames, 300), 200);
  });
});

it('a connection of a node has enough streams for all watches of a node, and any other has 100', () => {
  const streams = (isNode: boolean) => http2Options(isNode).settings?.maxConcurrentStreams;
  assert.deepEqual([streams(true), streams(false)], [2200, 100]);
});
