/** A host with impossible answers: the cluster accepts the status of the job nevertheless. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kubernetesFields } from '../../../../../src/api/field-table.ts';
import { convertObject } from '../../../../../src/apimachinery/decode.ts';
import { slurmJobResource } from '../../../../../src/features/slurm/api/slurm-job.ts';
import { chooseResults } from '../../../../../src/features/slurm/client/choose-results.ts';
import {
  accountLines,
  listedFiles,
  lookedAt,
  queueLines,
} from '../../../../../src/features/slurm/client/host-answers.ts';
import { observedStatus, withCondition } from '../../../../../src/features/slurm/client/job-plan.ts';
import type { SlurmJob, SlurmJobStatus } from '../../../../../src/features/slurm/client/slurm-job.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const job: SlurmJob = {
  ...{ namespace: 'a', name: 'b', uid: 'c', status: undefined, deleting: false },
  spec: { run: ['true'] },
};
const status: SlurmJobStatus = { phase: 'Submitted', acceptedTime: '2026-01-01T00:00:00Z', jobID: '7' };

const isTaken = (of: SlurmJobStatus): boolean => {
  const object = {
    ...{ apiVersion: 'minik8s.io/v1', kind: 'SlurmJob', metadata: { name: 'b' } },
    spec: { connection: { secretName: 's' }, run: ['true'] },
    status: JSON.parse(JSON.stringify(of)),
  };
  const { object: taken } = convertObject(kubernetesFields, slurmJobResource, object, 'Strict');
  return JSON.stringify(taken).length < 100_000;
};

describe('false output of a host', () => {
  const observed = (tasks: ReturnType<typeof accountLines>, files = '') => {
    const looked = lookedAt(files).get('/w') ?? { sizes: new Map(), exited: new Map() };
    return observedStatus(job, status, { tasks, looked, forgotten: tasks.length === 0 }).status;
  };
  for (const [what, of] of [
    ['an impossible exit status in accounting', () => observed(accountLines('7|FAILED|99999999999:0||||n1'))],
    ['an impossible exit status in a file', () => observed([], '0|/w/.minik8s/exited.-.99999999999\n')],
    ['an impossible file size', () => observed([], '9223372036854775807|/w/.minik8s/stdout\n')],
    ['an endless state', () => observed(queueLines(`7|${'A'.repeat(1_000_000)}|||||None`))],
    ['an endless list of nodes', () => observed(queueLines(`7|RUNNING||||${'n'.repeat(1_000_000)}|None`))],
    ['an endless reason', () => observed(queueLines(`7|PENDING|||||${'r'.repeat(1_000_000)}`))],
    [
      'an endless message',
      () => {
        const message = 'x'.repeat(1_000_000);
        return withCondition(status, { type: 'Built', status: 'False', reason: 'BuildFailed', message }, now);
      },
    ],
  ] as const)
    it(`${what} fits into the status`, () => assert.ok(isTaken(of()), JSON.stringify(of()).slice(0, 500)));

  it('has at most as many tasks of an array as an array may have', () => {
    const [task] = queueLines(`7_[${'0-99999,'.repeat(10_000)}1]|PENDING|||||None`);
    assert.ok((task?.tasks?.length ?? 0) <= 100_000);
  });
  it('has sizes that the cluster accepts', () => {
    assert.deepEqual(listedFiles('9223372036854775807\tlarge\0'), [
      { path: 'large', size: Number.MAX_SAFE_INTEGER },
    ]);
  });
});

describe('names of results', () => {
  const files = (names: readonly string[]) => names.map((path) => ({ path, size: 1 }));
  const bytes = (list: readonly { readonly path: string }[]) =>
    list.reduce((sum, { path }) => sum + path.length, 0);
  it('with control characters are left on the host, and listed without these characters', () => {
    const { fetched, dropped } = chooseResults(files(['a', 'b\u001b[2J']), ['*'], 100);
    assert.deepEqual(
      [fetched.map(({ path }) => path), dropped.map(({ path }) => path)],
      [['a'], ['b\ufffd[2J']],
    );
  });
  it('fit into the status, in any length', () => {
    const long = Array.from({ length: 1000 }, (_, index) => `${index}`.padStart(4000, 'x'));
    const { fetched, dropped } = chooseResults(files(long), ['*'], 10_000);
    assert.ok(bytes(fetched) <= 128 * 1024 && fetched.length > 30);
    assert.ok(bytes(dropped) <= 128 * 1024 && dropped.length > 30);
  });
});
