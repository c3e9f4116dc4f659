/** Space in etcd over time: queries of members, compaction, defragmentation and disarmed alarms. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EtcdRoom } from '../../../src/storage/etcd-room.ts';
import type { EtcdRpc, MemberStatus } from '../../../src/storage/etcd-rpc.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

const mega = 1024 * 1024;
const quota = 1000 * mega;

/** One or more members whose sizes the test sets; records the requests to them. */
function world(memberCount = 1) {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const calls: string[] = [];
  const members = Array.from({ length: memberCount }, (_, index) => {
    const status = { size: 100 * mega, inUse: 100 * mega, quota, isFull: false, revision: 10 };
    return {
      status: status as { -readonly [K in keyof MemberStatus]: MemberStatus[K] },
      answers: true,
      index,
    };
  });
  const rpc = {
    members: members.map((member) => ({
      status: async () => {
        if (!member.answers) throw new Error('no answer');
        calls.push(`status ${member.index}`);
        return { ...member.status };
      },
      defragment: async () => {
        calls.push(`defragment ${member.index}`);
        member.status.size = member.status.inUse;
      },
    })),
    compact: async (revision: number) => void calls.push(`compact ${revision}`),
    disarmFull: async () => {
      calls.push('disarm');
      for (const { status } of members) status.isFull = false;
    },
  };
  const room = new EtcdRoom({ rpc: rpc as unknown as EtcdRpc, clock, log, attemptMs: 1000 });
  const stop = new AbortController();
  return {
    ...{ clock, log, calls, members, room },
    first: members[0] ?? assert.fail(),
    keep: () => room.keep(stop.signal),
    stop: () => stop.abort(),
    /** Requests since the last call of this function. */
    taken: () => calls.splice(0),
  };
}

test('members are queried every ten seconds, and every two when room is scarce', async () => {
  const { clock, first, keep, stop, taken, room } = world();
  const kept = keep();
  await clock.advance(9_999);
  assert.deepEqual(taken(), ['status 0']);
  first.status.size = first.status.inUse = 850 * mega;
  await clock.advance(1);
  assert.equal(room.level(), 'scarce');
  assert.equal(taken().filter((call) => call === 'status 0').length, 1);
  await clock.advance(1_999);
  assert.deepEqual(taken(), []);
  await clock.advance(1);
  assert.deepEqual(taken(), ['status 0']);
  stop();
  await kept;
  assert.equal(clock.pending, 0);
});

test('members are queried at once when the bytes sent since the last query leave little space', async () => {
  const { clock, keep, stop, taken, room } = world();
  const kept = keep();
  await clock.settle();
  taken();
  assert.equal(await room.during(600 * mega, async () => 'small'), 'small');
  await clock.settle();
  assert.deepEqual(taken(), []);
  assert.equal(room.level(), 'free');
  await room.during(150 * mega, async () => {});
  assert.equal(room.level(), 'scarce');
  await clock.settle();
  assert.deepEqual(taken(), ['status 0']);
  stop();
  await kept;
});

test('sent bytes are counted for two seconds, after which etcd reports them', async () => {
  const { clock, room } = world();
  await room.look();
  await room.during(750 * mega, async () => {});
  await clock.advance(1_999);
  await room.look();
  assert.equal(room.level(), 'scarce');
  await clock.advance(2);
  await room.look();
  assert.equal(room.level(), 'free');
});

test('history older than half a minute is compacted when room is scarce, and all of it when room is critical', async () => {
  const { clock, first, room, taken } = world();
  first.status.size = first.status.inUse = 650 * mega;
  await room.look();
  assert.deepEqual(taken(), ['status 0'], 'nothing is old enough');
  await clock.advance(30_000);
  first.status.revision = 20;
  await room.look();
  assert.deepEqual(taken(), ['status 0', 'compact 10', 'status 0']);
  first.status.size = first.status.inUse = 950 * mega;
  first.status.revision = 30;
  await room.look();
  assert.deepEqual(taken(), ['status 0', 'compact 30', 'status 0']);
});

test('members are defragmented one after the other, each at most once in twenty seconds', async () => {
  const { clock, members, room, taken } = world(2);
  const fill = () => {
    for (const { status } of members)
      Object.assign(status, { size: 800 * mega, inUse: 100 * mega, revision: 0 });
  };
  const defragmented = () => taken().filter((call) => call.startsWith('defragment'));
  fill();
  await room.look();
  assert.deepEqual(defragmented(), ['defragment 0', 'defragment 1']);
  fill();
  await clock.advance(19_999);
  await room.look();
  assert.deepEqual(defragmented(), []);
  await clock.advance(1);
  await room.look();
  assert.deepEqual(defragmented(), ['defragment 0', 'defragment 1']);
});

test('the alarm is disarmed and logged once there is room', async () => {
  const { first, room, taken, log } = world();
  Object.assign(first.status, { size: quota, inUse: 400 * mega, isFull: true, revision: 0 });
  await room.look();
  assert.deepEqual(
    taken().filter((call) => !call.startsWith('status')),
    ['defragment 0', 'disarm'],
  );
  assert.equal(room.level(), 'free');
  assert.ok(log.lines.some(({ message }) => message.includes('NOSPACE is disarmed')));
});

test('the alarm stays while a member has no room', async () => {
  const { members, room, taken } = world(2);
  const [one, two] = members;
  Object.assign(one?.status ?? {}, { size: 400 * mega, inUse: 400 * mega, isFull: true });
  Object.assign(two?.status ?? {}, { size: quota, inUse: quota, isFull: true });
  await room.look();
  assert.equal(taken().includes('disarm'), false);
  assert.equal(room.level(), 'exhausted');
});

test('a quota that etcd does not report is derived from the first alarm', async () => {
  const { first, room } = world();
  Object.assign(first.status, { quota: undefined, size: 990 * mega, inUse: 990 * mega });
  await room.look();
  assert.equal(room.level(), 'free');
  assert.equal(room.quota(), undefined);
  Object.assign(first.status, { size: quota, inUse: quota, isFull: true });
  await room.look();
  Object.assign(first.status, { size: 850 * mega, inUse: 850 * mega, isFull: false });
  await room.look();
  assert.equal(room.level(), 'scarce');
  assert.equal(room.quota(), quota);
});

test('a member that does not answer keeps its last size, and the failure is logged once when none answers', async () => {
  const { clock, members, room, keep, stop, log } = world(2);
  const [one, two] = members;
  Object.assign(two?.status ?? {}, { size: 850 * mega, inUse: 850 * mega });
  const kept = keep();
  await clock.settle();
  if (two) two.answers = false;
  await clock.advance(2_000);
  assert.equal(room.level(), 'scarce');
  assert.equal(room.size(), 850 * mega);
  if (one) one.answers = false;
  await clock.advance(10_000);
  assert.equal(log.of('warn').length, 1);
  stop();
  await kept;
});
