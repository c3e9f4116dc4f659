import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  historyToForget,
  isBeyondShare,
  isToDefragment,
  isToDisarm,
  lacksRoom,
  levelOf,
  type MemberUsage,
  worstLevel,
} from '../../../src/storage/room-plan.ts';

const mega = 2 ** 20;
/** Usage of an etcd whose quota is 1000 MiB; sizes in MiB. */
const usage = (size: number, inUse = size, more: Partial<MemberUsage> = {}): MemberUsage => ({
  ...{ size: size * mega, inUse: inUse * mega, quota: 1000 * mega, isFull: false },
  ...more,
});

describe('room in etcd', () => {
  it('is scarce from four fifths of the quota on, and critical before the quota is used up', () => {
    const levels = [0, 799, 800, 929, 930, 964, 965, 1000].map((size) => levelOf(usage(size), 0));
    const full = ['exhausted', 'exhausted'];
    assert.deepEqual(levels, ['free', 'free', 'scarce', 'scarce', 'critical', 'critical', ...full]);
  });
  it('includes the bytes written since the report, which use free pages first', () => {
    assert.equal(levelOf(usage(700), 99 * mega), 'free');
    assert.equal(levelOf(usage(700), 100 * mega), 'scarce');
    assert.equal(levelOf(usage(700, 500), 100 * mega), 'free');
  });
  it('is kept free with a minimum in megabytes for a small quota, and at most half of it', () => {
    const small = (size: number, quota: number) => levelOf(usage(size, size, { quota: quota * mega }), 0);
    const of64 = [47, 48, 56, 60].map((size) => small(size, 64));
    assert.deepEqual(of64, ['free', 'scarce', 'critical', 'exhausted']);
    assert.deepEqual([small(3, 8), small(4, 8), small(6, 8)], ['free', 'critical', 'exhausted']);
  });
  it('is unknown without a quota, except for the alarm', () => {
    const unknown = { quota: undefined };
    assert.equal(levelOf(usage(5000, 5000, unknown), 0), 'free');
    assert.equal(levelOf(usage(1, 1, { ...unknown, isFull: true }), 0), 'exhausted');
    assert.equal(worstLevel(['free', 'critical', 'scarce']), 'critical');
    assert.equal(worstLevel(['critical', 'exhausted', 'free']), 'exhausted');
    assert.equal(worstLevel([]), 'free');
  });
  it('is gained by compacting old history early, and all history when it is critical', () => {
    assert.deepEqual(
      [599, 600, 930, 1000].map((size) => historyToForget(usage(size))),
      ['nothing', 'old', 'all', 'all'],
    );
    assert.equal(historyToForget(usage(1, 1, { isFull: true })), 'all');
  });
  it('is gained by defragmenting if that frees much near the quota, or frees anything when etcd is full', () => {
    assert.equal(isToDefragment(usage(749, 10)), false);
    assert.equal(isToDefragment(usage(750, 701)), false);
    assert.equal(isToDefragment(usage(750, 700)), true);
    assert.equal(isToDefragment(usage(750, 749, { isFull: true })), true);
    assert.equal(isToDefragment(usage(750, 750, { isFull: true })), false);
  });
  it('permits disarming the alarm only if it would not be raised again at once', () => {
    assert.deepEqual(
      [usage(969), usage(969, 969, { isFull: true }), usage(970, 970, { isFull: true })].map(isToDisarm),
      [false, true, false],
    );
  });
});

describe('the share of a namespace', () => {
  const write = { isLease: false, before: 0, after: 1000 };
  const quota = 100_000;
  it('limits creations and large updates to half of the quota', () => {
    assert.equal(isBeyondShare(quota, 49_000, write), false);
    assert.equal(isBeyondShare(quota, 49_001, write), true);
    assert.equal(isBeyondShare(quota, 49_000, { ...write, before: 1000, after: 6000 }), true);
    assert.equal(isBeyondShare(quota, 45_000, { ...write, before: 1000, after: 6000 }), false);
  });
  it('limits neither small updates nor small Leases, and nothing without a quota', () => {
    const full = 90_000;
    assert.equal(isBeyondShare(quota, full, { ...write, before: 1000, after: 1000 + 4096 }), false);
    assert.equal(isBeyondShare(quota, full, { ...write, before: 1000, after: 1000 + 4097 }), true);
    assert.equal(isBeyondShare(quota, full, { ...write, isLease: true }), false);
    assert.equal(isBeyondShare(quota, full, { ...write, isLease: true, after: 4097 }), true);
    assert.equal(isBeyondShare(undefined, full, write), false);
  });
});

describe('the room of the store', () => {
  const write = {
    ...{ isLease: false, isDeleting: false, isDeletion: false, isStatus: false },
    ...{ before: 1000, after: 1000 },
  };
  const levels = ['free', 'scarce', 'critical', 'exhausted'] as const;
  const lacking = (more: Partial<typeof write>) =>
    levels.filter((level) => lacksRoom(level, { ...write, ...more }));
  it('allows small updates and rejects new and large objects when it is scarce', () => {
    assert.deepEqual(lacking({}), ['critical', 'exhausted']);
    assert.deepEqual(lacking({ after: 1000 + 4096 }), ['critical', 'exhausted']);
    assert.deepEqual(lacking({ after: 1000 + 4097 }), ['scarce', 'critical', 'exhausted']);
    assert.deepEqual(lacking({ before: 200_000, after: 150_000 }), ['scarce', 'critical', 'exhausted']);
    assert.deepEqual(lacking({ before: 0, after: 10 }), ['scarce', 'critical', 'exhausted']);
  });
  it('allows statuses of small objects that hardly grow when it is critical, but not when it is exhausted', () => {
    const status = { isStatus: true };
    assert.deepEqual(lacking(status), ['exhausted']);
    assert.deepEqual(lacking({ ...status, after: 1000 + 2048 }), ['exhausted']);
    assert.deepEqual(lacking({ ...status, after: 1000 + 2049 }), ['critical', 'exhausted']);
    assert.deepEqual(lacking({ ...status, before: 32_000, after: 32 * 1024 }), ['exhausted']);
    assert.deepEqual(lacking({ ...status, before: 32_000, after: 32 * 1024 + 1 }), ['critical', 'exhausted']);
    assert.deepEqual(lacking({ ...status, before: 0, after: 10 }), ['scarce', 'critical', 'exhausted']);
  });
  it('allows small Leases and deletions when it is critical', () => {
    assert.deepEqual(lacking({ isLease: true, before: 0 }), []);
    assert.deepEqual(lacking({ isLease: true, after: 4096 }), []);
    assert.deepEqual(lacking({ isLease: true, after: 4097 }), ['critical', 'exhausted']);
    const deletion = { isDeleting: true, isDeletion: true };
    assert.deepEqual(lacking({ ...deletion, before: 900_000, after: 900_100 }), []);
    assert.deepEqual(lacking({ ...deletion, before: 1000, after: 9000 }), [
      'scarce',
      'critical',
      'exhausted',
    ]);
    assert.deepEqual(lacking({ ...deletion, before: 0 }), ['scarce', 'critical', 'exhausted']);
  });
  it('allows only small statuses of objects that are being deleted when it is critical, and no other updates of these', () => {
    const deleting = { isDeleting: true };
    assert.deepEqual(lacking(deleting), ['critical', 'exhausted']);
    assert.deepEqual(lacking({ ...deleting, before: 900_000, after: 900_000 }), [
      'scarce',
      'critical',
      'exhausted',
    ]);
    assert.deepEqual(lacking({ ...deleting, isStatus: true }), []);
    assert.deepEqual(lacking({ ...deleting, isStatus: true, before: 32_000, after: 32 * 1024 + 1 }), [
      'critical',
      'exhausted',
    ]);
  });
});
