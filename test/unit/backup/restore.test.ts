import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { leastRevision } from '../../../src/backup/extract.ts';
import { readMark, restoringMark, writeMark } from '../../../src/backup/restoring-mark.ts';
import { type BackupWorld, backupWorld, database, modeOf, namesIn, now } from './backup-world.ts';

let world: BackupWorld;
let backup: string;
let target: string;
beforeEach(async () => {
  world = backupWorld();
  const dataDir = world.makeData('a', 'first');
  writeFileSync(join(dataDir, 'master.yaml'), 'token: secret\n');
  backup = (await world.create(dataDir)).path;
  world.calls.length = 0;
  target = join(world.directory, 'b');
  mkdirSync(target);
});
afterEach(() => world.remove());

const textOf = (...path: readonly string[]) => readFileSync(join(target, ...path), 'utf8');
const aside = (folder: string) => `${folder}.before-restore-${now}`;

test('a backup is restored into an empty directory: authority, objects and configuration, for the owner alone', async () => {
  const restored = await world.restore(backup, target);
  assert.deepEqual(namesIn(target), ['configuration', 'etcd', 'pki']);
  assert.deepEqual([textOf('pki/ca.key'), textOf('pki/ca.crt')], ['first ca.key', 'first ca.crt']);
  assert.ok(readFileSync(join(target, 'etcd/data/member/snap/db')).subarray(0, -32).equals(database));
  assert.equal(textOf('configuration/master.yaml'), 'token: secret\n');
  const paths = ['pki', 'etcd', 'pki/ca.key', 'configuration/master.yaml'].map((path) => join(target, path));
  assert.deepEqual(paths.map(modeOf), [0o700, 0o700, 0o600, 0o600]);
  assert.deepEqual(restored.configWritten, [join(target, 'configuration/master.yaml')]);
  assert.deepEqual([restored.movedTo, restored.configKept, restored.manifest.revision], [[], [], 42]);
});

test('the restored etcd continues above every write since the backup', async () => {
  await world.restore(backup, target);
  const [, , , , , at, least] = world.calls.find(([verb]) => verb === 'restore-backup') ?? [];
  assert.deepEqual([at, Number(least)], [String(now), leastRevision(42, now)]);
  assert.ok(leastRevision(42, now) >= 42 + 1_000_000_000);
  assert.ok(leastRevision(42, now + 1000) > leastRevision(42, now), 'a later restoration continues higher');
  assert.equal(leastRevision(1e15, now), 1e15 + 1e9, 'a high revision is never lowered');
});

test('a cluster that is there is kept as it is, unless it is to be replaced', async () => {
  world.makeData('b', 'second');
  await assert.rejects(
    world.restore(backup, target),
    (error: Error) =>
      error.message ===
      `there is a cluster in ${target} already: give --replace, which moves its data aside, or another --data-dir`,
  );
  assert.deepEqual([namesIn(target), textOf('pki/ca.key')], [['etcd', 'pki'], 'second ca.key']);
  const { movedTo } = await world.restore(backup, target, { replaces: true });
  assert.deepEqual(
    movedTo,
    ['pki', 'etcd'].map((folder) => join(target, aside(folder))),
  );
  assert.deepEqual(
    [textOf(aside('pki'), 'ca.key'), textOf(aside('etcd'), 'data/of')],
    ['second ca.key', 'second'],
  );
  assert.deepEqual([textOf('pki/ca.key'), existsSync(join(target, 'etcd/data/of'))], ['first ca.key', false]);
});

test('either folder alone counts as a cluster', async () => {
  mkdirSync(join(target, 'etcd'));
  await assert.rejects(world.restore(backup, target), /there is a cluster in/);
});

test('a configuration file that is there is kept, and reported as kept', async () => {
  mkdirSync(join(target, 'configuration'));
  writeFileSync(join(target, 'configuration/master.yaml'), 'own\n');
  const { configKept, configWritten } = await world.restore(backup, target);
  assert.deepEqual([configKept, configWritten], [[join(target, 'configuration/master.yaml')], []]);
  assert.equal(textOf('configuration/master.yaml'), 'own\n');
});

test('the authority alone is restored on request: objects and configuration stay', async () => {
  world.makeData('b', 'second');
  const { movedTo } = await world.restore(backup, target, { replaces: true, onlyPki: true });
  assert.deepEqual(movedTo, [join(target, aside('pki'))]);
  assert.deepEqual(namesIn(target), ['etcd', 'pki', aside('pki')]);
  assert.deepEqual([textOf('pki/ca.key'), textOf('etcd/data/of')], ['first ca.key', 'second']);
});

for (const [field, changed] of [
  ['revision', { revision: 41 }],
  ['number of keys', { keys: 4 }],
] as const)
  test(`a database with another ${field} than the manifest is refused, and nothing is changed`, async () => {
    world.makeData('b', 'second');
    Object.assign(world.status, changed);
    await assert.rejects(
      world.restore(backup, target, { replaces: true }),
      /^BackupError: the backup is damaged: its database has [34] keys at revision 4[12], not 3 at 42$/,
    );
    assert.deepEqual([namesIn(target), textOf('pki/ca.key')], [['etcd', 'pki'], 'second ca.key']);
  });

test('a folder that cannot be moved leaves both as they were, so that the master starts again', async () => {
  world.makeData('b', 'second');
  mkdirSync(join(target, aside('etcd'), 'in-the-way'), { recursive: true });
  await assert.rejects(world.restore(backup, target, { replaces: true }), /ENOTEMPTY|EEXIST/);
  assert.deepEqual(namesIn(target), ['etcd', aside('etcd'), 'pki']);
  assert.deepEqual([textOf('pki/ca.key'), textOf('etcd/data/of')], ['second ca.key', 'second']);
});

test('a link in the place of a folder is refused before anything is moved', async () => {
  world.makeData('c', 'second');
  mkdirSync(join(target, 'etcd'));
  symlinkSync(join(world.directory, 'c/pki'), join(target, 'pki'));
  await assert.rejects(
    world.restore(backup, target, { replaces: true }),
    /pki is a mount point or a link, which restore cannot replace/,
  );
  assert.deepEqual([namesIn(target), world.calls], [['etcd', 'pki'], []]);
});

/** Returns the content of the directory's files by their paths, without data that were moved aside. */
const contentOf = (directory: string): readonly (readonly string[])[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !relative(directory, entry.parentPath).includes('.before-restore-'))
    // The file names the inode of the data.
    .filter(({ name }) => name !== 'format')
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => [relative(directory, path), readFileSync(path, 'latin1')])
    .toSorted();

for (const [what, hasCluster] of [
  ['an empty directory', false],
  ['a directory with a cluster', true],
] as const)
  test(`a restoration into ${what} that is killed after any move is completed by the same command`, async () => {
    if (hasCluster) world.makeData('b', 'second');
    const first = await world.restore(backup, target, { replaces: hasCluster });
    const moves = [
      ...(hasCluster ? (['pki', 'etcd'] as const).map((folder) => ['aside', folder] as const) : []),
      ...(['pki', 'etcd'] as const).map((folder) => ['back', folder] as const),
    ];
    for (let done = 0; done <= moves.length; done++) {
      const killed = join(world.directory, `killed-${done}`);
      if (hasCluster) world.makeData(`killed-${done}`, 'second');
      else mkdirSync(killed);
      await writeMark(killed, { folders: ['pki', 'etcd'], at: now });
      for (const [kind, folder] of moves.slice(0, done)) {
        const path = join(killed, folder);
        if (kind === 'aside') renameSync(path, join(killed, aside(folder)));
        else cpSync(join(target, folder), path, { recursive: true });
      }
      const { movedTo } = await world.restore(backup, killed, { now: now + 1 });
      assert.deepEqual(contentOf(killed), contentOf(target), `after ${done} moves`);
      const secondOnes = movedTo.filter((path) =>
        contentOf(path).some(([, text]) => text?.includes('second')),
      );
      assert.equal(secondOnes.length, first.movedTo.length, `after ${done} moves the former data are named`);
    }
  });

test('a repeated restoration that fails leaves the mark of the first one, so that no master starts', async () => {
  world.makeData('b', 'second');
  await writeMark(target, { folders: ['pki', 'etcd'], at: now });
  renameSync(join(target, 'pki'), join(target, aside('pki')));
  mkdirSync(join(target, `etcd.before-restore-${now + 1}`, 'in-the-way'), { recursive: true });
  await assert.rejects(world.restore(backup, target, { now: now + 1 }), /ENOTEMPTY|EEXIST/);
  // Its time names the folders that the first one has moved aside.
  assert.deepEqual(await readMark(target), { folders: ['pki', 'etcd'], at: now });
});

test('the authority alone does not complete the restoration of a whole backup', async () => {
  world.makeData('b', 'half');
  await writeMark(target, { folders: ['pki', 'etcd'], at: now });
  await assert.rejects(world.restore(backup, target, { replaces: true, onlyPki: true }), {
    message: `a restoration of a whole backup into ${target} was interrupted: run minik8s backup restore without --only-pki first`,
  });
  assert.deepEqual(namesIn(target), ['etcd', 'pki', restoringMark]);
});

test('objects are replaced only on request, also after an interrupted restoration of the authority', async () => {
  world.makeData('b', 'second');
  await writeMark(target, { folders: ['pki'], at: now });
  await assert.rejects(world.restore(backup, target), /there is a cluster in .*: give --replace/);
  await world.restore(backup, target, { onlyPki: true });
  assert.deepEqual([textOf('pki/ca.key'), textOf('etcd/data/of')], ['first ca.key', 'second']);
});

test('a configuration that cannot be written leaves the mark, and the next restoration completes it', async () => {
  const configDirectory = join(world.directory, 'link');
  symlinkSync(join(world.directory, 'none/configuration'), configDirectory);
  await assert.rejects(
    world.restore(backup, target, { configDirectory }),
    /link.*; then run minik8s backup restore again, which begins anew$/,
  );
  assert.ok(existsSync(join(target, restoringMark)), 'no master starts');
  const { configWritten } = await world.restore(backup, target, { now: now + 1 });
  assert.deepEqual(configWritten, [join(target, 'configuration/master.yaml')]);
  assert.ok(!existsSync(join(target, restoringMark)));
});

test('a restoration that was interrupted while folders changed places is repeated without --replace', async () => {
  world.makeData('b', 'half');
  writeFileSync(join(target, restoringMark), '');
  const { movedTo } = await world.restore(backup, target);
  assert.equal(movedTo.length, 2);
  assert.deepEqual([textOf('pki/ca.key'), existsSync(join(target, restoringMark))], ['first ca.key', false]);
});
