/** The verbs of `ctl slurm`, and `ctl logs slurmjob/NAME`. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { UsageError } from '../../../../../src/base/usage-error.ts';
import { Flags } from '../../../../../src/cli/flags/flags.ts';
import { findResource } from '../../../../../src/cli/objects/discovery.ts';
import type { Verb } from '../../../../../src/cli/verb.ts';
import { printJobLog } from '../../../../../src/features/slurm/ctl/job-log.ts';
import { slurm } from '../../../../../src/features/slurm/ctl/slurm.ts';
import { ctlWorld } from './ctl-world.ts';

const verb = (name: string): Verb => slurm.verbs[name] ?? assert.fail(`there is no verb ${name}`);
const least = ['--connection', 'login', '--run-command', 'true'];

describe('ctl slurm create', () => {
  it('creates the job, prints it, or only checks it', async (context) => {
    const { run, printed, get } = await ctlWorld(context);
    await run(verb('create'), 'a', ...least);
    assert.equal(printed.out, 'slurmjob/a created\n');
    assert.deepEqual((await get('a')).kind, 'SlurmJob');
    printed.out = '';
    await run(verb('create'), 'b', ...least, '--dry-run', 'client');
    await run(verb('create'), 'b', ...least, '--dry-run', 'server');
    assert.equal(printed.out, 'slurmjob/b created (dry run)\nslurmjob/b created (server dry run)\n');
    assert.equal((await get('b')).kind, 'Status');
    printed.out = '';
    await run(verb('create'), 'c', ...least, '-o', 'name');
    assert.equal(printed.out, 'slurmjob.minik8s.io/c\n');
  });
  it('requires exactly one name', async (context) => {
    const { run } = await ctlWorld(context);
    for (const words of [[], ['a', 'b']])
      await assert.rejects(run(verb('create'), ...words, ...least), UsageError);
  });
});

describe('ctl slurm results', () => {
  it('writes the results of a job that has ended, and reports the files that were not fetched', async (context) => {
    const { run, create, wrote, setStatus, printed, reported } = await ctlWorld(context);
    const folder = mkdtempSync(join(tmpdir(), 'minik8s-ctl-slurm-'));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    const job = await create('a');
    await wrote(job, 'Result', 'out/x', 0, Buffer.from('text'));
    await assert.rejects(run(verb('results'), 'a', '-o', folder), /slurmjob\/a has not ended yet/);
    await setStatus('a', {
      ...{ phase: 'Failed', files: [{ path: 'out/x', size: 4 }] },
      droppedFiles: [{ path: 'big', size: 9, reason: 'more than 500 files' }],
    });
    await run(verb('results'), 'a', '-o', folder);
    assert.equal(printed.out, 'out/x\n');
    assert.equal(readFileSync(join(folder, 'out/x'), 'utf8'), 'text');
    assert.deepEqual(reported, ['Error: big was not fetched: more than 500 files']);
    await assert.rejects(run(verb('results'), 'a'), /give the directory: -o DIR/);
  });
});

describe('ctl slurm cancel', () => {
  it('cancels a job once, and rejects a job that has ended', async (context) => {
    const { run, create, setStatus, printed, get } = await ctlWorld(context);
    await create('a');
    await run(verb('cancel'), 'a');
    assert.equal(printed.out, 'slurmjob/a is being canceled\n');
    assert.equal(((await get('a')).spec as { cancel?: boolean }).cancel, true);
    await setStatus('a', { phase: 'Canceled' });
    await assert.rejects(run(verb('cancel'), 'a'), /slurmjob\/a has ended already: Canceled/);
    await assert.rejects(run(verb('cancel'), 'none'), /not found/);
  });
});

describe('ctl logs slurmjob/NAME', () => {
  const table = {
    container: { type: 'string', short: 'c', about: '' },
    follow: { type: 'boolean', short: 'f', about: '' },
  } as const;
  it('prints the file of -c, which takes precedence over the second word', async (context) => {
    const { create, wrote, io, cluster, printed } = await ctlWorld(context);
    const job = await create('a');
    for (const path of ['stdout-1', 'stdout-2']) await wrote(job, 'Output', path, 0, Buffer.from(path));
    const resource = findResource(await cluster.resources(), 'slurmjobs.v1.minik8s.io');
    const print = (argv: readonly string[], given: readonly string[] = []) =>
      printJobLog(
        {
          ...{ io, flags: new Flags(table, argv), palette: {} as never, cluster: () => cluster },
          report: () => undefined,
        },
        { resource, namespace: 'default', name: 'a' },
        given,
      );
    await print(['slurmjob/a', 'stdout-1']);
    await print(['slurmjob/a', 'stdout-1', '-c', 'stdout-2'], ['container']);
    assert.equal(printed.out, 'stdout-1stdout-2');
    await assert.rejects(print(['slurmjob/a'], ['follow', 'tail']), /--tail is for pods/);
  });
});
