/** Jobs for Slurm clusters of other systems, and the SlurmJobs that they are converted to. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import { convertObject } from '../../../../src/apimachinery/decode.ts';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { convert, pathsOf } from '../../../../src/cli/convert/convert-plan.ts';
import { slurmJobResource } from '../../../../src/features/slurm/api/slurm-job.ts';
import { validateSlurmJob } from '../../../../src/features/slurm/api/slurm-validation.ts';

const source = (files: Record<string, string>, binaryFiles: Record<string, string> = {}) => ({
  files,
  binaryFiles,
});
const script = '#!/bin/bash\n#SBATCH --partition=dgx2\nnvcc add.cu -o add\n./add\n';
const sources = new Map<string, ReturnType<typeof source> | Error>([
  ['cuda/add.cu', source({ 'add.cu': 'int main() {}\n' })],
  ['cuda/add.slurm', source({ 'add.slurm': script })],
  ['work', source({ 'add.cu': 'int main() {}\n', 'in/Makefile': 'all:\n' }, { 'in/data': '/w==' })],
  ['Makefile', source({ Makefile: 'all:\n' })],
  ['gpu.mk', source({ 'gpu.mk': 'all:\n' })],
  ['gone', new Error('gone: there is no file or folder gone')],
]);

const secretNote =
  'connection: added: create a Secret slurm with host, user, privateKey or password, and knownHosts';

/** Returns the single job of a conversion, which the API server would accept. */
function convertedJob(object: JsonObject) {
  const { objects, notes, errors } = convert([{ where: 'f', object, sources }], kubernetesFields);
  assert.deepEqual(errors, []);
  assert.equal(objects.length, 1);
  const { object: job } = convertObject(kubernetesFields, slurmJobResource, objects[0], 'Strict');
  assert.deepEqual(validateSlurmJob(job), []);
  return { object: objects[0] as JsonObject, notes: notes.map((note) => note.replace(/^f: /, '')) };
}

const errorsOf = (object: JsonObject) =>
  convert([{ where: 'f', object, sources }], kubernetesFields).errors.map(({ message }) => message);

describe('a program with a batch script', () => {
  for (const isFlat of [true, false])
    it(isFlat ? 'beside the kind' : 'below spec', () => {
      const fields = { cudaPath: 'cuda/add.cu', slurmPath: 'cuda/add.slurm' };
      const object = {
        apiVersion: 'v1',
        kind: 'Job',
        metadata: { name: 'add' },
        ...(isFlat ? fields : { spec: fields }),
      };
      assert.deepEqual(pathsOf({ where: 'f', object }), ['cuda/add.cu', 'cuda/add.slurm']);
      const { object: made, notes } = convertedJob(object);
      assert.deepEqual(made, {
        apiVersion: 'minik8s.io/v1',
        kind: 'SlurmJob',
        metadata: { name: 'add' },
        spec: {
          connection: { secretName: 'slurm' },
          files: [
            { path: 'add.cu', content: 'int main() {}\n' },
            { path: 'add.slurm', content: script },
          ],
          scriptFile: 'add.slurm',
        },
      });
      assert.deepEqual(notes, [isFlat ? secretNote : `spec.${secretNote}`]);
    });

  it('is rejected if a path does not exist, or is a folder', () => {
    assert.deepEqual(errorsOf({ kind: 'Job', metadata: { name: 'x' }, slurmPath: 'gone' }), [
      'f: gone: there is no file or folder gone',
    ]);
    assert.deepEqual(errorsOf({ kind: 'Job', metadata: { name: 'x' }, slurmPath: 'work' }), [
      'f: slurmPath: not a file',
    ]);
  });
});

describe('a folder with commands', () => {
  const spec = {
    partition: 'dgx2',
    nTasks: 2,
    nTasksPerNode: '1',
    submitDirectory: 'work',
    compileCommands: ['nvcc add.cu -o add'],
    runCommands: ['./add'],
    outputFile: 'result.out',
    errorFile: 'error.err',
    username: 'me',
    password: 'secret',
    gpuNums: 1,
  };

  it('keeps its files and resources, and leaves out the password', () => {
    const { object, notes } = convertedJob({ kind: 'Job', metadata: { name: 'x', namespace: 'n' }, spec });
    assert.deepEqual(object.metadata, { name: 'x', namespace: 'n' });
    assert.deepEqual(object.spec, {
      connection: { secretName: 'slurm' },
      files: [
        { path: 'add.cu', content: 'int main() {}\n' },
        { path: 'in/Makefile', content: 'all:\n' },
        { path: 'in/data', base64: '/w==' },
      ],
      build: ['nvcc add.cu -o add'],
      run: ['./add'],
      partition: 'dgx2',
      tasks: 2,
      tasksPerNode: 1,
      gpus: 1,
    });
    assert.deepEqual(notes, [
      `spec.${secretNote}`,
      'spec.username: left out: it belongs in the Secret slurm',
      'spec.password: left out: it belongs in the Secret slurm',
      'spec.outputFile: left out: `ctl logs slurmjob/NAME` prints the output of the job',
      'spec.errorFile: left out: `ctl logs slurmjob/NAME` prints the output of the job',
    ]);
  });

  it('may have shorter words, no GPU and nothing to build', () => {
    const short = { submitDir: 'work', runCmd: ['./add'], numTasks: 1, numTasksPerNode: 1, gpuNum: 0 };
    const { object } = convertedJob({
      kind: 'Job',
      metadata: { name: 'x' },
      spec: { ...short, output: 'o', error: 'e', userName: 'u', password: 'p', odd: 1 },
    });
    const { connection: _, files, ...rest } = object.spec as JsonObject;
    assert.deepEqual(rest, { run: ['./add'], tasks: 1, tasksPerNode: 1 });
    assert.equal((files as unknown[]).length, 3);
  });

  it('is rejected without commands', () => {
    assert.deepEqual(errorsOf({ kind: 'Job', metadata: { name: 'x' }, spec: { submitDirectory: 'work' } }), [
      'f: runCommands: expected the commands to run',
    ]);
  });
});

describe('a program with a Makefile', () => {
  const slurm = {
    jobName: 'add',
    partition: 'dgx2',
    cpusPerTask: 6,
    ntasksPerNode: 1,
    Node: 1,
    GPU: 1,
    time: '00-00:05:00',
    targetExecutableFileName: 'add-gpu',
  };
  const object = {
    kind: 'GPUJob',
    name: 'Add_GPU',
    sourceCodePath: 'cuda/add.cu',
    MakefilePath: 'Makefile',
    ResultPath: 'results',
    slurm,
  };

  it('is built by make', () => {
    const { object: made, notes } = convertedJob(object);
    assert.deepEqual(made.metadata, { name: 'add-gpu' });
    assert.deepEqual(made.spec, {
      connection: { secretName: 'slurm' },
      files: [
        { path: 'add.cu', content: 'int main() {}\n' },
        { path: 'Makefile', content: 'all:\n' },
      ],
      build: ['make'],
      run: ['./add-gpu'],
      partition: 'dgx2',
      nodes: 1,
      tasksPerNode: 1,
      cpusPerTask: 6,
      gpus: 1,
      time: '00-00:05:00',
    });
    assert.deepEqual(notes, [
      'name: Add_GPU becomes add-gpu',
      secretNote,
      'ResultPath: left out: `ctl slurm results NAME -o DIR` and `ctl logs slurmjob/NAME` fetch the results',
      'slurm.jobName: left out: the job has the name of the object',
    ]);
  });

  it('may have a Makefile of another name, its own name, and days with a colon', () => {
    const { object: made, notes } = convertedJob({
      ...{ kind: 'gpujob', name: 'x', sourceCodePath: 'cuda/add.cu', MakefilePath: 'gpu.mk' },
      slurm: { time: '01:02:03:04' },
    });
    const { build, run, time } = made.spec as JsonObject;
    assert.deepEqual({ build, run, time }, { build: ['make -f gpu.mk'], run: ['./x'], time: '01-02:03:04' });
    assert.deepEqual(notes, [
      secretNote,
      'slurm.targetExecutableFileName: missing: the job runs ./x, which the Makefile must build',
    ]);
  });

  it('quotes a name for the shell', () => {
    const { object: made } = convertedJob({
      ...object,
      slurm: { targetExecutableFileName: "a b'; rm -rf x" },
    });
    assert.deepEqual((made.spec as JsonObject).run, [`./'a b'\\''; rm -rf x'`]);
  });
});

it("Kubernetes' own Job is not converted", () => {
  const job = { kind: 'Job', metadata: { name: 'x' }, spec: { template: { spec: { containers: [] } } } };
  assert.deepEqual(errorsOf(job), ['f: kind Job is not converted']);
});
