import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Disk, diskChecks } from '../../../../src/doctor/checks/disk.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

const gigabyte = 1e9;
const disk = (free: number, what: Disk['what'] = 'data', inodes = { free: 50, size: 100 }): Disk => ({
  ...{ path: '/d', what, inodes },
  bytes: { free: free * gigabyte, size: 100 * gigabyte },
});
const at = (name: string, disks: readonly Disk[], syncs?: readonly number[]) =>
  linesOf(observe(diskChecks, name, { disks, ...(syncs && { syncs }) }));

describe('checks of disks', () => {
  const cases: readonly [free: number, what: Disk['what'], severity: string][] = [
    [50, 'data', 'ok'],
    [10, 'data', 'ok'],
    [9.9, 'data', 'warning'],
    [4.9, 'data', 'fault'],
    [15, 'images', 'ok'],
    [14.9, 'images', 'warning'],
    [4.9, 'images', 'fault'],
  ];
  for (const [free, what, severity] of cases)
    it(`report ${severity} with ${free} of 100 GB free for ${what}`, () =>
      assert.match(
        at('disk-space', [disk(free, what)])[0] ?? '',
        new RegExp(`^${severity}: /d \\(${what}\\) has ${Math.floor(free * 1000)} MB`),
      ));

  it('require room for a file of the log of etcd', () => {
    const small = { ...disk(50), bytes: { free: 200 * 2 ** 20, size: 300 * 2 ** 20 } };
    assert.match(
      at('disk-space', [small])[0] ?? '',
      /^fault: .* # find \/d -xdev -type f -size \+10M -exec ls -lS \{\} \+$/,
    );
  });

  it('advise removing unused images on a disk of images', () =>
    assert.match(at('disk-space', [disk(1, 'images')])[0] ?? '', / # docker system prune --all --force$/));

  it('require free inodes if their number is fixed', () => {
    assert.deepEqual(at('disk-inodes', [disk(50, 'data', { free: 0, size: 0 })]), []);
    assert.match(at('disk-inodes', [disk(50, 'data', { free: 5, size: 100 })])[0] ?? '', /^ok/);
    assert.match(
      at('disk-inodes', [disk(50, 'data', { free: 4, size: 100 })])[0] ?? '',
      /^fault: .*4 of 100 inodes/,
    );
  });

  it('report writes that are synchronised slowly', () => {
    assert.deepEqual(at('disk-sync', [], [1, 10]), ['ok: the slowest of 2 synchronised writes took 10.0 ms']);
    assert.match(at('disk-sync', [], [11])[0] ?? '', /^note/);
    assert.match(at('disk-sync', [], [101])[0] ?? '', /^warning/);
    assert.deepEqual(at('disk-sync', []), []);
  });
});
