/** Shortages of a node, and the messages about them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  defaultEvictionHard,
  isUnder,
  type NodeUsage,
  neverUnderPressure,
  type Pressure,
  parseThresholds,
  pressureTransitionMs,
  rememberPressure,
  type Shortage,
  shortagesOf,
  shortageText,
} from '../../../../../src/kubelet/node/plan/eviction-thresholds.ts';
import { now } from '../../builders.ts';

const Mi = 2 ** 20;
const Gi = 2 ** 30;
const disk = { size: 100 * Gi, available: 50 * Gi, inodes: 1000, inodesFree: 500 };
const plenty: NodeUsage = {
  memory: { size: 8 * Gi, available: 4 * Gi },
  nodefs: disk,
  pids: { size: 32_768, available: 30_000 },
};
/** Returns `SIGNAL PRESSURE RESOURCE AVAILABLE<THRESHOLD` for each shortage. */
const shortOf = (usage: Partial<NodeUsage>, thresholds = defaultEvictionHard) =>
  shortagesOf({ ...plenty, ...usage }, parseThresholds(thresholds)).map(
    ({ signal, pressure, resource, available, threshold }) =>
      `${signal} ${pressure} ${resource} ${available}<${threshold}`,
  );

describe('a node is short', () => {
  const cases: { what: string; usage: Partial<NodeUsage>; short: string[] }[] = [
    { what: 'of nothing', usage: {}, short: [] },
    {
      what: 'of nothing exactly at the threshold of memory',
      usage: { memory: { size: Gi, available: 100 * Mi } },
      short: [],
    },
    {
      what: 'of memory',
      usage: { memory: { size: Gi, available: 100 * Mi - 1 } },
      short: [`memory.available MemoryPressure memory ${100 * Mi - 1}<${100 * Mi}`],
    },
    {
      what: 'of nothing exactly at the threshold of its disk',
      usage: { nodefs: { ...disk, available: 10 * Gi } },
      short: [],
    },
    {
      what: 'of disk',
      usage: { nodefs: { ...disk, available: 10 * Gi - 1 } },
      short: [`nodefs.available DiskPressure ephemeral-storage ${10 * Gi - 1}<${10 * Gi}`],
    },
    {
      what: 'of inodes',
      usage: { nodefs: { ...disk, inodesFree: 49 } },
      short: ['nodefs.inodesFree DiskPressure inodes 49<50'],
    },
    {
      what: "of the engine's own file system",
      usage: { imagefs: { ...disk, available: Gi, inodesFree: 1 } },
      short: [
        `imagefs.available DiskPressure ephemeral-storage ${Gi}<${10 * Gi}`,
        'imagefs.inodesFree DiskPressure inodes 1<50',
      ],
    },
    {
      what: 'of processes, by a percentage that is rounded down',
      usage: { pids: { size: 1019, available: 49 } },
      short: ['pid.available PIDPressure pids 49<50'],
    },
    {
      what: 'of nothing exactly at the rounded percentage of processes',
      usage: { pids: { size: 1019, available: 50 } },
      short: [],
    },
  ];
  for (const { what, usage, short } of cases) it(what, () => assert.deepEqual(shortOf(usage), short));

  it('never of inodes if the file system does not count inodes', () => {
    const usage = { nodefs: { ...disk, inodes: 0, inodesFree: 0 } };
    assert.deepEqual(shortOf(usage), []);
    assert.deepEqual(shortOf(usage, 'nodefs.inodesFree<1k'), []);
    assert.deepEqual(shortOf({ nodefs: { ...disk, inodes: 1, inodesFree: 0 } }, 'nodefs.inodesFree<1k'), [
      'nodefs.inodesFree DiskPressure inodes 0<1000',
    ]);
  });
});

describe('thresholds', () => {
  it('are read in the notation of the kubelet', () => {
    assert.deepEqual(parseThresholds(' memory.available<1Gi, nodefs.available<7.5% ,'), [
      { signal: 'memory.available', amount: Gi },
      { signal: 'nodefs.available', fraction: 0.075 },
    ]);
    assert.deepEqual(parseThresholds(''), []);
    assert.deepEqual(parseThresholds(' '), []);
  });

  for (const [bad, message] of [
    ['memory.available', /^expected SIGNAL<AMOUNT .*; signals: memory\.available, nodefs\.available, /],
    ['memory<1Gi', /^expected SIGNAL<AMOUNT/],
    ['toString<1Gi', /^expected SIGNAL<AMOUNT/],
    ['<1Gi', /^expected SIGNAL<AMOUNT/],
    ['a<b<c', /^expected SIGNAL<AMOUNT/],
    ['memory.available<', /^expected an amount such as 100Mi or 10%, not ""$/],
    ['nodefs.available<x', /^expected an amount such as 100Mi or 10%, not "x"$/],
    ['nodefs.available<1Gi<2Gi', /^expected an amount such as 100Mi or 10%, not "1Gi<2Gi"$/],
    ['memory.available<-1Gi', /^expected an amount such as 100Mi or 10%, not "-1Gi"$/],
    ['memory.available<-1n', /^expected an amount such as 100Mi or 10%, not "-1n"$/],
    ['nodefs.available<-5%', /^expected an amount such as 100Mi or 10%, not "-5%"$/],
    ['pid.available<100%', /^pid\.available: expected less than 100%$/],
  ] as const) {
    it(`are refused: ${bad}`, () => assert.throws(() => parseThresholds(bad), { name: 'Error', message }));
  }

  it('may be just below the whole capacity', () => {
    assert.deepEqual(parseThresholds('pid.available<99.5%'), [{ signal: 'pid.available', fraction: 0.995 }]);
  });
});

describe('a shortage', () => {
  const shortage = (resource: Shortage['resource'], threshold: number, available: number): Shortage => ({
    pressure: 'DiskPressure',
    signal: 'nodefs.available',
    resource,
    threshold,
    available,
  });
  for (const [found, text] of [
    [shortage('memory', 100 * Mi, 80 * Mi + 1023), 'memory. Threshold quantity: 100Mi, available: 80Mi. '],
    [
      shortage('ephemeral-storage', Gi + 1024, 0),
      'ephemeral-storage. Threshold quantity: 1048577Ki, available: 0. ',
    ],
    [shortage('inodes', 2048, 1024), 'inodes. Threshold quantity: 2048, available: 1024. '],
    [shortage('pids', 2048, 1024), 'pids. Threshold quantity: 2048, available: 1024. '],
  ] as const) {
    it(`is worded as upstream: ${text}`, () =>
      assert.equal(shortageText(found), `The node was low on resource: ${text}`));
  }

  it('is reported as pressure for five minutes after it was last observed', () => {
    const found = shortage('inodes', 2, 1);
    const [first, last] = [now, now + 60_000];
    const memory = rememberPressure(
      rememberPressure(rememberPressure(neverUnderPressure, [found], first), [found], last),
      [],
      last + 1,
    );
    const under = (pressure: Pressure, at: number) => isUnder(memory, pressure, at);
    assert.equal(pressureTransitionMs, 300_000);
    assert.deepEqual(
      [first, last, last + 299_999, last + 300_000].map((at) => under('DiskPressure', at)),
      [true, true, true, false],
    );
    assert.deepEqual([under('MemoryPressure', last), under('PIDPressure', last)], [false, false]);
    assert.equal(isUnder(neverUnderPressure, 'DiskPressure', 0), false);
  });
});
