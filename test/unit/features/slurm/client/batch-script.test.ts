import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { quoted } from '../../../../../src/base/shell-words.ts';
import {
  arrayTasks,
  sbatchOptions,
  UnusableSpec,
} from '../../../../../src/features/slurm/client/batch-script.ts';
import { directiveFaults } from '../../../../../src/features/slurm/client/sbatch-options.ts';
import type { SlurmJobSpec } from '../../../../../src/features/slurm/client/slurm-job.ts';

const options = (spec: SlurmJobSpec) =>
  sbatchOptions({ namespace: 'default', name: 'add', uid: 'u-1', spec, status: undefined, deleting: false });

describe('options of sbatch', () => {
  for (const [spec, option] of [
    [{ memory: '1Gi' }, '--mem=1024M'],
    [{ memory: '1' }, '--mem=1M'],
    [{ time: 90 }, '--time=1:30'],
    [{ time: '2-12:00' }, '--time=2-12:00'],
    [{ gpus: 2, gpuType: 'a100' }, '--gres=gpu:a100:2'],
    [{ array: '0-9%2' }, '--output=.minik8s/stdout-%a'],
    [{ arguments: ['--exclusive'] }, '--exclusive'],
    // The client accepts every argument that the API server accepts.
    [{ arguments: ['--overcommit'] }, '--overcommit'],
    [{}, '--comment=minik8s:u-1'],
  ] as const)
    it(option, () => assert.ok(options(spec).includes(option), options(spec).join(' ')));

  for (const spec of [
    { memory: 'much' },
    { time: '1; rm' },
    { gpus: 1, gpuType: 'a b' },
    { partition: 'a\nb' },
    { arguments: ['--wait'] },
    { arguments: ['--output=/etc/x'] },
    { arguments: ['job.slurm'] },
  ])
    it(`refuses ${JSON.stringify(spec)}`, () => assert.throws(() => options(spec), UnusableSpec));

  it('reads arrays', () => {
    assert.deepEqual(arrayTasks('1,3,5-7,0-8:4%2'), [0, 1, 3, 4, 5, 6, 7, 8]);
    for (const wrong of ['', 'a', '5-1', '0-9:0', '0-9%0', '0-999999'])
      assert.throws(() => arrayTasks(wrong), UnusableSpec, wrong);
  });

  it('reads the lines of a script that sbatch reads', () => {
    const script = '#!/bin/sh\n#SBATCH -N 2 --time=5\n# a comment\n#SBATCH --wait\necho\n#SBATCH --wrap=x\n';
    assert.deepEqual(directiveFaults(script), ['#SBATCH --wait: not among the options that a job may set']);
    assert.deepEqual(directiveFaults('#!/bin/sh\n#SBATCH -N2 -O --nice=5\n#SBATCH --constructor\n'), [
      '#SBATCH --constructor: not among the options that a job may set',
    ]);
  });

  it('quotes any text that a shell can process', () => {
    const word = `a'b"c$d\`e\\f\ng *;&|<>(){}!~#é`;
    assert.equal(execFileSync('sh', ['-s'], { input: `printf %s ${quoted(word)}`, encoding: 'utf8' }), word);
    assert.throws(() => quoted('a\0b'));
  });
});
