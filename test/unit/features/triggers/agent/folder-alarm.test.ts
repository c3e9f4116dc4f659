/** Events of the kernel about folders, and the folders that are watched. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import {
  type FSWatcher,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  watch,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as loopTurn } from 'node:timers/promises';
import { systemClock } from '../../../../../src/base/clock.ts';
import { FolderAlarm } from '../../../../../src/features/triggers/agent/folder-alarm.ts';
import { eventually } from '../../../../fixtures/eventually.ts';

/** An alarm, and folders of which `z` is always watched. */
function begin(context: TestContext, ...folders: readonly string[]) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'minik8s-folder-alarm-')));
  for (const name of [...folders, 'z']) mkdirSync(join(root, name), { recursive: true });
  const world = { changes: 0 };
  const alarm = new FolderAlarm(() => {
    world.changes++;
  });
  context.after(() => {
    alarm.close();
    rmSync(root, { recursive: true });
  });
  let made = 0;
  return {
    ...{ root, alarm, world },
    look: async (...paths: readonly string[]) => {
      alarm.begin();
      for (const path of [...paths, 'z']) {
        await using folder = await open(join(root, path), 'r');
        await alarm.add(path, folder);
      }
      alarm.end();
    },
    /**
     * Returns the number of events for a new folder in `path`. The kernel keeps the order: a folder that is
     * made in `z` afterwards is reported last.
     */
    heard: async (path: string) => {
      const before = world.changes;
      mkdirSync(join(root, path, `made${made}`));
      mkdirSync(join(root, 'z', `made${made++}`));
      await eventually(systemClock, 'the change is noticed', () => world.changes > before);
      for (let turn = 0; turn < 10; turn++) await loopTurn();
      return world.changes - before - 1;
    },
  };
}

test('each folder of the last reading is watched once, and other folders are not watched any more', async (context) => {
  const { look, heard, alarm } = begin(context, 'a', 'b');
  await look('a', 'b');
  assert.deepEqual([await heard('a'), await heard('b')], [1, 1]);
  await look('a', 'b');
  assert.deepEqual([await heard('a'), await heard('b')], [1, 1]);
  await look('b');
  assert.deepEqual([await heard('a'), await heard('b')], [0, 1]);
  await look('a', 'b');
  assert.deepEqual([await heard('a'), await heard('b')], [1, 1], 'one that comes back is watched again');
  assert.equal(alarm.fault, undefined);
});

test('an existing folder keeps its watch, so that no event is lost between two watches', async (context) => {
  const { look } = begin(context, 'a');
  const watches = () =>
    readdirSync('/proc/self/fdinfo')
      .flatMap((fd) => {
        try {
          return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').split('\n');
        } catch {
          return []; // The descriptor was that of the listing.
        }
      })
      .filter((line) => line.startsWith('inotify wd:'));
  await look('a');
  const before = watches();
  assert.ok(before.length >= 2, before.join());
  await look('a');
  assert.deepEqual(watches(), before);
});

test('a watch does not keep the process running', async (context) => {
  const { root, look } = begin(context, 'a');
  const kept = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('FSEvent')).length;
  const before = kept();
  await look('a');
  assert.equal(kept(), before);
  const control = watch(root);
  assert.equal(kept(), before + 1, 'a watch that keeps it is counted');
  control.close();
});

test('a broken watch counts as a change, and the next reading watches the folder again', async (context) => {
  const { root, look, heard, world } = begin(context, 'a');
  // A test cannot make the kernel break a watch, so it raises the event itself.
  const control = watch(root);
  const watchers: FSWatcher[] = [];
  const prototype = Object.getPrototypeOf(control) as { on?: unknown };
  prototype.on = function (this: FSWatcher, ...given: Parameters<FSWatcher['on']>) {
    if (given[0] === 'error') watchers.push(this);
    return EventEmitter.prototype.on.apply(this, given);
  };
  context.after(() => {
    delete prototype.on;
    control.close();
  });
  await look('a');
  const [watcher] = watchers;
  assert.ok(watcher);
  const before = world.changes;
  watcher.emit('error', new Error('the watch is broken'));
  assert.equal(world.changes, before + 1);
  assert.equal(await heard('a'), 0);
  await look('a');
  assert.equal(await heard('a'), 1);
  // A late error of the old watch does not end the new one.
  watcher.emit('error', new Error('the watch is broken'));
  assert.equal(await heard('a'), 1);
});

test('a folder that replaces another is watched instead of it', async (context) => {
  const { root, look, heard } = begin(context, 'a', 'b');
  await look('a');
  renameSync(join(root, 'a'), join(root, 'old'));
  renameSync(join(root, 'b'), join(root, 'a'));
  // The moved folder has an event of its own.
  await heard('.');
  assert.deepEqual([await heard('old'), await heard('a')], [1, 0]);
  await look('a');
  assert.deepEqual([await heard('old'), await heard('a')], [0, 1]);
});

test('nothing is watched after the end', async (context) => {
  const { root, look, alarm, world } = begin(context, 'a');
  await look('a');
  alarm.close();
  const before = world.changes;
  mkdirSync(join(root, 'a/made'));
  const probe = new FolderAlarm(() => {
    world.changes += 100;
  });
  context.after(() => probe.close());
  probe.begin();
  await using folder = await open(join(root, 'a'), 'r');
  await probe.add('a', folder);
  mkdirSync(join(root, 'a/more'));
  await eventually(systemClock, 'another one notices', () => world.changes >= before + 100);
  assert.equal(world.changes, before + 100);
});

test('a folder that cannot be watched is reported until the next reading', async (context) => {
  const { root, alarm } = begin(context, 'a');
  alarm.begin();
  const folder = await open(join(root, 'a'), 'r');
  const stats = await folder.stat();
  await folder.close();
  // The folder's descriptor is closed already.
  await alarm.add('a', { fd: folder.fd, stat: async () => stats } as unknown as FileHandle);
  alarm.end();
  assert.match(alarm.fault ?? '', /ENOENT/);
  alarm.begin();
  assert.equal(alarm.fault, undefined);
});

test('the lowest existing folder above a missing one is watched, unless a link leads to it', async (context) => {
  const { root, alarm, heard, world } = begin(context, 'a/b', 'c');
  symlinkSync(join(root, 'c'), join(root, 'a/link'));
  for (const [path, watched] of [
    ['a/b/none/of/these', 'a/b'],
    ['a/link/none', 'a'],
  ] as const) {
    alarm.begin();
    const before = world.changes;
    await alarm.addNearest(join(root, path));
    assert.equal(world.changes, before, 'nothing has changed');
    await using folder = await open(join(root, 'z'), 'r');
    await alarm.add('z', folder);
    alarm.end();
    for (const one of ['a', 'a/b', 'c'])
      assert.equal(await heard(one), Number(one === watched), `${path} ${one}`);
  }
});

for (const [made, what] of [
  [['a', 'b'], 'the folder itself is noticed at once'],
  [['a'], 'a folder above it is watched from then on'],
] as const)
  test(`a folder that is created between a reading and the watch of its parents: ${what}`, async (context) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'minik8s-folder-alarm-')));
    const folder = join(root, 'a', 'b');
    let changes = 0;
    class Late extends FolderAlarm {
      override add(path: string, handle: FileHandle): Promise<void> {
        mkdirSync(join(root, ...made), { recursive: true });
        return super.add(path, handle);
      }
    }
    const alarm = new Late(() => {
      changes++;
    });
    context.after(() => {
      alarm.close();
      rmSync(root, { recursive: true });
    });
    alarm.begin();
    await alarm.addNearest(folder);
    alarm.end();
    if (made.length === 1) mkdirSync(folder);
    await eventually(systemClock, 'the change is noticed', () => changes > 0);
  });
