/** FolderWatches that are added and removed, on a real folder: the changes that each of them reports. */
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Client } from '../../../../../src/client/client.ts';
import { FolderWatches } from '../../../../../src/features/triggers/agent/folder-watches.ts';
import { watchedFolders } from '../../../../../src/features/triggers/agent/watched-folders.ts';
import type { FolderWatch } from '../../../../../src/features/triggers/api/folder-watch.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { pass, passes } from './real-files.ts';

const year = 31_557_600_000;

/** Returns the files that the watch has recorded on disk as reported; `none` before there is a record. */
function remembered(memory: string): string {
  try {
    const { files } = JSON.parse(readFileSync(join(memory, 'default.w.json'), 'utf8'));
    return files.map(([path]: [string]) => path).join();
  } catch {
    return 'none';
  }
}

/** A node that watches folders; the test acts as the cluster. */
function start(context: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'minik8s-folder-watches-')));
  const folder = join(root, 'folder');
  mkdirSync(folder);
  const told: string[] = [];
  const said: string[] = [];
  /** Queries of lists. */
  const asked: object[] = [];
  const world = { held: Promise.resolve(), creating: Promise.resolve(), items: [] as FolderWatch[] };
  const resource = () => ({
    list: async (query: object) => {
      asked.push(query);
      return { metadata: { resourceVersion: '1' }, items: world.items };
    },
    async *watch({ signal }: { signal: AbortSignal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
    create: async ({ spec }: { spec: { type: string; subject: string } }) => {
      told.push(`${spec.type.split('.').at(-1)} ${spec.subject}`);
      await world.creating;
    },
    patch: async (name: string) => {
      said.push(name);
      await world.held;
    },
  });
  const clock = new FakeClock(Date.now());
  const log = new RecordingLogger();
  const begin = () => {
    const watches = new FolderWatches({
      ...{ clock, log, random: new SeededRandom(1), nodeName: 'n1', allowed: [root] },
      client: { resource } as unknown as Client,
      dataDir: join(root, 'data'),
    });
    const stop = new AbortController();
    const running = watches.run(stop.signal);
    const end = async () => {
      stop.abort();
      await running;
    };
    return { watches, end };
  };
  let agent = begin();
  /** Releases of the answers that a test holds back. */
  const releases: (() => void)[] = [];
  context.after(async () => {
    for (const release of releases) release();
    await agent.end();
    rmSync(root, { recursive: true });
  });
  const watchOf = (uid: string, since: number) => {
    const spec = {
      ...{ nodeName: 'n1', trigger: 't', source: 's', folder, path: '', recursive: false },
      ...{ types: ['Created', 'Updated', 'Deleted'], includeContent: false },
      since: new Date(since).toISOString(),
    };
    const metadata = { name: 'w', namespace: 'default', uid, resourceVersion: '1' };
    return { metadata, spec } as unknown as FolderWatch;
  };
  return {
    ...{ folder, told, said, asked, clock, log },
    memory: join(root, 'data', 'watched-folders'),
    apply: (type: 'ADDED' | 'DELETED', uid: string, since: number) => {
      const object = watchOf(uid, since);
      world.items = type === 'ADDED' ? [object] : [];
      agent.watches.apply({ type, object });
    },
    /** Holds back the answers to one kind of request. The agent can end only when they are released. */
    hold: (what: 'held' | 'creating') => {
      const { promise, resolve } = Promise.withResolvers<void>();
      world[what] = promise;
      releases.push(resolve);
      return resolve;
    },
    /** Sets the existing watches, as a list after a watch of the API server was lost. */
    list: (...uids: readonly string[]) => {
      world.items = uids.map((uid) => watchOf(uid, 0));
      agent.watches.replace(world.items);
    },
    restart: async () => {
      await agent.end();
      agent = begin();
    },
    passes: (what: string, probe: () => boolean) => passes(clock, what, probe),
    pass: (ms: number) => pass(clock, ms),
  };
}

test('a watch that is created again under its name does not continue with the files of the previous one', async (context) => {
  const { folder, told, said, hold, apply, passes, pass, log } = start(context);
  writeFileSync(join(folder, 'a'), 'text');
  const release = hold('held');
  // The folder has been watched since a time after the file was written, so that the file counts as reported.
  apply('ADDED', 'one', Date.now() + year);
  await passes('the first one says that it watches', () => said.length === 1);
  apply('DELETED', 'one', Date.now() + year);
  apply('ADDED', 'two', 0);
  // The previous watch ends only with its last request: nothing of its records may be read before.
  await pass(120_000);
  assert.deepEqual(told, []);
  release();
  await passes('the file is reported', () => told.length > 0);
  assert.deepEqual(told, ['created a']);
  assert.deepEqual(log.of('warn'), []);
});

test('a watch that was created again while the node was disconnected or down starts without reported files', async (context) => {
  for (const isRestarted of [false, true]) {
    const { folder, told, memory, list, passes, pass, restart } = start(context);
    writeFileSync(join(folder, 'a'), 'text');
    list('one');
    await passes('the file is reported', () => told.length > 0);
    await passes('it is remembered', () => remembered(memory).includes('a'));
    if (isRestarted) await restart();
    list('two');
    await passes('it is told for the new watch', () => told.length > 1);
    await restart();
    list('two');
    await pass(120_000);
    assert.deepEqual(told, ['created a', 'created a'], 'what a watch has told it does not tell again');
  }
});

test('a recreated watch begins when the last event of its predecessor is stored', async (context) => {
  for (const isHeard of [true, false]) {
    const { folder, told, hold, memory, list, apply, passes, pass, restart } = start(context);
    writeFileSync(join(folder, 'a'), 'text');
    const release = hold('creating');
    list('one');
    await passes('the file is reported', () => told.length === 1);
    if (isHeard) {
      apply('DELETED', 'one', 0);
      apply('ADDED', 'two', 0);
    } else list('two');
    await pass(120_000);
    assert.deepEqual(told, ['created a']);
    release();
    await passes('it is told for the new watch', () => told.length > 1);
    await passes('it is remembered', () => remembered(memory).includes('a'));
    await restart();
    list('two');
    await pass(120_000);
    assert.deepEqual(told, ['created a', 'created a'], 'the memory on disk is that of the new watch');
  }
});

test('a reported file whose record failed is recorded when the disk accepts it, without another change', async (context) => {
  const { folder, told, memory, list, passes, log } = start(context);
  list('one');
  await passes('it begins', () => remembered(memory) === '');
  rmSync(memory, { recursive: true });
  writeFileSync(memory, 'no folder');
  writeFileSync(join(folder, 'a'), 'text');
  await passes('the change is reported', () => told.length > 0 && log.of('warn').length > 0);
  rmSync(memory);
  await passes('it is remembered', () => remembered(memory) === 'a');
  assert.deepEqual(told, ['created a']);
});

test('records of deleted watches, and drafts of a killed agent, are removed', async (context) => {
  const { memory, list, passes } = start(context);
  mkdirSync(memory, { recursive: true });
  for (const name of ['default.gone.json', 'default.w.json.minik8s-1-2', 'notes'])
    writeFileSync(join(memory, name), '');
  list('one');
  await passes('only its own is there, and what is no memory', () => {
    const names = readdirSync(memory).toSorted();
    return JSON.stringify(names) === JSON.stringify(['default.w.json', 'notes']);
  });
});

test('a failed removal of records is logged, and a folder is watched once its files can be recorded', async (context) => {
  const { folder, told, memory, list, passes, log } = start(context);
  mkdirSync(dirname(memory), { recursive: true });
  writeFileSync(memory, 'no folder');
  writeFileSync(join(folder, 'a'), 'text');
  list('one');
  await passes('the change is reported', () =>
    log
      .of('warn')
      .some(({ message }) => message === 'cannot remove the records of folders that are no longer watched'),
  );
  rmSync(memory);
  await passes('the file is reported', () => told.length > 0);
  assert.deepEqual(told, ['created a']);
});

test('a watch that is added and removed while the node runs is started and ended, and belongs to this node', async (context) => {
  const { folder, told, asked, memory, apply, pass, passes, clock } = start(context);
  await passes('the watches are listed', () => asked.length > 0);
  assert.deepEqual(
    asked.map((query) => (query as { fieldSelector?: string }).fieldSelector),
    ['spec.nodeName=n1'],
  );
  writeFileSync(join(folder, 'a'), 'text');
  const since = clock.now();
  apply('ADDED', 'one', 0);
  await passes('it is told and remembered', () => told.length > 0 && remembered(memory) === 'a');
  assert.ok(clock.now() - since < 30_000, 'it does not wait for the next list');
  apply('DELETED', 'one', 0);
  writeFileSync(join(folder, 'b'), 'text');
  await passes('it is forgotten', () => remembered(memory) === 'none');
  await pass(120_000);
  assert.deepEqual(told, ['created a']);
  apply('DELETED', 'never', 0);
  await pass(1000);
});

test('a watch that is still listed continues, and any other has ended', async (context) => {
  const { folder, told, said, list, pass, passes } = start(context);
  list('one');
  await passes('the status is reported', () => said.length > 0);
  list('one');
  await pass(5000);
  assert.equal(said.length, 1, 'it is not begun again');
  list();
  writeFileSync(join(folder, 'a'), 'text');
  await pass(120_000);
  assert.deepEqual(told, []);
});

test('a node ends when its last event is stored, and the records of its watches are cleaned up', async (context) => {
  for (const isDeleted of [false, true]) {
    const { folder, told, hold, memory, apply, passes, pass, restart } = start(context);
    writeFileSync(join(folder, 'a'), 'text');
    const release = hold('creating');
    await pass(1000);
    apply('ADDED', 'one', 0);
    await passes('the file is reported', () => told.length === 1);
    if (isDeleted) apply('DELETED', 'one', 0);
    let isOver = false;
    const ended = restart().then(() => {
      isOver = true;
    });
    await pass(120_000);
    assert.equal(isOver, false, `${isDeleted}: it waits for the answer`);
    release();
    await ended;
    assert.equal(remembered(memory), isDeleted ? 'none' : 'a');
  }
});

test('a node with the feature watches its folders, and without --watch-folder none of them is allowed', async (context) => {
  for (const isAllowed of [true, false]) {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'minik8s-folder-watches-')));
    context.after(() => rmSync(root, { recursive: true }));
    const said: string[] = [];
    const spec = {
      ...{ nodeName: 'n1', trigger: 't', source: 's', folder: root, path: '', recursive: false },
      ...{ types: ['Created'], includeContent: false, since: new Date(0).toISOString() },
    };
    const metadata = { name: 'w', namespace: 'default', uid: 'one', resourceVersion: '1' };
    const clock = new FakeClock(Date.now());
    const { runAsMember } = watchedFolders({ 'watch-folder': isAllowed ? [root] : [] }).start({
      ...{ clock, log: new RecordingLogger(), random: new SeededRandom(1), nodeName: 'n1' },
      client: {
        resource: () => ({
          list: async () => ({ metadata: { resourceVersion: '1' }, items: [{ metadata, spec }] }),
          async *watch({ signal }: { signal: AbortSignal }) {
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
          },
          patch: async (
            _name: string,
            _namespace: string,
            _type: string,
            body: { status: { reason: string } },
          ) => void said.push(body.status.reason),
        }),
      },
      dataDir: join(root, 'data'),
    } as never);
    const stop = new AbortController();
    const running = runAsMember?.(stop.signal);
    await passes(clock, 'the status is reported', () => said.length > 0);
    assert.deepEqual(said, [isAllowed ? 'Watching' : 'FolderNotAllowed']);
    stop.abort();
    await running;
  }
});
