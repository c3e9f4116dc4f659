import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { UsageError } from '../../../../../src/base/usage-error.ts';
import { Flags } from '../../../../../src/cli/flags/flags.ts';
import { slurmFlags, slurmSpec } from '../../../../../src/features/slurm/ctl/job-object.ts';

const specOf = (...argv: readonly string[]) => slurmSpec(new Flags(slurmFlags, argv));
const least = ['--connection', 'login', '--run-command', 'true'];

it('slurmSpec has only the fields whose flags were given', async () => {
  assert.deepEqual(await specOf(...least), { connection: { secretName: 'login' }, run: ['true'] });
});

it('slurmSpec takes each field from its own flag', async () => {
  const spec = await specOf(
    ...[
      ...least,
      '--run-command',
      'date',
      '--build-command',
      'make',
      '--module',
      'cuda',
      '--result',
      'out/*',
    ],
    ...['--partition', 'gpu', '--time-limit', '1:30:00', '--nodes', '2', '--tasks', '8'],
    ...[
      '--tasks-per-node',
      '4',
      '--cpus-per-task',
      '3',
      '--gpus',
      '1',
      '--memory',
      '4Gi',
      '--array',
      '0-9%2',
    ],
    ...['--sbatch-option=--constraint=a100', '--env', 'A=1', '--env', 'B=', '--env', 'C=x=y'],
  );
  assert.deepEqual(spec, {
    connection: { secretName: 'login' },
    ...{ run: ['true', 'date'], build: ['make'], modules: ['cuda'], results: ['out/*'] },
    ...{ arguments: ['--constraint=a100'], partition: 'gpu', time: '1:30:00', nodes: 2, tasks: 8 },
    ...{ tasksPerNode: 4, cpusPerTask: 3, gpus: 1, memory: '4Gi', array: '0-9%2' },
    environment: { A: '1', B: '', C: 'x=y' },
  });
});

it('slurmSpec reads the files of a folder, texts as texts and others as base64', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'minik8s-job-object-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src/run.sh'), '#!/bin/sh\n');
  writeFileSync(join(folder, 'data'), Buffer.from([0xff, 0]));
  const spec = await specOf('--connection', 'login', '--from', folder, '--script-file', 'src/run.sh');
  assert.deepEqual(spec, {
    connection: { secretName: 'login' },
    files: [
      { path: 'src/run.sh', content: '#!/bin/sh\n' },
      { path: 'data', base64: '/wA=' },
    ],
    scriptFile: 'src/run.sh',
  });
  await assert.rejects(
    specOf(...least, '--from', join(folder, 'none')),
    /--from: there is no file or folder/,
  );
});

it('slurmSpec rejects a job without a connection, without a program or with two programs', async () => {
  for (const [argv, message] of [
    [['--run-command', 'true'], /--connection SECRET/],
    [['--connection', 'login'], /either --script-file or --run-command/],
    [[...least, '--script-file', 'run.sh'], /either --script-file or --run-command/],
    [[...least, '--env', 'A'], /--env takes NAME=VALUE, not "A"/],
    [[...least, '--env', '=1'], /--env takes NAME=VALUE, not "=1"/],
    [[...least, '--nodes', '2x'], /--nodes: expected a whole number, got "2x"/],
  ] as const)
    await assert.rejects(
      specOf(...argv),
      (error) => error instanceof UsageError && message.test(error.message),
    );
});
