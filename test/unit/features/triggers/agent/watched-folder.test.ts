/**
 * One watched folder on a real disk, where the server and the disk fail: each change is reported, and counts
 * as reported once.
 */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  newAlreadyExists,
  newNotFound,
  newStatusError,
} from '../../../../../src/apimachinery/status-error.ts';
import { systemClock } from '../../../../../src/base/clock.ts';
import type { Client } from '../../../../../src/client/client.ts';
import { FolderMemory } from '../../../../../src/features/triggers/agent/folder-memory.ts';
import { WatchedFolder } from '../../../../../src/features/triggers/agent/watched-folder.ts';
import type { FolderWatch } from '../../../../../src/features/triggers/api/folder-watch.ts';
import { triggerEventResource } from '../../../../../src/features/triggers/api/trigger-event.ts';
import { eventually } from '../../../../fixtures/eventually.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { pass, passes } from './real-files.ts';

interface Told {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly type: string; readonly subject: string; readonly data?: Record<string, unknown> };
}

function start(context: TestContext, spec: object = {}, makesFolder = true, status?: object) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'minik8s-watched-folder-')));
  const folder = join(root, 'allowed', 'folder');
  mkdirSync(makesFolder ? folder : join(root, 'allowed'), { recursive: true });
  const dataDir = join(root, 'data');
  const memoryFile = join(dataDir, 'watched-folders', 'default.w.json');
  /** Requests for events, including those that were rejected. */
  const asked: Told[] = [];
  const stored = new Map<string, Told>();
  const said: { readonly reason?: string; readonly message?: string; readonly waiting?: boolean }[] = [];
  const world = {
    /**
     * Returns the error that is thrown instead of storing the event (`refuse`), or after storing it (`lose`).
     */
    refuse: (_: Told): Error | undefined => undefined,
    lose: (_: Told): Error | undefined => undefined,
    silence: (): Error | undefined => undefined,
  };
  const resource = () => ({
    create: async (event: Told) => {
      asked.push(event);
      const refused = world.refuse(event);
      if (refused) throw refused;
      const { name } = event.metadata;
      if (stored.has(name)) throw newAlreadyExists(triggerEventResource, name);
      stored.set(name, event);
      const lost = world.lose(event);
      if (lost) throw lost;
    },
    patch: async (_name: string, _namespace: string, _type: string, body: { status: object }) => {
      const error = world.silence();
      if (error) throw error;
      said.push(body.status);
    },
  });
  const [clock, log] = [new FakeClock(Date.now()), new RecordingLogger()];
  const watch = {
    metadata: { name: 'w', namespace: 'default', uid: 'u', resourceVersion: '1' },
    ...(status && { status }),
    spec: {
      ...{ nodeName: 'n1', trigger: 't', source: 's', folder, path: '', recursive: false },
      ...{
        types: ['Created', 'Updated', 'Deleted'],
        includeContent: false,
        since: new Date(0).toISOString(),
      },
      ...spec,
    },
  } as unknown as FolderWatch;
  let [stop, running] = [new AbortController(), Promise.resolve()];
  const begin = () => {
    stop = new AbortController();
    running = new WatchedFolder({
      ...{ watch, clock, log, random: new SeededRandom(1), memory: new FolderMemory(dataDir) },
      client: { resource } as unknown as Client,
      allowed: [join(root, 'allowed')],
    }).run(stop.signal);
  };
  const end = async () => {
    stop.abort();
    await running;
  };
  begin();
  context.after(async () => {
    await end();
    rmSync(root, { recursive: true });
  });
  return {
    ...{ root, folder, dataDir, memoryFile, asked, stored, said, world, clock, log },
    end,
    restart: async () => {
      await end();
      begin();
    },
    /** Returns the record on disk of the reported files; empty before there is one. */
    remembered: () => (existsSync(memoryFile) ? readFileSync(memoryFile, 'utf8') : ''),
    told: () =>
      [...stored.values()]
        .map(({ spec: { type, subject } }) => `${type.split('.').at(-1)} ${subject}`)
        .toSorted(),
    passes: (what: string, probe: () => unknown) => passes(clock, what, probe),
    pass: (ms: number) => pass(clock, ms),
  };
}

test('a rejected change is sent again after a growing pause, and a stored one is not sent again', async (context) => {
  const { folder, asked, told, world, passes, pass, log } = start(context);
  world.refuse = () => newStatusError('InternalError', 'the store is away');
  writeFileSync(join(folder, 'a'), 'text');
  await passes('it is tried often', () => asked.length >= 4);
  assert.deepEqual(told(), []);
  assert.ok(log.of('warn').length >= 3);
  const count = asked.length;
  await pass(120_000);
  assert.ok(asked.length - count <= 12, `${asked.length - count} attempts in two minutes`);
  // The answer is lost after the event was stored.
  world.refuse = () => undefined;
  let losses = 0;
  world.lose = () => (losses++ === 0 ? new Error('the connection was lost') : undefined);
  await passes('it is stored', () => told().length === 1);
  const attempts = asked.length;
  await passes('it is asked once more, and is there', () => asked.length > attempts);
  writeFileSync(join(folder, 'b'), 'text');
  await passes('the next is told', () => told().length === 2);
  assert.deepEqual(told(), ['created a', 'created b']);
  assert.ok(
    log.of('warn').some(({ fields }) => fields?.error === 'the connection was lost'),
    'the repeated report is unchanged',
  );
  assert.equal(new Set(asked.map(({ metadata }) => metadata.name)).size, 2);
});

test('the watch reports that too many events wait, retries every other second, and reports when there is room', async (context) => {
  const { folder, told, said, world, passes, asked, log } = start(context);
  world.refuse = ({ spec }) => (spec.subject === 'a' ? undefined : newStatusError('TooManyRequests', 'full'));
  for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, name), name);
  await passes('waiting events are reported', () => said.at(-1)?.waiting === true);
  await passes('it is tried again', () => asked.filter(({ spec }) => spec.subject === 'b').length >= 3);
  assert.deepEqual(told(), ['created a']);
  assert.equal(asked.filter(({ spec }) => spec.subject === 'a').length, 1, 'what was told is not told again');
  world.refuse = () => undefined;
  await passes('no waiting event is reported', () => said.at(-1)?.waiting === false);
  assert.deepEqual(told(), ['created a', 'created b', 'created c']);
  assert.deepEqual(log.of('warn'), []);
});

test('changes count as reported in a terminating namespace or for a deleted trigger', async (context) => {
  for (const error of [
    newNotFound(triggerEventResource, 'default'),
    newStatusError('Forbidden', 'it ends', {
      causes: [{ reason: 'NamespaceTerminating', message: '', field: '' }],
    }),
  ]) {
    const { folder, asked, world, passes, remembered, log } = start(context);
    world.refuse = () => error;
    writeFileSync(join(folder, 'a'), 'text');
    await passes('it counts as told', () => remembered().includes('"a"'));
    assert.deepEqual([asked.length, log.of('warn').length], [1, 0]);
  }
});

test('a failed write of the status is repeated with the next reading, and an equal status is not written', async (context) => {
  const { folder, said, world, passes, log, asked } = start(context);
  world.silence = () => newStatusError('Forbidden', 'no');
  await passes('it is tried', () => log.of('warn').length > 0);
  assert.deepEqual(said, []);
  world.silence = () => undefined;
  await passes('it is written', () => said.length > 0);
  assert.deepEqual(said, [{ reason: 'Watching', message: '', waiting: false }]);
  writeFileSync(join(folder, 'a'), 'text');
  await passes('it looks again', () => asked.length > 0);
  assert.equal(said.length, 1);
});

test('a folder that is missing, forbidden or no folder is reported as such', async (context) => {
  const missing = start(context, {}, false);
  await missing.passes('the change is reported', () => missing.said.length > 0);
  assert.deepEqual(missing.said[0], {
    ...{ reason: 'FolderMissing', message: `there is no folder ${missing.folder}`, waiting: false },
  });
  mkdirSync(missing.folder);
  writeFileSync(join(missing.folder, 'a'), '');
  await missing.passes('it is watched', () => missing.said.at(-1)?.reason === 'Watching');
  await missing.passes('what is in it is told', () => missing.told().length === 1);
  for (const [folder, reason] of [
    ['/etc', 'FolderNotAllowed'],
    ['/etc/none', 'FolderNotAllowed'],
  ] as const) {
    const one = start(context, { folder });
    await one.passes('the change is reported', () => one.said.length > 0);
    assert.deepEqual(one.said[0]?.reason, reason);
  }
  const linked = start(context, { path: 'link' });
  symlinkSync('/etc', join(linked.folder, 'link'));
  await linked.passes('the change is reported', () => linked.said.at(-1)?.reason === 'FolderUnusable');
  const plain = start(context, { path: 'plain' });
  writeFileSync(join(plain.folder, 'plain'), '');
  await plain.passes('the change is reported', () => plain.said.at(-1)?.reason === 'FolderUnusable');
});

test('files are reported by pattern, types, subfolders and content, and names with invalid UTF-8 are counted', async (context) => {
  const spec = { pattern: '*.csv', recursive: true, includeContent: true, types: ['Created', 'Deleted'] };
  const { folder, told, said, stored, passes, remembered } = start(context, spec);
  mkdirSync(join(folder, 'in/deep'), { recursive: true });
  for (const name of ['a.csv', 'a.txt', 'in/deep/b.csv']) writeFileSync(join(folder, name), name);
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff]), Buffer.from('.csv')]), '');
  await passes('both changes are reported', () => told().length === 2);
  assert.deepEqual(told(), ['created a.csv', 'created in/deep/b.csv']);
  assert.deepEqual(
    [...stored.values()].map(({ spec: { data } }) => [data?.path, data?.size, data?.content]),
    [
      ['a.csv', 5, 'a.csv'],
      ['in/deep/b.csv', 13, 'in/deep/b.csv'],
    ],
  );
  assert.equal(said.at(-1)?.message, '1 files have names that are not UTF-8 and are not reported');
  writeFileSync(join(folder, 'a.csv'), 'longer than it was');
  // The trigger does not select updates, but the change is recorded nevertheless.
  await passes('the file is recorded as reported', () => remembered().includes('"a.csv",18'));
  rmSync(join(folder, 'a.csv'));
  rmSync(join(folder, 'in'), { recursive: true });
  await passes('both changes are reported', () => told().length === 4);
  assert.deepEqual(told().slice(2), ['deleted a.csv', 'deleted in/deep/b.csv']);
});

test('an agent that ended before its record, or whose record is damaged, reports a file again under the same name', async (context) => {
  const { folder, asked, told, passes, pass, restart, memoryFile, remembered, log, end } = start(context);
  writeFileSync(join(folder, 'a'), 'text');
  await passes('the change is reported', () => told().length === 1);
  await passes('the file is recorded as reported', () => remembered().includes('"a"'));
  await restart();
  await pass(120_000);
  assert.equal(asked.length, 1, 'what is remembered is not told again');
  for (const text of [
    '{',
    '{"format":"of another time","files":[]}',
    '{"format":"minik8s-watched-folder-1","files":[]}',
  ]) {
    const count = asked.length;
    await end();
    writeFileSync(memoryFile, text);
    await restart();
    await passes('the change is reported again', () => asked.length > count);
    await passes('the file is recorded as reported', () => remembered().includes('"a"'));
  }
  await pass(300_000);
  assert.deepEqual([told(), asked.length], [['created a'], 4]);
  assert.equal(log.of('warn').filter(({ message }) => /cannot read which changes/.test(message)).length, 2);
});

test('a change that fails repeatedly is reported soon after the server answers again', async (context) => {
  const { folder, asked, told, world, pass, passes, clock } = start(context);
  world.refuse = () => newStatusError('InternalError', 'the store is away');
  writeFileSync(join(folder, 'a'), 'text');
  await pass(300_000);
  world.refuse = () => undefined;
  await passes('the change is reported', () => told().length === 1);
  const before = asked.length;
  let refusals = 1;
  world.refuse = () => (refusals-- > 0 ? newStatusError('InternalError', 'away again') : undefined);
  writeFileSync(join(folder, 'b'), 'text');
  await passes('it is refused', () => asked.length === before + 1);
  const refusedAt = clock.now();
  await passes('the change is reported', () => told().length === 2);
  assert.ok(clock.now() - refusedAt <= 3000, `${clock.now() - refusedAt} ms`);
});

test('a restarted watch does not report an unchanged state again', async (context) => {
  const status = { reason: 'Watching', message: '', waiting: false };
  const { said, pass } = start(context, {}, true, status);
  await pass(120_000);
  assert.deepEqual(said, []);
});

test('a file that is removed and created again is reported each time', async (context) => {
  const { folder, asked, passes, remembered } = start(context);
  for (let round = 0; round < 2; round++) {
    writeFileSync(join(folder, 'a'), 'text');
    await passes(
      'the change is reported',
      () => asked.length === 2 * round + 1 && remembered().includes('"a"'),
    );
    rmSync(join(folder, 'a'));
    await passes('its end is told', () => asked.length === 2 * round + 2 && !remembered().includes('"a"'));
  }
  assert.deepEqual(
    asked.map(({ spec }) => spec.type.split('.').at(-1)),
    ['created', 'deleted', 'created', 'deleted'],
  );
  assert.ok(remembered().includes('"files":[]'));
});

test('a file that is written before its read is reported once, with its latest content', async (context) => {
  const { folder, stored, asked, world, passes, pass } = start(context, { includeContent: true });
  const names = ['a', 'b', 'c'];
  for (const name of names) writeFileSync(join(folder, name), name);
  let first: string | undefined;
  world.refuse = ({ spec }) => {
    if (first === undefined) {
      first = spec.subject;
      for (const name of names) if (name !== first) writeFileSync(join(folder, name), `${name} and more`);
    }
    return undefined;
  };
  await passes('all changes are reported', () => stored.size === 3);
  await pass(120_000);
  assert.equal(asked.length, 3);
  for (const { spec } of stored.values()) {
    const text = spec.subject === first ? first : `${spec.subject} and more`;
    assert.deepEqual([spec.data?.content, spec.data?.size], [text, text.length]);
  }
});

test('without changes nothing is written, and no timer of a finished event is left', async (context) => {
  const { folder, told, passes, pass, memoryFile, remembered, clock } = start(context);
  for (let index = 0; index < 10; index++) {
    writeFileSync(join(folder, `${index}`), 'text');
    await passes(
      'the file is recorded as reported',
      () => told().length === index + 1 && remembered().includes(`"${index}"`),
    );
  }
  assert.ok(clock.pending <= 3, `${clock.pending} timers`);
  const before = statSync(memoryFile).ino;
  await pass(300_000);
  assert.equal(statSync(memoryFile).ino, before);
});

test('a change ends the pause before the next reading', async (context) => {
  const { folder, said, clock, passes, pass } = start(context);
  await passes('it watches', () => said.length > 0);
  await pass(5000);
  assert.ok((clock.nextIn ?? 0) > 10_000, `${clock.nextIn} ms`);
  writeFileSync(join(folder, 'a'), 'text');
  await eventually(systemClock, 'the pause ends', () => (clock.nextIn ?? 0) <= 1000);
});
