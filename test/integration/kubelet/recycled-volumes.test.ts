/**
 * Volumes that are emptied for their next user, with the real kernel, after containers have tried to abuse
 * them.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { PersistentVolume } from '../../../src/api/core/v1/types.gen.ts';
import { persistentVolumeResource } from '../../../src/api/core/v1/volume/persistent-volume.ts';
import { newNotFound } from '../../../src/apimachinery/status-error.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { Client, ClientWatchOptions } from '../../../src/client/client.ts';
import { choreSteps } from '../../../src/kubelet/volumes/chore-steps.ts';
import { LocalVolumes } from '../../../src/kubelet/volumes/local-volumes.ts';
import { mountsUnder, unmountUnder } from '../../../src/kubelet/volumes/mounts.ts';
import { Shares } from '../../../src/kubelet/volumes/shares.ts';
import { VolumeChores } from '../../../src/kubelet/volumes/volume-chores.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { hostileTrees } from '../../fixtures/hostile-trees.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { referenceTo, volume } from '../../unit/controllers/volumes/objects.ts';

describe('volumes to be emptied', () => {
  let root: string;
  let clock: FakeClock;
  const stored = new Map<string, PersistentVolume>();
  let push: (object: PersistentVolume) => void = () => {};
  const dataDir = () => join(root, 'data', 'kubelet');
  const folder = () => join(root, 'volumes', 'v');
  const outside = () => join(root, 'outside');
  const statusOf = () => stored.get('v')?.status;

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'minik8s-recycled-volumes-'));
  });
  after(async () => {
    await unmountUnder(root, systemExec);
    rmSync(root, { recursive: true });
  });
  beforeEach(async () => {
    await unmountUnder(root, systemExec);
    clock = new FakeClock();
    stored.clear();
    rmSync(join(root, 'volumes'), { recursive: true, force: true });
    mkdirSync(folder(), { recursive: true });
    mkdirSync(join(outside(), 'inner'), { recursive: true });
    writeFileSync(join(outside(), 'inner', 'file'), 'others');
  });
  const assertOthersKept = () => {
    assert.deepEqual(readdirSync(outside()), ['inner']);
    assert.equal(readFileSync(join(outside(), 'inner', 'file'), 'utf8'), 'others');
    assert.ok(existsSync('/etc/passwd'));
  };

  const client = {
    resource: () => ({
      list: async () => ({ items: [...stored.values()], metadata: { resourceVersion: '1' } }),
      async *watch({ signal }: ClientWatchOptions) {
        while (!signal.aborted) {
          const object = await new Promise<PersistentVolume | undefined>((resolve) => {
            push = resolve;
            signal.addEventListener('abort', () => resolve(undefined));
          });
          if (object) yield { type: 'MODIFIED', object };
        }
      },
      get: async (name: string) =>
        stored.get(name) ?? Promise.reject(newNotFound(persistentVolumeResource, name)),
      updateStatus: async (next: PersistentVolume) => {
        stored.set(next.metadata.name, next);
        return next;
      },
    }),
  } as unknown as Client;

  const asGiven = (path = folder(), over: Partial<PersistentVolume['spec']> = {}) =>
    volume('v', {
      metadata: { labels: { 'minik8s.io/node': 'n1' } },
      spec: {
        hostPath: { path, type: '' },
        persistentVolumeReclaimPolicy: 'Recycle',
        claimRef: referenceTo('c'),
        ...over,
      },
      status: { phase: 'Released' },
    });

  interface Run {
    readonly exec?: Exec;
    readonly inUse?: () => boolean;
    readonly volume?: PersistentVolume;
  }
  /** Runs an agent until `done` returns true. Its pauses end at once. */
  async function run(done: () => boolean, { exec = systemExec, inUse = () => false, ...more }: Run = {}) {
    const given = more.volume ?? asGiven();
    stored.set('v', given);
    const stop = new AbortController();
    const chores = new VolumeChores({
      ...{ nodeName: 'n1', client, clock, random: new SeededRandom(1), log: silentLogger },
      run: choreSteps({
        ...{ dataDir: dataDir(), engineDirectory: () => '/var/lib/docker', exec },
        localVolumes: new LocalVolumes({ dataDir: dataDir(), nodeName: 'n1', exec }),
        shares: new Shares({ dataDir: dataDir(), exec }),
        claims: { isShared: inUse },
      }),
    });
    const running = chores.run(stop.signal);
    const waits = setInterval(() => void clock.advance(300_000), 5);
    try {
      await eventually(systemClock, 'it is done', async () => done() || undefined);
    } finally {
      stop.abort();
      clearInterval(waits);
      await running;
    }
    await eventually(systemClock, 'nothing stays mounted', async () => {
      const left = await mountsUnder(dataDir());
      return left.length === 0 || undefined;
    });
  }
  const isEmptied = () => statusOf()?.reason === 'Emptied';
  const isStuck = () => statusOf()?.reason === 'Stuck';
  const stuck = async (how: Run = {}) => {
    await run(isStuck, how);
    return statusOf()?.message ?? '';
  };

  for (const [what, fill] of Object.entries(hostileTrees(outside)))
    it(`a volume ${what} is emptied, and keeps its own mode and owner`, async () => {
      chmodSync(folder(), 0o2750);
      await fill(folder());
      await run(isEmptied);
      assert.deepEqual(readdirSync(folder()), []);
      assert.equal((statSync(folder()).mode & 0o7777).toString(8), '2750');
      assert.equal(statusOf()?.phase, 'Released');
      assertOthersKept();
    });

  it('the other names of a removed hard link stay', async () => {
    linkSync(join(outside(), 'inner', 'file'), join(folder(), 'same'));
    await run(isEmptied);
    assertOthersKept();
  });

  it('links that replace directories in the meantime are not followed', async () => {
    const program = `
      const fs = require('node:fs');
      const [folder, outside] = process.argv.slice(1);
      process.stdout.write('ready');
      for (;;) {
        try {
          fs.mkdirSync(folder + '/d/inner', { recursive: true });
          fs.writeFileSync(folder + '/d/inner/file', '');
          fs.renameSync(folder + '/d', folder + '/was');
          fs.symlinkSync(outside, folder + '/d');
          fs.rmSync(folder + '/was', { recursive: true, force: true });
          fs.unlinkSync(folder + '/d');
        } catch {}
      }`;
    const swapper = spawn(process.execPath, ['--eval', program, folder(), outside()], { stdio: 'pipe' });
    const ended = once(swapper, 'exit');
    await once(swapper.stdout, 'data');
    let rounds = 0;
    const counting: Exec = async (file, args, options) => {
      if (file === 'find' && rounds++ > 40) swapper.kill('SIGKILL');
      try {
        return await systemExec(file, args, options);
      } finally {
        // Adds another file, whatever the result was.
        if (file === 'find' && rounds <= 40) writeFileSync(join(folder(), `more-${rounds}`), '');
      }
    };
    try {
      await run(isEmptied, { exec: counting });
    } finally {
      swapper.kill('SIGKILL');
      await ended;
    }
    assert.ok(rounds > 40);
    assertOthersKept();
  });

  for (const [what, mount] of [
    ['the same file system', () => systemExec('mount', ['--bind', outside(), join(folder(), 'in')])],
    ['another file system', () => systemExec('mount', ['-t', 'tmpfs', 'tmpfs', join(folder(), 'in')])],
  ] as const) {
    it(`keep a mount of ${what} inside them, and report an error`, async () => {
      mkdirSync(join(folder(), 'in'));
      writeFileSync(join(folder(), 'own'), '');
      await mount();
      assert.match(await stuck(), /in['’]?: Device or resource busy/);
      assert.deepEqual(readdirSync(folder()), ['in']);
      assertOthersKept();
    });
    it(`keep a mount of ${what} that is made while they are emptied`, async () => {
      mkdirSync(join(folder(), 'in'));
      const late: Exec = async (file, args, options) => {
        if (file === 'find') await mount();
        return systemExec(file, args, options);
      };
      assert.match(await stuck({ exec: late }), /Device or resource busy/);
      assertOthersKept();
    });
  }

  it('fail if a file cannot be removed, and are emptied once it can be', async () => {
    writeFileSync(join(folder(), 'fixed'), '');
    writeFileSync(join(folder(), 'other'), '');
    await systemExec('chattr', ['+i', join(folder(), 'fixed')]);
    try {
      assert.match(await stuck(), /fixed['’]?: Operation not permitted/);
      assert.deepEqual([readdirSync(folder()), statusOf()?.phase], [['fixed'], 'Failed']);
    } finally {
      await systemExec('chattr', ['-i', join(folder(), 'fixed')]);
    }
    await run(isEmptied);
    assert.deepEqual(readdirSync(folder()), []);
  });

  it('a path with a link in it is not followed', async () => {
    rmSync(join(root, 'volumes'), { recursive: true });
    symlinkSync(outside(), join(root, 'volumes'));
    mkdirSync(join(outside(), 'inner'), { recursive: true });
    try {
      const through = asGiven(join(root, 'volumes', 'inner'));
      assert.match(await stuck({ volume: through }), /volumes is a symbolic link/);
      assert.match(await stuck({ volume: asGiven(join(root, 'volumes')) }), /volumes is a symbolic link/);
      assertOthersKept();
    } finally {
      rmSync(join(root, 'volumes'));
    }
  });

  it('count as emptied if they do not exist, and are rejected if they are files', async () => {
    await run(isEmptied, { volume: asGiven(join(root, 'volumes', 'never', 'made')) });
    const file = join(outside(), 'inner', 'file');
    assert.match(await stuck({ volume: asGiven(file) }), /file" is not a directory/);
    assertOthersKept();
  });

  it('are not emptied if their path is a directory of the system or of this node', async () => {
    for (const path of [
      '/',
      '/etc',
      '/usr/lib',
      '/./var//lib/',
      join(root, 'data'),
      root,
      '/var/lib/docker/x',
    ])
      assert.match(await stuck({ volume: asGiven(path) }), /not emptied|is a directory of the system/, path);
    assertOthersKept();
  });

  it('wait until no pod on the node uses them', async () => {
    writeFileSync(join(folder(), 'file'), '');
    let asked = 0;
    const inUse = () => {
      assert.ok(existsSync(join(folder(), 'file')));
      return ++asked < 4;
    };
    await run(isEmptied, { inUse });
    assert.equal(asked, 4);
  });

  it('are emptied by the next agent if an agent was killed while it emptied them', async () => {
    const target = join(dataDir(), 'emptied', 'v');
    mkdirSync(target, { recursive: true });
    await systemExec('mount', ['--bind', folder(), target]);
    writeFileSync(join(folder(), 'file'), '');
    await run(isEmptied);
    assert.deepEqual(readdirSync(folder()), []);
    assert.equal(existsSync(target), false);
  });

  it('are no longer emptied once a user has changed their policy to Retain', async () => {
    writeFileSync(join(folder(), 'file'), '');
    let killed = false;
    const endless: Exec = (file, args, options) => {
      if (file !== 'find') return systemExec(file, args, options);
      const kept = asGiven(folder(), { persistentVolumeReclaimPolicy: 'Retain' });
      stored.set('v', kept);
      push(kept);
      return systemExec('sleep', ['1000'], options).catch((error: unknown) => {
        killed = true;
        throw error;
      });
    };
    await run(() => killed, { exec: endless });
    assert.deepEqual([readdirSync(folder()), statusOf()?.reason], [['file'], undefined]);
  });

  it('with 100,000 files do not block the agent', async () => {
    await systemExec('sh', ['-c', 'seq 100000 | xargs touch'], { cwd: folder() });
    let turns = 0;
    let counting = false;
    const count = () => {
      turns++;
      if (counting) setImmediate(count);
    };
    const watched: Exec = async (file, args, options) => {
      counting = file === 'find';
      if (counting) count();
      try {
        return await systemExec(file, args, options);
      } finally {
        counting = false;
      }
    };
    await run(isEmptied, { exec: watched });
    assert.deepEqual(readdirSync(folder()), []);
    assert.ok(turns > 100, `${turns} turns of the loop`);
  });
});
