/** Eviction when the node is short of disk: unused images are removed first, then a pod. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Eviction, type EvictionOptions } from '../../../../src/kubelet/node/eviction.ts';
import type { Shortage } from '../../../../src/kubelet/node/plan/eviction-thresholds.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';
import { makePod } from '../builders.ts';

const disk: Shortage = {
  pressure: 'DiskPressure',
  signal: 'nodefs.available',
  resource: 'ephemeral-storage',
  threshold: 100,
  available: 50,
};
const memory: Shortage = {
  ...disk,
  pressure: 'MemoryPressure',
  signal: 'memory.available',
  resource: 'memory',
};

for (const [title, shortage, freeAll, ended, looks] of [
  ['no pod is evicted if removed images freed enough', disk, async () => 60, [], 1],
  ['a pod is evicted if no image can be removed', disk, async () => 0, ['uid-1'], 1],
  [
    'a pod is evicted if images cannot be listed',
    disk,
    async () => Promise.reject(new Error('away')),
    ['uid-1'],
    1,
  ],
  ['no image is removed for lack of memory', memory, async () => 60, ['uid-1'], 0],
] as const) {
  it(title, async () => {
    const gone: string[] = [];
    let looked = 0;
    const eviction = new Eviction({
      workers: { pods: () => [makePod()], end: async (uid: string) => void gone.push(uid) },
      cache: { observe: () => ({ sandboxes: [], containers: [] }) },
      files: { directory: () => '/nowhere' },
      images: {
        freeAll: () => {
          looked++;
          return freeAll();
        },
      },
      groups: undefined,
      exec: async () => ({ stdout: '1\t/nowhere\n', stderr: '' }),
      events: { event: () => undefined },
      log: new RecordingLogger(),
    } as unknown as EvictionOptions);
    eviction.consider([shortage]);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([gone, looked], [ended, looks]);
  });
}
