import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { StorageUse } from '../../../../src/kubelet/node/plan/size-limits.ts';
import { StorageLimits } from '../../../../src/kubelet/node/storage-limits.ts';
import type { PodEnd } from '../../../../src/kubelet/pods/plan/actions.ts';
import type { Exec } from '../../../../src/os/exec.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';
import { makePod } from '../builders.ts';

const limit = 1 << 20;
const disk = (name: string, more: object = { sizeLimit: '1Mi' }) => ({ name, emptyDir: more });

function pod(name: string, volumes: readonly object[], metadata: object = {}, phase = 'Running'): Pod {
  return makePod({ volumes }, { name, uid: name, ...metadata }, { phase });
}

/** The pods of a node, and the usage of each volume `POD/VOLUME`. */
class Machine {
  readonly log = new RecordingLogger();
  readonly ended = new Map<string, PodEnd[]>();
  looks = 0;
  /** Usage by pod. */
  storage: Record<string, StorageUse> = {};
  readonly limits: StorageLimits;

  constructor(pods: readonly Pod[], used: Readonly<Record<string, number>>) {
    const exec: Exec = async (_file, args) => {
      this.looks++;
      const [, owner = '', volume = ''] = /^\/pods\/([^/]+)\/volumes\/([^/]+)$/.exec(args.at(-1) ?? '') ?? [];
      const bytes = used[`${owner}/${volume}`];
      if (bytes === undefined) throw new Error(`nothing is known of ${args.at(-1)}`);
      return { stdout: `${bytes}\t${args.at(-1)}\n`, stderr: '' };
    };
    const end = async (uid: string, how: PodEnd) =>
      void this.ended.set(uid, [...(this.ended.get(uid) ?? []), how]);
    this.limits = new StorageLimits({
      workers: { pods: () => pods, end },
      files: { directory: (uid) => `/pods/${uid}` },
      usage: async (uid) => this.storage[uid] ?? assert.fail(`${uid} is not to be measured`),
      exec,
      log: this.log,
    });
  }
}

test('a pod is evicted if its volume exceeds its limit, and no other pod is', async () => {
  const machine = new Machine(
    [
      pod('more', [disk('v')]),
      pod('all', [disk('v')]),
      pod('free', [disk('v', {})]),
      pod('unknown', [disk('v')]),
    ],
    { 'more/v': limit + 1, 'all/v': limit, 'free/v': 100 * limit },
  );
  await machine.limits.enforce();
  assert.deepEqual([...machine.ended.keys()], ['more']);
  assert.deepEqual(machine.ended.get('more'), [
    {
      reason: 'Evicted',
      message: 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ',
      gracePeriodSeconds: 1,
      signal: 'emptydirfs.limit',
      disruption: false,
    },
  ]);
});

test('a pod is evicted once, for the first of its volumes that exceeds its limit', async () => {
  const machine = new Machine([pod('a', [disk('small', {}), disk('v'), disk('w')])], {
    'a/v': 2 * limit,
    'a/w': 2 * limit,
  });
  await machine.limits.enforce();
  assert.deepEqual(
    machine.ended.get('a')?.map(({ message }) => message),
    ['Usage of EmptyDir volume "v" exceeds the limit "1Mi". '],
  );
});

test('a volume in memory is limited by the kernel', async () => {
  const machine = new Machine([pod('a', [disk('v', { medium: 'Memory', sizeLimit: '1Mi' })])], {
    'a/v': 2 * limit,
  });
  await machine.limits.enforce();
  assert.deepEqual([machine.ended.size, machine.looks], [0, 0]);
});

test('a pod that is being deleted or has ended is not evicted', async () => {
  const leaving = { deletionTimestamp: '2026-01-01T12:00:00Z' };
  const machine = new Machine(
    [
      pod('a', [disk('v')], leaving),
      pod('b', [disk('v')], {}, 'Failed'),
      pod('c', [disk('v')], {}, 'Succeeded'),
    ],
    { 'a/v': 2 * limit, 'b/v': 2 * limit, 'c/v': 2 * limit },
  );
  await machine.limits.enforce();
  assert.deepEqual([...machine.ended], []);
});

test('two checks that are requested at the same time run as one, and a later request starts another', async () => {
  const machine = new Machine([pod('a', [disk('v')])], { 'a/v': 1 });
  await Promise.all([machine.limits.enforce(), machine.limits.enforce()]);
  assert.equal(machine.looks, 1);
  await machine.limits.enforce();
  assert.equal(machine.looks, 2);
});

const container = (name: string, limit?: string) => ({
  name,
  image: 'i',
  ...(limit !== undefined && { resources: { limits: { 'ephemeral-storage': limit } } }),
});
const MiB = 1 << 20;

for (const [title, containers, used, own, message] of [
  [
    'is within its limits',
    [container('a', '1Mi'), container('b', '2Mi')],
    { a: MiB, b: MiB },
    MiB,
    undefined,
  ],
  [
    "exceeds the sum of its containers' limits",
    [container('a', '1Mi'), container('b', '2Mi')],
    { a: MiB, b: MiB },
    MiB + 1,
    'Pod ephemeral local storage usage exceeds the total limit of containers 3Mi. ',
  ],
  [
    'exceeds the sum of the limits, to which a container without a limit adds nothing',
    [container('a', '1Mi'), container('b')],
    { b: MiB + 1 },
    0,
    'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ',
  ],
  [
    'has a container above its limit',
    [container('a', '1Mi'), container('b', '2Mi')],
    { a: MiB + 1 },
    0,
    'Container a exceeded its local ephemeral storage limit "1Mi". ',
  ],
  ['has no limit', [container('a'), container('b', '0')], undefined, 0, undefined],
] as const) {
  test(`a pod that ${title} ${message === undefined ? 'stays' : 'ends'}`, async () => {
    const one = makePod({ containers }, { uid: 'p' }, { phase: 'Running' });
    const machine = new Machine([one], {});
    if (used) machine.storage = { p: { containers: new Map(Object.entries(used)), own } };
    await machine.limits.enforce();
    assert.deepEqual(
      machine.ended.get('p')?.map((end) => end.message),
      message === undefined ? undefined : [message],
    );
  });
}

test('a critical pod is not evicted, whatever it uses', async () => {
  const critical = makePod({ priority: 2_000_000_000, volumes: [disk('v')] }, { uid: 'c' });
  const machine = new Machine([critical], { 'c/v': 2 * limit });
  await machine.limits.enforce();
  assert.equal(machine.ended.size, 0);
});
