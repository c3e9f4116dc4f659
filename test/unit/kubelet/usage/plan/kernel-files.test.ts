/** Texts as kernels write them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  inactiveFileBytes,
  memoryInfo,
  memoryLimit,
  overlayUpper,
} from '../../../../../src/kubelet/usage/plan/kernel-files.ts';

describe('/proc/meminfo', () => {
  const text = 'MemTotal:       16316412 kB\nMemFree:          300000 kB\nMemAvailable:    8000000 kB\n';

  it('has the total and the available memory in kibibytes', () => {
    assert.deepEqual(memoryInfo(text), { size: 16_316_412 * 1024, available: 8_000_000 * 1024 });
  });

  it('is refused without the total or the available memory', () => {
    assert.throws(() => memoryInfo(text.replace('MemAvailable', 'Other')), /has no MemAvailable/);
    assert.throws(() => memoryInfo(text.replace('MemTotal', 'XMemTotal')), Error);
    assert.throws(() => memoryInfo(''), Error);
  });
});

describe('a limit of memory', () => {
  for (const [text, limit] of [
    ['104857600\n', 104_857_600],
    ['max\n', undefined],
    ['', undefined],
    [' \n', undefined],
    // cgroup v1 without a limit: the highest multiple of a page.
    ['9223372036854771712\n', undefined],
    [`${2 ** 60}`, undefined],
    [`${2 ** 50}`, 2 ** 50],
    ['0', 0],
  ] as const)
    it(`read from ${JSON.stringify(text)} is ${limit ?? 'absent'}`, () =>
      assert.equal(memoryLimit(text), limit));
});

describe('file pages that can be dropped', () => {
  it('are read from inactive_file in v2', () => {
    assert.equal(inactiveFileBytes('anon 5\ninactive_file 4096\nactive_file 7\n'), 4096);
  });
  it('include the child groups in v1', () => {
    assert.equal(inactiveFileBytes('inactive_file 1\ntotal_inactive_file 8192\n'), 8192);
    assert.equal(inactiveFileBytes('inactive_file 1\ntotal_inactive_file 0\n'), 0);
  });
  it('are 0 without a line about them', () => assert.equal(inactiveFileBytes('anon 5\n'), 0));
});

describe('the writable directory of a container', () => {
  const root = '/var/lib/docker/overlay2/1/diff';
  const line = (mount: string, type: string, options: string) =>
    `500 400 0:50 / ${mount} rw,relatime - ${type} overlay ${options}`;

  it('is that of the overlay at its root', () => {
    const text = [
      line('/proc', 'proc', 'rw'),
      line('/data', 'overlay', 'rw,upperdir=/other'),
      line('/', 'overlay', `rw,lowerdir=/l1:/l2,upperdir=${root},workdir=/w`),
    ].join('\n');
    assert.equal(overlayUpper(text), root);
    assert.equal(overlayUpper(line('/', 'overlay', `upperdir=${root}`)), root);
  });

  it('is undefined if the root is not an overlay, or is read-only', () => {
    assert.equal(overlayUpper(line('/', 'overlayfs', `rw,upperdir=${root}`)), undefined);
    assert.equal(overlayUpper(line('/', 'ext4', `rw,upperdir=${root}`)), undefined);
    assert.equal(overlayUpper(line('/', 'overlay', 'ro,lowerdir=/l1,xupperdir=/x')), undefined);
    assert.equal(overlayUpper(''), undefined);
  });
});
