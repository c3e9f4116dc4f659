import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backupFileName } from '../../../src/backup/manifest.ts';
import { scheduleBackups } from '../../../src/backup/scheduled.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { rfc3339 } from '../../../src/base/time.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const hour = 3_600_000;

function running(
  files: Set<string>,
  fails: () => Error | undefined = () => undefined,
  listFails: () => Error | undefined = () => undefined,
) {
  const clock = new FakeClock(Date.UTC(2026, 10, 29));
  const stop = new AbortController();
  const reports: string[] = [];
  const create = async () => {
    const error = fails();
    if (error) throw error;
    const name = backupFileName(rfc3339(clock.now()), 'x4k2p', false);
    files.add(name);
    return { path: `/backups/${name}`, size: 3, manifest: { keys: 1, revision: 2 } as never };
  };
  const store = {
    path: '/backups',
    list: async () => {
      const error = listFails();
      if (error) throw error;
      return [...files].map((name) => ({ name, size: 3 }));
    },
    remove: async (name: string) => void files.delete(name),
  };
  const report = (outcome: string, message: string) => void reports.push(`${outcome} ${message}`);
  const times = { intervalMs: 6 * hour, keep: 3 };
  const ended = scheduleBackups(
    { ...times, store, create, report, clock, random: new SeededRandom(1), log: silentLogger },
    stop.signal,
  );
  const end = () => {
    stop.abort();
    return ended;
  };
  return { clock, reports, end };
}

test('backups are created a minute after the start and then at the interval; the newest are kept', async () => {
  const files = new Set<string>();
  const { clock, reports, end } = running(files);
  for (let n = 0; n < 24 * 4; n++) await clock.advance(hour / 4);
  await end();
  assert.equal(reports.length, 4);
  assert.match(
    reports[0] ?? '',
    /^BackupCreated .*minik8s-2026-11-29T00-01-00Z-x4k2p.tar.zst: 1 keys at revision 2, 3 bytes$/,
  );
  assert.deepEqual(
    [...files].sort(),
    ['29T06', '29T12', '29T18'].map((time) => `minik8s-2026-11-${time}-01-00Z-x4k2p.tar.zst`),
  );
});

test('a restart waits for the rest of the interval', async () => {
  const { clock, reports, end } = running(new Set(['minik8s-2026-11-28T20-00-00Z.tar.zst']));
  await clock.advance(1.9 * hour);
  assert.deepEqual(reports, []);
  await clock.advance(0.2 * hour);
  assert.equal(reports.length, 1);
  await end();
});

test('a backup that was created is not reported as failed when the old ones cannot be listed', async () => {
  const files = new Set<string>();
  const { clock, reports, end } = running(files, undefined, () =>
    files.size === 1 ? new Error('the disk does not answer') : undefined,
  );
  await clock.advance(5 * hour);
  assert.deepEqual(
    reports.map((report) => report.split(' ', 1)[0]),
    ['BackupCreated'],
  );
  await end();
});

test('a failure is reported, removes nothing, and is tried again with growing delays', async () => {
  const old = [24, 25, 26, 27].map((day) => `minik8s-2026-11-${day}T20-00-00Z.tar.zst`);
  const files = new Set(old);
  let full = true;
  const { clock, reports, end } = running(files, () => (full ? new Error('no space left') : undefined));
  for (let n = 0; n < 30; n++) await clock.advance(60_000);
  assert.ok(reports.length >= 3 && reports.length <= 6, `${reports.length} reports`);
  assert.equal(reports[0], 'BackupFailed the cluster was not backed up to /backups: no space left');
  assert.deepEqual([...files].sort(), old);
  full = false;
  for (let n = 0; n < 60; n++) await clock.advance(60_000);
  assert.match(reports.at(-1) ?? '', /^BackupCreated /);
  assert.equal(files.size, 3);
  await end();
});
