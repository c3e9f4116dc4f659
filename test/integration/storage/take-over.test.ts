/**
 * Takeover of an earlier etcd's data, with programs in place of both etcds: the order of the steps, the
 * rejected cases, and the data that is kept. For the completeness of real data see
 * test/conformance/take-over.test.ts.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { errorMessage } from '../../../src/base/log.ts';
import { leftoverArguments, markFormat, takeOverData } from '../../../src/storage/take-over.ts';
import { databaseIn, readDatabase, writeDatabase } from '../../fixtures/etcd-program.ts';
import { until } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { isRunning, ProgramWorld } from './program-world.ts';

const limit = { timeout: 300_000 };
const [earlier, now] = [{ version: '3.4.23' }, { version: '3.7.0' }];
const database = { version: '3.4.23', revision: 70, keys: 12, token: 'theirs' };

/** Returns whether a timer is set for the next call, and not for the end of an etcd. */
const asksSoon = (clock: FakeClock) => (clock.nextIn ?? Number.POSITIVE_INFINITY) <= 20;

/** An earlier etcd's data, and both programs. */
class World extends ProgramWorld {
  readonly log = new RecordingLogger();
  readonly abort = new AbortController();
  readonly binary = this.program('etcd', now);
  readonly earlierBinary = this.program('earlier-etcd', earlier);

  constructor() {
    super();
    writeDatabase(this.at('data'), database);
  }

  at = (name: string) => join(this.dataDir, name);

  async takeOver(clock: Clock = systemClock): Promise<void> {
    mkdirSync(this.dataDir, { recursive: true });
    await using directory = await open(this.dataDir, 'r');
    const { binary, earlierBinary, dataDir, log } = this;
    const { signal } = this.abort;
    await takeOverData({ binary, earlierBinary, dataDir, directory, log, clock, signal });
  }

  /** Returns the commands that the programs received, in the order of their start. */
  steps(): readonly string[] {
    const named = (name: string) =>
      this.runs(name).flatMap((run) => ('args' in run ? [[name, ...run.args] as const] : []));
    return [...named('earlier-etcd'), ...named('etcd')].map(([name, first, second, ...rest]) =>
      first?.startsWith('--name')
        ? `${name} serves ${second?.replace(`--data-dir=${this.dataDir}/`, '')}`
        : [name, first, second, ...rest].join(' ').trimEnd().replaceAll(`${this.dataDir}/`, ''),
    );
  }

  entries = () => readdirSync(this.dataDir).sort();
}

test('data of an earlier etcd are copied, checked, and swapped with the copy', limit, async () => {
  await using world = new World();
  const clock = new FakeClock(1234);
  let done = false;
  const taking = world.takeOver(clock).finally(() => {
    done = true;
  });
  while (!done) {
    await until(() => done || asksSoon(clock));
    await clock.advance(20);
  }
  await taking;
  assert.deepEqual(world.steps(), [
    'earlier-etcd --version',
    'earlier-etcd serves data',
    'etcd storage-version data/member/snap/db',
    `etcd restore data/member/snap/db data.new minik8s unix://peer:0 ${world.steps()[3]?.split(' ').at(-1)}`,
    'etcd serves data.new',
  ]);
  assert.deepEqual(world.entries(), ['data', 'data.earlier', 'etcd.log', 'format']);
  const taken = readDatabase(databaseIn(world.at('data')));
  assert.deepEqual({ ...taken, token: '' }, { ...database, version: '3.7.0', token: '' });
  assert.ok(Number(taken.token) >= 1234 && Number(taken.token) < 600_000, 'by the clock');
  assert.deepEqual(readDatabase(databaseIn(world.at('data.earlier'))), database);
  for (const name of ['earlier-etcd', 'etcd'])
    for (const run of world.runs(name)) {
      assert.equal(isRunning(run.pid), false);
      if ('env' in run)
        assert.deepEqual(
          Object.keys(run.env).filter((key) => key !== 'GOGC' && key !== 'ETCD_SNAPSHOT_CATCHUP_ENTRIES'),
          [],
        );
    }
  assert.deepEqual(
    world.log.lines.map(({ level, fields }) => [level, fields]),
    [
      ['info', { version: '3.4.23' }],
      ['info', { kept: `${world.at('data.earlier')} and ${world.earlierBinary}` }],
    ],
  );
  assert.equal(clock.pending, 0);
});

test('data that were taken over or created by this etcd are not inspected again', limit, async () => {
  await using world = new World();
  await world.takeOver();
  const { length } = world.steps();
  await world.takeOver();
  assert.equal(world.steps().length, length);
  // The version is read from the database if there is no mark.
  rmSync(world.at('format'));
  await world.takeOver();
  assert.deepEqual(world.steps().slice(length), ['etcd storage-version data/member/snap/db']);
  await world.takeOver();
  assert.equal(world.steps().length, length + 1);
  // A mark of other data is ignored.
  renameSync(world.at('data'), world.at('data.now'));
  writeDatabase(world.at('data'), database);
  await world.takeOver();
  assert.equal(readDatabase(databaseIn(world.at('data'))).version, '3.7.0');
  assert.deepEqual(readDatabase(databaseIn(world.at('data.earlier.2'))), database);
});

test('the format file is readable by its user only, and valid for one directory', limit, async () => {
  await using world = new World();
  await markFormat(world.dataDir);
  const first = readFileSync(world.at('format'), 'utf8');
  assert.match(first, /^inode \d+ made \d+\n$/);
  await world.takeOver();
  assert.deepEqual(world.steps(), []);
  await markFormat(world.dataDir, world.dataDir);
  assert.notEqual(readFileSync(world.at('format'), 'utf8'), first);
});

test('missing data and an empty directory are left unchanged', limit, async () => {
  await using world = new World();
  rmSync(world.at('data'), { recursive: true });
  await world.takeOver();
  mkdirSync(world.at('data'));
  await world.takeOver();
  assert.deepEqual([world.steps(), world.entries()], [[], []]);
});

test('data of an etcd that never served are left for the administrator', limit, async () => {
  await using world = new World();
  writeFileSync(world.at('unfinished'), '');
  await world.takeOver();
  assert.deepEqual([world.steps(), world.entries()], [[], ['data', 'unfinished']]);
});

test('the error names what to do if the earlier etcd is missing or cannot be run', limit, async () => {
  await using world = new World();
  rmSync(world.earlierBinary);
  await assert.rejects(world.takeOver(), (error: Error) => {
    assert.match(
      error.message,
      /earlier-etcd, which reads them, is not there: put an .* or run minik8s reset, /,
    );
    assert.equal(error.cause, undefined);
    return true;
  });
  writeFileSync(world.earlierBinary, '', { mode: 0o600 });
  await assert.rejects(world.takeOver(), (error: Error) => {
    assert.match(error.message, /earlier-etcd, which reads them, cannot be run: put an /);
    assert.match(errorMessage(error), /EACCES/);
    return true;
  });
  assert.deepEqual(world.entries(), ['data']);
});

test('an earlier etcd is used although it does not report its version', limit, async () => {
  await using world = new World();
  world.program('earlier-etcd', { version: ' ' });
  // The program reports an invalid version and reads only data of that version.
  await assert.rejects(world.takeOver(), /the data of etcd of an unknown version in .* were not taken over/);
});

/** Failures; each is reported in the error and leaves the data unchanged. */
const failures: readonly [what: string, prepare: (world: World) => void, message: RegExp][] = [
  [
    'a damaged database',
    (world) => writeFileSync(databaseIn(world.at('data')), '{'),
    /^the data of etcd in .*\/data are damaged \([^\n]+\): stop minik8s/,
  ],
  [
    'an earlier etcd that finds the data damaged',
    (world) =>
      world.program('earlier-etcd', {
        ...earlier,
        lastWords: { output: '{"level":"fatal","msg":"wal","error":"crc mismatch"}\n', status: 1 },
      }),
    /^the data of etcd 3\.4\.23 in .*\/data were not taken over and are as they were: the data of etcd in .* are damaged/,
  ],
  [
    'an earlier etcd that ends',
    (world) => world.program('earlier-etcd', { ...earlier, lastWords: { output: 'so\n', status: 4 } }),
    /were not taken over and are as they were: .*\/earlier-etcd ended: exit status 4: so$/,
  ],
  [
    'a copy that lacks a key',
    (world) => world.program('etcd', { ...now, lossy: true }),
    /: the copy has 11 keys at revision 70, not 12 keys at revision 70$/,
  ],
  [
    'a copy that is behind',
    (world) => world.program('etcd', { ...now, late: true }),
    /: the copy has 12 keys at revision 69, not 12 keys at revision 70$/,
  ],
];
for (const [what, prepare, message] of failures)
  test(`${what} is reported, and nothing is changed`, limit, async () => {
    await using world = new World();
    const before = readdirSync(world.at('data'), { recursive: true });
    prepare(world);
    const database = readFileSync(databaseIn(world.at('data')));
    for (const copy of ['data.new', 'data.ready']) mkdirSync(world.at(copy));
    await assert.rejects(world.takeOver(), (error: Error) => {
      assert.match(errorMessage(error), message);
      return true;
    });
    assert.deepEqual(
      world.entries().filter((name) => name.startsWith('data')),
      message.source.endsWith(': stop minik8s') ? ['data', 'data.new', 'data.ready'] : ['data'],
    );
    assert.deepEqual(readdirSync(world.at('data'), { recursive: true }), before);
    assert.deepEqual(readFileSync(databaseIn(world.at('data'))), database);
    assert.equal(existsSync(world.at('format')), false);
    for (const name of ['etcd', 'earlier-etcd'])
      for (const { pid } of world.runs(name)) assert.equal(isRunning(pid), false);
  });

test('a copy that a killed start left is created again', limit, async () => {
  await using world = new World();
  for (const copy of ['data.new', 'data.ready'])
    writeDatabase(world.at(copy), { version: '3.7.0', revision: 1, keys: 0, token: '' });
  writeFileSync(world.at('data.new/rest'), '');
  await world.takeOver();
  assert.equal(readDatabase(databaseIn(world.at('data'))).keys, 12);
  assert.deepEqual(world.entries(), ['data', 'data.earlier', 'etcd.log', 'format']);
  assert.deepEqual(readdirSync(world.at('data')), ['member']);
});

test('a start that was killed while the data were swapped is completed', limit, async () => {
  await using world = new World();
  renameSync(world.at('data'), world.at('data.earlier'));
  writeDatabase(world.at('data.ready'), { ...database, version: '3.7.0' });
  await world.takeOver();
  assert.deepEqual(world.entries(), ['data', 'data.earlier', 'format']);
  assert.equal(readDatabase(databaseIn(world.at('data'))).version, '3.7.0');
  assert.deepEqual(world.steps(), []);
  await world.takeOver();
  assert.deepEqual(world.steps(), []);
});

test('data that other take-overs have kept stay', limit, async () => {
  await using world = new World();
  for (const name of ['data.earlier', 'data.earlier.2']) mkdirSync(world.at(name));
  await world.takeOver();
  assert.deepEqual(world.entries().slice(0, 4), ['data', 'data.earlier', 'data.earlier.2', 'data.earlier.3']);
  assert.deepEqual(readdirSync(world.at('data.earlier')), []);
  assert.deepEqual(readDatabase(databaseIn(world.at('data.earlier.3'))), database);
});

test("an abort rejects with the signal's reason and leaves the data unchanged", limit, async () => {
  const reason = new Error('not wanted any more');
  for (const [name, behaviour] of [
    ['earlier-etcd', { ...earlier, leaderless: true }],
    ['etcd', { ...now, leaderless: true }],
  ] as const) {
    await using world = new World();
    world.program(name, behaviour);
    const refused = assert.rejects(world.takeOver(), reason);
    await until(() => world.steps().some((step) => step.startsWith(`${name} serves`)));
    world.abort.abort(reason);
    await refused;
    assert.deepEqual(
      world.entries().filter((entry) => entry.startsWith('data')),
      ['data'],
    );
    assert.deepEqual(readDatabase(databaseIn(world.at('data'))), database);
    for (const { pid } of world.runs(name)) assert.equal(isRunning(pid), false);
  }
  await using world = new World();
  world.abort.abort(reason);
  await assert.rejects(world.takeOver(), reason);
});

test('the take-over fails if an etcd does not begin to serve before the timeout', limit, async () => {
  await using world = new World();
  world.program('earlier-etcd', { ...earlier, leaderless: true });
  const clock = new FakeClock();
  const began = clock.now();
  let told = '';
  world.takeOver(clock).catch((error) => {
    told = errorMessage(error);
  });
  while (told === '') {
    await until(() => told !== '' || asksSoon(clock));
    if (told !== '') break;
    const passed = clock.now() - began;
    await clock.advance(passed < 200 ? 20 : passed < 299_000 ? 299_000 - passed : 1000);
  }
  assert.match(told, /etcd did not begin to serve: .*no leader/);
  const passed = clock.now() - began;
  assert.ok(passed >= 300_000 && passed < 302_000, String(passed));
});

test('data are rejected when the earlier etcd had to be killed', limit, async () => {
  await using world = new World();
  world.program('earlier-etcd', { ...earlier, deaf: true });
  const clock = new FakeClock();
  let told = '';
  world.takeOver(clock).catch((error) => {
    told = errorMessage(error);
  });
  const heard = () => world.runs('earlier-etcd').find((run) => 'heard' in run);
  while (!heard()) {
    await until(() => heard() || asksSoon(clock));
    if (!heard()) await clock.advance(20);
  }
  await clock.advance(59_000);
  assert.ok(isRunning(heard()?.pid ?? assert.fail()));
  await clock.advance(1000);
  await until(() => told !== '');
  assert.match(told, /earlier-etcd did not end within 60 s$/);
  assert.deepEqual(
    world.entries().filter((entry) => entry.startsWith('data')),
    ['data'],
  );
});

test('processes that a killed start may have left are identified by their arguments', () => {
  assert.deepEqual(leftoverArguments('/d'), [
    ['--data-dir=/d/data', '--listen-client-urls=unix://client:0'],
    ['--data-dir=/d/data.new', '--listen-client-urls=unix://client:0'],
    ['restore', '/d/data.new'],
  ]);
});
