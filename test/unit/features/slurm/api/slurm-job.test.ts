import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { slurmFileResource } from '../../../../../src/features/slurm/api/slurm-file.ts';
import {
  type SlurmJob,
  slurmFinalizer,
  slurmJobEnded,
  slurmJobResource,
} from '../../../../../src/features/slurm/api/slurm-job.ts';
import { decode } from '../../../../fixtures/kinds.ts';
import { before, testCells } from '../../../api/column-cells.ts';

const job = (spec: object, metadata: object = {}): SlurmJob =>
  decode(slurmJobResource, {
    apiVersion: 'minik8s.io/v1',
    kind: 'SlurmJob',
    metadata: { name: 'add', namespace: 'default', uid: 'u1', creationTimestamp: before(5), ...metadata },
    spec: { connection: { secretName: 'hpc' }, ...spec },
  });
const { strategy } = slurmJobResource;
const causes = (spec: object, metadata: object = {}) =>
  (strategy.validate?.(job(spec, metadata)) ?? []).map(({ field, message }) => `${field}: ${message}`);
const run = ['./add'];

it('the defaults of a SlurmJob are those of the documentation', () => {
  const { resultsLimit, keepFiles, cancel } = job({ run }).spec;
  assert.deepEqual(
    { resultsLimit, keepFiles, cancel },
    { resultsLimit: '16Mi', keepFiles: false, cancel: false },
  );
});

describe('a SlurmJob is accepted with', () => {
  const files = [{ path: 'src/add.cu', content: 'int main() {}' }];
  const accepted: Readonly<Record<string, object>> = {
    'commands and files': { files, build: ['nvcc src/add.cu -o add'], run },
    'a script': { script: '#!/bin/bash\n#SBATCH -n 1\nhostname\n' },
    'a script among its files': {
      files: [{ path: 'job.slurm', content: '#!/bin/sh' }],
      scriptFile: 'job.slurm',
    },
    'a script of a ConfigMap': { filesFrom: [{ configMapName: 'src' }], scriptFile: 'job.slurm' },
    'a file in base64': { files: [{ path: 'in.bin', base64: 'AAEC' }], run },
    'an empty file': { files: [{ path: 'empty', content: '' }], run },
    'all options of sbatch': {
      run,
      partition: 'gpu,long',
      account: 'a1',
      qos: 'normal',
      nodes: 2,
      tasks: 8,
      tasksPerNode: 4,
      cpusPerTask: 2,
      gpus: 1,
      gpuType: 'a100',
      memory: '4Gi',
      time: '1-02:30:00',
      array: '0-9:3,20%2',
      arguments: ['--exclusive', '--constraint=a100|h100', '--mail-user=a@b.org'],
      modules: ['cuda/12.4', 'gcc'],
      environment: { OMP_NUM_THREADS: '4', TEXT: "it's $HOME `x`" },
      workDir: '/scratch/me/jobs',
      results: ['out/*.csv', 'result.[0-9].bin'],
      resultsLimit: '64Mi',
      activeDeadlineSeconds: 60,
      ttlSecondsAfterFinished: 0,
    },
    'seconds of time': { run, time: 90 },
  };
  for (const [title, spec] of Object.entries(accepted)) it(title, () => assert.deepEqual(causes(spec), []));
});

describe('a SlurmJob is rejected with', () => {
  const refused: Readonly<Record<string, [spec: object, ...causes: RegExp[]]>> = {
    'no program': [{}, /^spec\.run: Required value: a job has its commands in run, script or scriptFile/],
    'two programs': [{ run, script: '#!/bin/sh' }, /^spec\.script: Forbidden: a job with run/],
    'no command': [{ run: [] }, /^spec\.run: Required value: at least one command/],
    'an empty command': [{ run, build: [' '] }, /^spec\.build\[0\]: Required value: a command/],
    'a NUL in a command': [{ run: ['a\0b'] }, /^spec\.run\[0\]: .*must not contain NUL/],
    'a script without an interpreter': [{ script: 'hostname' }, /^spec\.script: .*must begin with #!/],
    'a script that does not exist': [
      { scriptFile: 'job.slurm' },
      /^spec\.scriptFile: .*spec\.files has no such path/,
    ],
    'a path that leaves the folder': [
      { run, files: [{ path: '../x', content: '' }] },
      /^spec\.files\[0\]\.path: .*must not contain '\.' or '\.\.'/,
    ],
    'an absolute path': [{ run, files: [{ path: '/etc/x', content: '' }] }, /^spec\.files\[0\]\.path/],
    'a path of the client': [
      { run, files: [{ path: '.minik8s/job-id', content: '1' }] },
      /^spec\.files\[0\]\.path: .*the folder of the client/,
    ],
    'a path twice': [
      {
        run,
        files: [
          { path: 'a', content: '' },
          { path: 'a', content: '' },
        ],
      },
      /^spec\.files\[1\]\.path: Duplicate value/,
    ],
    'a file in a file': [
      {
        run,
        files: [
          { path: 'a', content: '' },
          { path: 'a/b', content: '' },
        ],
      },
      /^spec\.files\[1\]\.path: .*a is a file/,
    ],
    'a file without content': [{ run, files: [{ path: 'a' }] }, /^spec\.files\[0\]\.content: Required value/],
    'a file with two contents': [
      { run, files: [{ path: 'a', content: '', base64: '' }] },
      /^spec\.files\[0\]\.base64: Forbidden/,
    ],
    'invalid bytes': [
      { run, files: [{ path: 'a', base64: 'x!' }] },
      /^spec\.files\[0\]\.base64: .*must be base64/,
    ],
    'too much': [
      { run, files: [{ path: 'a', content: 'x'.repeat(1_000_001) }] },
      /^spec\.files: .*may not be more than 1000000 bytes/,
    ],
    'a partition with a space': [{ run, partition: 'a --wrap=x' }, /^spec\.partition: Invalid value/],
    'an account that begins with a dash': [{ run, account: '--uid=root' }, /^spec\.account: Invalid value/],
    'no node': [{ run, nodes: 0 }, /^spec\.nodes: .*must be between 1 and 1000000/],
    'a GPU type without a number of GPUs': [{ run, gpuType: 'a100' }, /^spec\.gpus: Required value/],
    'too little memory': [{ run, memory: '4' }, /^spec\.memory: .*must be at least 1Mi/],
    'an invalid time': [{ run, time: '1h' }, /^spec\.time: .*must be a number of seconds, or a text/],
    'no time': [{ run, time: '0:00' }, /^spec\.time: .*more than 0/],
    'an array with a descending range': [{ run, array: '9-0' }, /^spec\.array/],
    'an array of too many tasks': [{ run, array: '0-1000000' }, /^spec\.array: .*no more than 10000 tasks/],
    'an option that the client sets': [
      { run, arguments: ['--output=/etc/x'] },
      /^spec\.arguments\[0\]: .*--output is not an option/,
    ],
    'an option that wraps a command': [{ run, arguments: ['--wrap=x'] }, /^spec\.arguments\[0\]/],
    'a short option': [
      { run, arguments: ['-n4'] },
      /^spec\.arguments\[0\]: .*must be one option with its value/,
    ],
    'an option of two lines': [
      { run, arguments: ['--constraint=a\nb'] },
      /^spec\.arguments\[0\]: .*printable/,
    ],
    'a module name with a shell command': [{ run, modules: ['cuda; rm'] }, /^spec\.modules\[0\]/],
    'a variable with an invalid name': [{ run, environment: { 'A B': '1' } }, /^spec\.environment\[A B\]/],
    'a variable that sbatch sets': [
      { run, environment: { SBATCH_WRAP: '1' } },
      /^spec\.environment\[SBATCH_WRAP\]: Forbidden/,
    ],
    'a work folder with ..': [{ run, workDir: 'a/../b' }, /^spec\.workDir: Invalid value/],
    'a work folder with a shell expansion': [{ run, workDir: '$(x)' }, /^spec\.workDir: Invalid value/],
    'results elsewhere': [{ run, results: ['../*'] }, /^spec\.results\[0\]: .*must be a relative path/],
    'result globs with a shell expansion': [{ run, results: ['`x`'] }, /^spec\.results\[0\]/],
    'too many bytes of results': [{ run, resultsLimit: '65Mi' }, /^spec\.resultsLimit: .*at most 64Mi/],
    'no deadline': [{ run, activeDeadlineSeconds: 0 }, /^spec\.activeDeadlineSeconds/],
    'a Secret without a name': [{ run, connection: { secretName: '' } }, /^spec\.connection\.secretName/],
  };
  for (const [title, [spec, ...expected]] of Object.entries(refused)) {
    it(title, () => {
      const found = causes(spec);
      assert.equal(found.length, expected.length, found.join('\n'));
      for (const [index, pattern] of expected.entries()) assert.match(found[index] ?? '', pattern);
    });
  }
  it('a name with a dot', () => assert.match(causes({ run }, { name: 'a.b' }).join(), /^metadata\.name/));
});

describe('an update of a SlurmJob', () => {
  const update = (spec: object, old: object) =>
    (strategy.validateUpdate?.(job(spec), job(old)) ?? []).map(({ field }) => field);

  it('can only change the fields that end it', () => {
    const more = { cancel: true, activeDeadlineSeconds: 5, ttlSecondsAfterFinished: 5 };
    assert.deepEqual(update({ run, ...more }, { run }), []);
    assert.deepEqual(update({ run: ['./b'], nodes: 2 }, { run }), ['spec.run', 'spec.nodes']);
  });
  it('cannot undo a cancellation', () =>
    assert.deepEqual(update({ run }, { run, cancel: true }), ['spec.cancel']));

  const context = {} as Parameters<NonNullable<typeof strategy.prepareForCreate>>[1];
  it('cannot remove the finalizer, which is set from the beginning', () => {
    const made = job({ run }, { finalizers: ['a/b'] });
    strategy.prepareForCreate?.(made, context);
    assert.deepEqual(made.metadata.finalizers, ['a/b', slurmFinalizer]);
    const replaced = job({ run });
    strategy.prepareForUpdate?.(replaced, made, context);
    assert.deepEqual(replaced.metadata.finalizers, [slurmFinalizer]);
  });
  it('can remove the finalizer of a job that is being deleted', () => {
    const old = job({ run }, { finalizers: [slurmFinalizer], deletionTimestamp: before(1) });
    const freed = job({ run }, { deletionTimestamp: before(1) });
    strategy.prepareForUpdate?.(freed, old, context);
    assert.deepEqual(freed.metadata.finalizers ?? [], []);
  });
});

it('a SlurmJob has ended only in the phases Succeeded, Failed and Canceled', () => {
  const ended = ['Waiting', 'Running', 'Succeeded', 'Failed', 'Canceled'].map((phase) =>
    slurmJobEnded({ status: { phase } as SlurmJob['status'] }),
  );
  assert.deepEqual(ended, [false, false, true, true, true]);
});

describe('a SlurmFile', () => {
  const file = (spec: object) =>
    decode(slurmFileResource, {
      apiVersion: 'minik8s.io/v1',
      kind: 'SlurmFile',
      metadata: { name: 'f', namespace: 'default' },
      spec: {
        job: 'add',
        jobUID: 'u1',
        kind: 'Result',
        path: 'out/a.csv',
        offset: 0,
        length: 3,
        data: 'AAEC',
        ...spec,
      },
    });
  const problems = (spec: object) =>
    (slurmFileResource.strategy.validate?.(file(spec)) ?? []).map(({ field }) => field);

  it('contains bytes', () => assert.deepEqual(problems({}), []));
  it('has no path that leads out of a folder', () => {
    for (const path of ['../a', '/a', 'a/../b', '', 'a//b', '.'])
      assert.deepEqual(problems({ path }), ['spec.path']);
  });
  it('has the exact number of its bytes', () => assert.deepEqual(problems({ length: 4 }), ['spec.length']));
  it('has no offset before the file', () => assert.deepEqual(problems({ offset: -1 }), ['spec.offset']));
  it('has base64', () => assert.deepEqual(problems({ data: '!' }), ['spec.data']));
  it('has at most 512 KiB', () => {
    const length = 512 * 1024 + 1;
    assert.deepEqual(problems({ length, data: Buffer.alloc(length).toString('base64') }), ['spec.length']);
  });
  it('cannot be changed', () => {
    const { validateUpdate } = slurmFileResource.strategy;
    assert.deepEqual(validateUpdate?.(file({}), file({})), []);
    assert.deepEqual(
      validateUpdate?.(file({ offset: 3 }), file({}))?.map(({ field }) => field),
      ['spec'],
    );
  });
});

testCells(
  slurmJobResource,
  'a new job',
  { spec: { connection: { secretName: 'hpc' }, run } },
  {
    Name: 'web',
    Phase: 'Waiting',
    State: '<none>',
    Job: '<none>',
    Exit: '<none>',
    Reason: '<none>',
    Partition: '<none>',
    Nodes: '<none>',
    Age: '95s',
  },
);
testCells(
  slurmJobResource,
  'a job that runs',
  {
    spec: { connection: { secretName: 'hpc' }, run, partition: 'gpu' },
    status: { phase: 'Running', state: 'RUNNING', jobID: '7', nodes: 'n[1-2]', exitCode: 0, reason: 'None' },
  },
  {
    Phase: 'Running',
    State: 'RUNNING',
    Job: '7',
    Exit: '0',
    Reason: 'None',
    Partition: 'gpu',
    Nodes: 'n[1-2]',
  },
);
testCells(
  slurmFileResource,
  'a piece of a file',
  { spec: { job: 'add', jobUID: 'u', kind: 'Output', path: 'stdout', offset: 7, length: 3, data: 'AAEC' } },
  { Name: 'web', Job: 'add', Kind: 'Output', Path: 'stdout', Offset: 7, Bytes: 3, Age: '95s' },
);
