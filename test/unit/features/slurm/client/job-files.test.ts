/**
 * Copies of output and results from the host to the cluster: the files, the maximum size, and the remains on
 * the host.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JobEntry } from '../../../../../src/features/slurm/client/job-entry.ts';
import { JobFiles } from '../../../../../src/features/slurm/client/job-files.ts';
import type { SlurmJobSpec } from '../../../../../src/features/slurm/client/slurm-job.ts';
import { UnreadableFile } from '../../../../../src/features/slurm/client/ssh.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { MemoryStore } from '../../../../fixtures/slurm/memory-store.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const own = /^\/w\/\.minik8s\/(std(out|err)(-\d+)?|build\.log)$/;

/** A work folder /w with files of these sizes in bytes. */
function world(files: Record<string, number>, spec: SlurmJobSpec = { run: ['true'] }) {
  const store = new MemoryStore();
  const uid = store.add('one', spec);
  const status = {
    phase: 'Fetching',
    acceptedTime: '2026-01-01T00:00:00Z',
    workDir: '/w',
    jobID: '7',
  } as const;
  store.change(uid, { status });
  const faults = new Map<string, Error>();
  const reads: string[] = [];
  const host = {
    run: async (_: string, script: string) => {
      const names = Object.entries(files);
      const stdout = script.includes('find .')
        ? names.map(([path, size]) => (path.startsWith('.minik8s') ? '' : `${size}\t${path}\0`)).join('')
        : names.map(([path, size]) => (own.test(`/w/${path}`) ? `${size}|/w/${path}\n` : '')).join('');
      return { code: 0, stdout, stderr: '' };
    },
    read: async (path: string, offset: number, length: number) => {
      reads.push(`${path} ${offset} ${length}`);
      const fault = faults.get(path);
      if (fault) throw fault;
      const size = files[path.slice(3)] ?? 0;
      return Buffer.alloc(Math.max(0, Math.min(length, size - offset)), 'x');
    },
  };
  const entry = new JobEntry(store.get(uid), new FakeClock().now(), new SeededRandom(1));
  const jobFiles = new JobFiles(host as never, store);
  const sizes = () =>
    new Map(
      Object.entries(files).flatMap(([path, size]) =>
        own.test(`/w/${path}`) ? [[path.slice('.minik8s/'.length), size] as const] : [],
      ),
    );
  return {
    ...{ store, faults, reads, files },
    fetch: () => jobFiles.fetch(entry),
    copy: (atEnd = false) => {
      entry.looked = { sizes: sizes(), exited: new Map() };
      return jobFiles.copyOutput(entry, atEnd);
    },
    stored: async () =>
      Object.fromEntries(
        (await store.storedFiles(store.get(uid))).map(({ kind, path, length }) => [
          `${kind} ${path}`,
          length,
        ]),
      ),
  };
}

describe('output', () => {
  it('continues at the piece that could not be stored, and has no gap', async () => {
    const { copy, stored, store, files } = world({ '.minik8s/stdout': 100 });
    await copy();
    files['.minik8s/stdout'] = 150;
    let refusals = 1;
    store.onAppend = () => {
      if (refusals-- > 0) throw new Error('the store is away');
    };
    await assert.rejects(copy(), /the store is away/);
    assert.deepEqual(await stored(), { 'Output stdout': 100 });
    await copy();
    assert.deepEqual(await stored(), { 'Output stdout': 150 });
  });
  it('is copied while it grows, each byte once, up to half of its share, and completely after its end', async () => {
    const { files, copy, stored, store, reads } = world({ '.minik8s/stdout': 100, '.minik8s/stderr': 0 });
    assert.deepEqual(await copy(), []);
    assert.deepEqual(await stored(), { 'Output stdout': 100 });
    files['.minik8s/stdout'] = 3 * MiB;
    files['.minik8s/stderr'] = 10;
    assert.deepEqual(await copy(), []);
    assert.deepEqual(await stored(), { 'Output stdout': MiB, 'Error stderr': 10 });
    const before = reads.length;
    await copy();
    assert.equal(reads.length, before, 'nothing new is read');
    assert.deepEqual(await copy(true), []);
    const left = Buffer.byteLength(`\n[minik8s: ${MiB} bytes left out]\n`);
    assert.deepEqual(await stored(), { 'Output stdout': 2 * MiB + left, 'Error stderr': 10 });
    const [job] = store.jobs();
    const text = Buffer.from(store.text(job?.uid ?? '', 'stdout') ?? '', 'utf8');
    assert.ok(text.includes(`\n[minik8s: ${MiB} bytes left out]\n`));
    assert.ok(
      !reads.some((read) => Number(read.split(' ')[2]) > 512 * KiB),
      'one piece is a SlurmFile at most',
    );
  });
  it('of many tasks is shared out, and that of surplus tasks stays on the host, which is reported', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, task) => [`.minik8s/stdout-${299 - task}`, 40 * KiB]),
    );
    const { copy, stored } = world(files, { run: ['true'], array: '0-299' });
    assert.deepEqual(await copy(), []);
    const early = await stored();
    assert.equal(Object.keys(early).length, 256);
    assert.equal(early['Output stdout-0'], 8 * KiB, 'while tasks may come, each has the least');
    assert.equal(early['Output stdout-256'], undefined, 'the first tasks by their number have room');
    const dropped = await copy(true);
    assert.equal(dropped.length, 44);
    assert.deepEqual(dropped[0], {
      ...{ path: '.minik8s/stdout-256', size: 40 * KiB, reason: 'output of too many tasks' },
    });
    const left = Buffer.byteLength(`\n[minik8s: ${24 * KiB} bytes left out]\n`);
    assert.equal((await stored())['Output stdout-0'], 16 * KiB + left);
  });
  it('of few tasks of an array gets its whole share only when no more tasks can start', async () => {
    const { copy, stored } = world({ '.minik8s/stdout-1': 3 * MiB }, { run: ['true'], array: '0-1' });
    await copy();
    assert.deepEqual(await stored(), { 'Output stdout-1': 8 * KiB });
    await copy(true);
    const left = Buffer.byteLength(`\n[minik8s: ${MiB} bytes left out]\n`);
    assert.deepEqual(await stored(), { 'Output stdout-1': 2 * MiB + left });
  });
  it('that cannot be read is reported at the end, and does not block other files', async () => {
    const { copy, stored, faults } = world({ '.minik8s/stderr': 7, '.minik8s/stdout': 9 });
    faults.set('/w/.minik8s/stderr', new UnreadableFile('Permission denied'));
    assert.deepEqual(await copy(), []);
    assert.deepEqual(await copy(true), [
      { path: '.minik8s/stderr', size: 7, reason: 'cannot be read: Permission denied' },
    ]);
    assert.deepEqual(await stored(), { 'Output stdout': 9 });
    faults.set('/w/.minik8s/stderr', new Error('the connection was lost'));
    await assert.rejects(copy(true), /the connection was lost/, 'another fault is none of the file');
  });
  it('is listed in the cluster once, and continues where an earlier client ended', async () => {
    const first = world({ '.minik8s/stdout': 10 });
    await first.copy();
    let asked = 0;
    const { store } = first;
    const stored = store.storedFiles.bind(store);
    store.storedFiles = async (job) => {
      asked++;
      return stored(job);
    };
    first.files['.minik8s/stdout'] = 30;
    await first.copy();
    assert.equal(asked, 0);
    assert.ok(first.reads.includes('/w/.minik8s/stdout 10 20'), first.reads.join());
  });
});

describe('results', () => {
  it('include the log of the build, which is shortened in the middle if it is long and does not count as output', async () => {
    const { fetch, stored } = world(
      { '.minik8s/build.log': 300 * KiB, '.minik8s/stdout': 5, a: 3 },
      {
        ...{ run: ['true'], results: ['*'] },
      },
    );
    assert.deepEqual(await fetch(), { files: [{ path: 'a', size: 3 }], dropped: [], gone: false });
    const left = Buffer.byteLength(`\n[minik8s: ${44 * KiB} bytes left out]\n`);
    assert.deepEqual(await stored(), {
      'Build build.log': 256 * KiB + left,
      'Output stdout': 5,
      'Result a': 3,
    });
  });
  it('are the selected files, up to 16 MiB or the limit of the job', async () => {
    const sizes = { a: 10, b: 11, c: 16 * MiB - 10 };
    for (const [spec, fetched] of [
      [{}, []],
      [{ results: ['a'] }, ['a']],
      [{ results: ['a', 'c'] }, ['a', 'c']],
      [{ results: ['b', 'c'] }, ['b']],
      [{ results: ['*'], resultsLimit: '21' }, ['a', 'b']],
      [{ results: ['*'], resultsLimit: '20' }, ['a']],
      [{ results: ['*'], resultsLimit: 'no quantity' }, []],
    ] as const) {
      const { fetch } = world(sizes, { run: ['true'], ...spec });
      const { files, dropped } = await fetch();
      assert.deepEqual(
        files.map(({ path }) => path),
        fetched,
        JSON.stringify(spec),
      );
      const wanted = ['a', 'b', 'c'].filter((name) =>
        (spec as SlurmJobSpec).results?.some((glob) => glob === name || glob === '*'),
      );
      assert.equal(dropped.length, wanted.length - files.length);
    }
  });
  it('that cannot be read are left on the host, with output above the limit', async () => {
    const { fetch, faults } = world({ a: 1, b: 2, '.minik8s/stdout': 3 }, { run: ['true'], results: ['*'] });
    faults.set('/w/b', new UnreadableFile('Permission denied'));
    faults.set('/w/.minik8s/stdout', new UnreadableFile('gone'));
    const { files, dropped } = await fetch();
    assert.deepEqual(files, [{ path: 'a', size: 1 }]);
    assert.deepEqual(
      dropped.map(({ path, reason }) => `${path}: ${reason}`),
      ['b: cannot be read: Permission denied', '.minik8s/stdout: cannot be read: gone'],
    );
  });
});
