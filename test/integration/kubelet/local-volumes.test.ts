/**
 * Folders of local volumes with the real kernel, after containers have tried to abuse them: which folders are
 * removed, and which never are.
 */
import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { PersistentVolume } from '../../../src/api/core/v1/types.gen.ts';
import { persistentVolumeResource } from '../../../src/api/core/v1/volume/persistent-volume.ts';
import { newConflict, newNotFound } from '../../../src/apimachinery/status-error.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { Client, ClientWatchOptions } from '../../../src/client/client.ts';
import { choreSteps } from '../../../src/kubelet/volumes/chore-steps.ts';
import { LocalVolumes, localVolumesDirectory } from '../../../src/kubelet/volumes/local-volumes.ts';
import { unmountUnder } from '../../../src/kubelet/volumes/mounts.ts';
import { Shares } from '../../../src/kubelet/volumes/shares.ts';
import { VolumeChores } from '../../../src/kubelet/volumes/volume-chores.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { hostileTrees } from '../../fixtures/hostile-trees.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { volume } from '../../unit/controllers/volumes/objects.ts';

describe('folders of local volumes', () => {
  let root: string;
  const dataDir = () => join(root, 'data');
  const folders = () => localVolumesDirectory(dataDir());
  const outside = () => join(root, 'outside');
  const stored = new Map<string, PersistentVolume>();
  let clock: FakeClock;

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'minik8s-local-volumes-'));
  });
  after(async () => {
    await unmountUnder(root, systemExec);
    rmSync(root, { recursive: true });
  });
  beforeEach(() => {
    clock = new FakeClock();
    stored.clear();
    mkdirSync(join(outside(), 'inner'), { recursive: true });
    writeFileSync(join(outside(), 'inner', 'file'), 'others');
  });
  const assertOthersKept = () => {
    assert.deepEqual(readdirSync(outside()), ['inner']);
    assert.deepEqual(readdirSync(join(outside(), 'inner')), ['file']);
  };

  const client = {
    resource: () => ({
      list: async () => ({ items: [...stored.values()], metadata: { resourceVersion: '1' } }),
      async *watch({ signal }: ClientWatchOptions) {
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
      get: async (name: string) =>
        stored.get(name) ?? Promise.reject(newNotFound(persistentVolumeResource, name)),
      updateStatus: async (next: PersistentVolume) => {
        stored.set(next.metadata.name, next);
        return next;
      },
    }),
  } as unknown as Client;

  const nodeName = 'n1';
  const agent = (exec: Exec = systemExec) => new LocalVolumes({ dataDir: dataDir(), nodeName, exec });
  const choresOf = (exec: Exec = systemExec, api: Client = client) =>
    new VolumeChores({
      ...{ nodeName, client: api, clock, random: new SeededRandom(1), log: silentLogger },
      run: choreSteps({
        ...{ dataDir: dataDir(), engineDirectory: () => undefined, exec, localVolumes: agent(exec) },
        shares: new Shares({ dataDir: dataDir(), exec }),
        claims: { isShared: () => false },
      }),
    });
  const made = (name: string, over: Parameters<typeof volume>[1] = {}) =>
    volume(name, {
      metadata: {
        labels: { 'minik8s.io/node': 'n1' },
        annotations: { 'pv.kubernetes.io/provisioned-by': 'minik8s.io/local' },
        ...over.metadata,
      },
      spec: {
        hostPath: undefined,
        local: { path: join(folders(), name) },
        persistentVolumeReclaimPolicy: 'Delete',
        ...over.spec,
      },
      status: { phase: 'Released', ...over.status },
    });
  const going = { finalizers: ['minik8s.io/folder'], deletionTimestamp: '2026-01-01T00:00:00Z' };
  const asGoing = (one: PersistentVolume): PersistentVolume => ({
    ...one,
    metadata: { ...one.metadata, ...going },
  });
  const folderOf = async (name: string) => {
    await agent().make(made(name));
    return join(folders(), name);
  };
  const reasonOf = (name: string) => stored.get(name)?.status?.reason;

  /** Runs an agent with these volumes until `done` returns true. */
  async function run(volumes: readonly PersistentVolume[], done: () => boolean, exec?: Exec): Promise<void> {
    for (const one of volumes) stored.set(one.metadata.name, one);
    const stop = new AbortController();
    const running = choresOf(exec).run(stop.signal);
    try {
      await eventually(systemClock, 'it is done', async () => done() || undefined);
    } finally {
      stop.abort();
      await running;
    }
  }
  const removed = (name: string, exec?: Exec) =>
    run([asGoing(made(name))], () => reasonOf(name) === 'FolderRemoved', exec);

  it('are created once, for any user of the pods, and keep their content', async () => {
    const folder = await folderOf('pvc-1');
    assert.equal((lstatSync(folder).mode & 0o7777).toString(8), '777');
    writeFileSync(join(folder, 'file'), '');
    await folderOf('pvc-1');
    assert.deepEqual(readdirSync(folder), ['file']);
    assert.deepEqual(readdirSync(folders()), ['pvc-1']);
  });

  it('are reported as removed although another client writes the volume at that moment', async () => {
    await folderOf('pvc-1');
    const stop = new AbortController();
    let conflicts = 0;
    const writing = {
      resource: () => ({
        ...(client.resource(persistentVolumeResource) as object),
        async updateStatus(next: PersistentVolume) {
          if (conflicts++ === 0) {
            // The other client's write is seen before the answer to this write.
            const going = asGoing(made('pvc-1'));
            const metadata = { ...going.metadata, resourceVersion: 'later' };
            const other = { ...going, metadata, status: { phase: 'Released', message: 'other' } };
            stored.set('pvc-1', other);
            chores.apply({ type: 'MODIFIED', object: other });
            throw newConflict(persistentVolumeResource, 'pvc-1', 'changed');
          }
          stored.set('pvc-1', next);
          return next;
        },
      }),
    } as unknown as Client;
    const chores = choresOf(systemExec, writing);
    stored.set('pvc-1', asGoing(made('pvc-1')));
    const running = chores.run(stop.signal);
    try {
      await eventually(
        systemClock,
        'the removal is reported',
        async () => reasonOf('pvc-1') === 'FolderRemoved' || undefined,
      );
    } finally {
      stop.abort();
      await running;
    }
  });

  const hostile: Readonly<Record<string, (folder: string) => Promise<void> | void>> = {
    'that was removed before': (folder) => rmSync(folder, { recursive: true }),
    ...hostileTrees(outside),
    'that is a link itself': (folder) => {
      rmSync(folder, { recursive: true });
      symlinkSync(outside(), folder);
    },
    'that is a file': (folder) => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, '');
    },
    'with mounts of other folders': async (folder) => {
      mkdirSync(join(folder, 'bound'));
      mkdirSync(join(folder, 'tmp'));
      await systemExec('mount', ['--bind', outside(), join(folder, 'bound')]);
      await systemExec('mount', ['--bind', outside(), join(folder, 'bound')]);
      await systemExec('mount', ['-t', 'tmpfs', 'tmpfs', join(folder, 'tmp')]);
    },
    'with a mount on itself': async (folder) => {
      await systemExec('mount', ['--bind', outside(), folder]);
    },
  };
  for (const [what, make] of Object.entries(hostile))
    it(`a folder ${what} is removed, and nothing outside of it`, async () => {
      const kept = await folderOf('pvc-kept');
      writeFileSync(join(kept, 'data'), '');
      const folder = await folderOf('pvc-2');
      await make(folder);
      await removed('pvc-2');
      assert.equal(lstatSync(folder, { throwIfNoEntry: false }), undefined);
      assertOthersKept();
      assert.deepEqual(readdirSync(kept), ['data']);
      assert.ok(readdirSync(folders()).includes('pvc-kept'));
    });

  it('a folder in which a pod creates files during the removal is removed in the end', async () => {
    const folder = await folderOf('pvc-3');
    let rounds = 0;
    const busy: Exec = async (file, args, options) => {
      const result = await systemExec(file, args, options);
      if (file !== 'rm' || rounds++ > 1) return result;
      mkdirSync(folder, { recursive: true });
      symlinkSync(outside(), join(folder, `late-${rounds}`));
      throw new Error('rm: cannot remove: Directory not empty');
    };
    const waits = setInterval(() => void clock.advance(1000), 5);
    try {
      await removed('pvc-3', busy);
    } finally {
      clearInterval(waits);
    }
    assert.equal(rounds, 3);
    assert.equal(existsSync(folder), false);
    assertOthersKept();
  });

  it('have the reason in the status of their volume if they cannot be removed', async () => {
    await folderOf('pvc-4');
    const failing: Exec = () => Promise.reject(new Error('it is stuck'));
    await run([asGoing(made('pvc-4'))], () => stored.get('pvc-4')?.status?.phase === 'Failed', failing);
    assert.equal(stored.get('pvc-4')?.status?.message, 'it is stuck');
    assert.ok(existsSync(join(folders(), 'pvc-4')));
  });

  const path = (name: string) => ({ spec: { local: { path: name } } });
  const others: Readonly<Record<string, () => PersistentVolume>> = {
    'is not being deleted': () => made('pvc-5'),
    'is bound': () => asGoing(made('pvc-5', { status: { phase: 'Bound' } })),
    'has the policy Retain': () =>
      asGoing(made('pvc-5', { spec: { persistentVolumeReclaimPolicy: 'Retain' } })),
    'is on another node': () => asGoing(made('pvc-5', { metadata: { labels: { 'minik8s.io/node': 'n2' } } })),
    'a user has created': () => asGoing(made('pvc-5', { metadata: { annotations: {} } })),
    'has a path outside of the directory of local volumes': () => asGoing(made('pvc-5', path(outside()))),
    'has a path above the directory of local volumes': () =>
      asGoing(made('pvc-5', path(join(folders(), 'pvc-5', '..', '..')))),
    'has a path inside the folder of another volume': () =>
      asGoing(made('pvc-5', path(join(folders(), 'pvc-kept', 'pvc-5')))),
  };
  for (const [what, one] of Object.entries(others))
    it(`the folder of a volume that ${what} stays`, async () => {
      const folder = await folderOf('pvc-5');
      writeFileSync(join(folder, 'data'), '');
      await folderOf('pvc-last');
      // The last volume is processed after this one, so this one was processed when the last one is removed.
      await run([one(), asGoing(made('pvc-last'))], () => reasonOf('pvc-last') === 'FolderRemoved');
      assert.notEqual(reasonOf('pvc-5'), 'FolderRemoved');
      assert.deepEqual(readdirSync(folder), ['data']);
      assertOthersKept();
    });
});
