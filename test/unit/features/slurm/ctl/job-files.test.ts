/** Output and results of a job as `ctl` prints and writes them, piece by piece. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { findResource } from '../../../../../src/cli/objects/discovery.ts';
import { hasEnded, printSlurmLog, writeResults } from '../../../../../src/features/slurm/ctl/job-files.ts';
import { ctlWorld } from './ctl-world.ts';

async function world(context: TestContext) {
  const base = await ctlWorld(context);
  const resource = findResource(await base.cluster.resources(), 'slurmjobs.v1.minik8s.io');
  const job = await base.create('a');
  const { io, cluster } = base;
  return {
    ...base,
    job,
    log: (file?: string, following = false) =>
      printSlurmLog(io, cluster, { resource, namespace: 'default', name: 'a' }, { file, following }),
    text: (kind: string, path: string, offset: number, text: string) =>
      base.wrote(job, kind, path, offset, Buffer.from(text)),
  };
}

it('hasEnded is true only in the three final phases', () => {
  const phases = [
    'Waiting',
    'Uploading',
    'Submitted',
    'Running',
    'Fetching',
    'Succeeded',
    'Failed',
    'Canceled',
  ];
  assert.deepEqual(
    phases.filter((phase) => hasEnded({ status: { phase } })),
    ['Succeeded', 'Failed', 'Canceled'],
  );
  assert.equal(hasEnded({}), false);
});

describe('printSlurmLog', () => {
  it('prints pieces in the order of their offsets, errors apart, without results and the build', async (context) => {
    const { log, text, printed } = await world(context);
    await text('Output', 'stdout', 8, 'three\n');
    await text('Output', 'stdout', 0, 'one ');
    await text('Output', 'stdout', 4, 'two ');
    await text('Error', 'stderr', 0, 'wrong\n');
    await text('Build', 'build.log', 0, 'built\n');
    await text('Result', 'out', 0, 'result\n');
    await log();
    assert.deepEqual(printed, { out: 'one two three\n', err: 'wrong\n' });
  });
  it('prints more pieces than one page has', async (context) => {
    const { log, text, printed } = await world(context);
    for (let offset = 0; offset < 20; offset++) await text('Output', 'stdout', offset, String(offset % 10));
    await log();
    assert.equal(printed.out, '01234567890123456789');
  });
  it('prints nothing after a gap, and joins a character that is divided between two pieces', async (context) => {
    const { log, job, wrote, text, printed } = await world(context);
    const euro = Buffer.from('€');
    await wrote(job, 'Output', 'stdout', 0, euro.subarray(0, 2));
    await wrote(job, 'Output', 'stdout', 2, euro.subarray(2));
    await text('Output', 'stdout', 9, 'behind a gap');
    await log();
    assert.equal(printed.out, '€');
  });
  it('prints one file by its name, and rejects a name without a file', async (context) => {
    const { log, text, printed } = await world(context);
    await text('Output', 'stdout-1', 0, 'one');
    await text('Output', 'stdout-2', 0, 'two');
    await text('Build', 'build.log', 0, 'built');
    await log('stdout-2');
    assert.equal(printed.out, 'two');
    await log('build.log');
    assert.equal(printed.out, 'twobuilt');
    await assert.rejects(log('stdout-3'), /slurmjob\/a has no stdout-3/);
  });
  it('ignores the files of an earlier job with the same name', async (context) => {
    const { log, wrote, printed } = await world(context);
    await wrote({ metadata: { name: 'a', uid: 'earlier' } }, 'Output', 'stdout', 0, Buffer.from('old'));
    await log();
    assert.equal(printed.out, '');
  });
  it('follows the output until the job ends, and prints the last piece', async (context) => {
    const { log, text, printed, server, setStatus } = await world(context);
    await text('Output', 'stdout', 0, 'one ');
    const following = log(undefined, true);
    await server.clock.advance(1000);
    assert.equal(printed.out, 'one ');
    await setStatus('a', { phase: 'Running' });
    await text('Output', 'stdout', 4, 'two ');
    await server.clock.advance(1000);
    assert.equal(printed.out, 'one two ');
    await text('Output', 'stdout', 8, 'three');
    await setStatus('a', { phase: 'Succeeded' });
    await server.clock.until(following);
    assert.equal(printed.out, 'one two three');
  });
  it('rejects if the job is deleted while it is followed', async (context) => {
    const { log, server, remove, cluster } = await world(context);
    const following = assert.rejects(log(undefined, true), /slurmjob\/a was deleted/);
    await server.clock.advance(1000);
    await remove('a');
    const path = '/apis/minik8s.io/v1/namespaces/default/slurmjobs/a';
    await cluster.send('PATCH', path, { metadata: { finalizers: null } }, 'application/merge-patch+json');
    await server.clock.until(following);
  });
});

describe('writeResults', () => {
  const folderOf = (context: TestContext) => {
    const folder = mkdtempSync(join(tmpdir(), 'minik8s-job-files-'));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  };
  it('writes each file from its pieces, in place of an existing one', async (context) => {
    const { job, cluster, text } = await world(context);
    const folder = folderOf(context);
    writeFileSync(join(folder, 'a'), 'a much longer file');
    await text('Result', 'a', 3, 'two');
    await text('Result', 'a', 0, 'one');
    await text('Result', 'out/b', 0, 'b');
    await text('Result', 'unlisted', 0, 'x');
    const files = [
      { path: 'a', size: 6 },
      { path: 'out/b', size: 1 },
      { path: 'empty', size: 0 },
    ];
    assert.deepEqual(await writeResults(cluster, { ...job, status: { files } }, folder), [
      ...['a', 'out/b', 'empty'],
    ]);
    assert.deepEqual(
      ['a', 'out/b', 'empty'].map((path) => readFileSync(join(folder, path), 'utf8')),
      ['onetwo', 'b', ''],
    );
    assert.throws(() => readFileSync(join(folder, 'unlisted')), /ENOENT/);
  });
  it('rejects a file of which the cluster has only a part', async (context) => {
    const { job, cluster, text } = await world(context);
    await text('Result', 'a', 0, 'one');
    const whole = { ...job, status: { files: [{ path: 'a', size: 4 }] } };
    await assert.rejects(
      writeResults(cluster, whole, folderOf(context)),
      /a is incomplete: the cluster has 3 of 4/,
    );
  });
  it('rejects paths that lead out of the folder', async (context) => {
    const { job, cluster } = await world(context);
    for (const path of ['../a', '/a', 'a/../../b', './a', 'a//b', 'a\0'])
      await assert.rejects(
        writeResults(cluster, { ...job, status: { files: [{ path, size: 0 }] } }, folderOf(context)),
        /is not a path below a folder/,
      );
  });
});
