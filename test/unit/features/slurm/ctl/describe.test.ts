import assert from 'node:assert/strict';
import { test } from 'node:test';
import { descriptionText } from '../../../../../src/cli/describe/describe-object.ts';
import { slurmJobDescriber } from '../../../../../src/features/slurm/ctl/describe.ts';

const textOf = (status: object) =>
  descriptionText(
    slurmJobDescriber,
    {
      metadata: { name: 'fit', namespace: 'lab' },
      spec: { connection: { secretName: 'hpc' }, run: ['make', './fit'], gpus: 2, memory: '4Gi' },
      status,
    },
    { related: {}, events: undefined, now: 0 },
  );

test('a SlurmJob that waits shows its state in Slurm and why it waits', () => {
  const text = textOf({ phase: 'Submitted', jobID: '41', state: 'PENDING', reason: 'Resources' });
  assert.match(text, /^Connection: +Secret\/hpc$/m);
  assert.match(text, /^Commands: +make; \.\/fit$/m);
  assert.match(text, /^ {2}GPUs Per Node: +2$/m);
  assert.doesNotMatch(text, /Partition/);
  assert.match(text, /^ {2}State: +PENDING\n {2}Waits For: +Resources$/m);
  assert.match(text, /^ {2}Printed By: +ctl logs slurmjob\/fit -n lab$/m);
});

test('a SlurmJob that has ended shows its exit status, its output and its files', () => {
  const text = textOf({
    ...{ phase: 'Succeeded', state: 'COMPLETED', reason: 'None', exitCode: 0, outputBytes: 120 },
    ...{ workDir: '/home/ann/.minik8s/lab/fit', files: [{ path: 'out/a.csv', size: 9 }] },
    droppedFiles: [{ path: 'big', size: 1e9, reason: 'TooLarge' }],
  });
  assert.doesNotMatch(text, /Waits For/);
  assert.match(text, /^ {2}Exit Code: +0$/m);
  assert.match(text, /^ {2}Written: +120 bytes, errors 0 bytes$/m);
  assert.match(text, /^ {2}Folder On The Host: +\/home\/ann\/\.minik8s\/lab\/fit$/m);
  assert.match(text, /^ {2}out\/a\.csv +9 bytes\n {2}big +not fetched: TooLarge$/m);
  assert.match(text, /^Fetched By: +ctl slurm results fit -n lab -o DIR$/m);
});
