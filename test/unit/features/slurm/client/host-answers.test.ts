import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  accountLines,
  isForNow,
  listedFiles,
  lookedAt,
  queueLines,
} from '../../../../../src/features/slurm/client/host-answers.ts';

describe('parsed output of Slurm', () => {
  it('contains the states of the queue', () => {
    const text = [
      'squeue: some warning',
      '1|FAILED|2026-11-23T23:00:57|2026-11-23T23:00:57|2026-11-23T23:01:00|login|NonZeroExitCode',
      '2_[2-3,7%2]|PENDING|2026-11-23T23:00:57|N/A|N/A||JobArrayTaskLimit',
      '2_0|RUNNING|2026-11-23T23:00:57|2026-11-23T23:00:57|2027-11-23T23:00:57|n[1-2]|None',
    ].join('\n');
    const rows = queueLines(text).map(({ id, tasks, state, reason, nodes, endTime }) => ({
      id,
      tasks,
      state,
      reason,
      nodes,
      endTime,
    }));
    assert.deepEqual(rows, [
      {
        id: '1',
        tasks: undefined,
        state: 'FAILED',
        reason: 'NonZeroExitCode',
        nodes: 'login',
        endTime: '2026-11-23T23:01:00Z',
      },
      {
        id: '2',
        tasks: [2, 3, 7],
        state: 'PENDING',
        reason: 'JobArrayTaskLimit',
        nodes: '',
        endTime: undefined,
      },
      { id: '2', tasks: [0], state: 'RUNNING', reason: '', nodes: 'n[1-2]', endTime: undefined },
    ]);
  });

  it('queue and accounting rows keep the times of submission, start and end apart', () => {
    const times = '2026-01-01T00:00:01|2026-01-01T00:00:02|2026-01-01T00:00:03';
    for (const [row] of [
      queueLines(`7|COMPLETED|${times}|n1|None\n`),
      accountLines(`7|COMPLETED|0:0|${times}|n1\n`),
    ])
      assert.deepEqual(
        [row?.submitTime, row?.startTime, row?.endTime, row?.nodes],
        ['2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z', '2026-01-01T00:00:03Z', 'n1'],
      );
  });

  it('rows with missing or additional columns keep the columns that exist', () => {
    for (const text of ['7|RUNNING', '7|RUNNING|', '7|RUNNING|||||'])
      assert.deepEqual(
        queueLines(text).map(({ id, state, nodes, reason, startTime }) => [
          id,
          state,
          nodes,
          reason,
          startTime,
        ]),
        [['7', 'RUNNING', '', '', undefined]],
      );
    assert.equal(queueLines('7|PENDING|||||a|b|c')[0]?.reason, 'a|b|c');
    assert.deepEqual(accountLines('7|FAILED|2:0||||n1|more')[0]?.nodes, 'n1');
    for (const text of ['RUNNING|7', '|RUNNING', '7', '7|', '7|running', 'x|RUNNING', '7.batch|COMPLETED'])
      assert.deepEqual([...queueLines(text), ...accountLines(text)], [], text);
  });

  it('contains the states of accounting', () => {
    const [canceled, killed] = accountLines(
      '3|CANCELLED by 4242|0:15|2026-01-01T00:00:00|Unknown|2026-01-01T00:00:01|None assigned\n4_5|TIMEOUT|3:0|||x|n1\n',
    );
    assert.deepEqual(
      [canceled?.state, canceled?.exitCode, canceled?.nodes, canceled?.startTime],
      ['CANCELLED', 143, '', undefined],
    );
    assert.deepEqual([killed?.tasks, killed?.state, killed?.exitCode], [[5], 'TIMEOUT', 3]);
  });

  it('contains the files of a job', () => {
    const looked = lookedAt(
      '12|/a b|c/.minik8s/stdout-3\n0|/a b|c/.minik8s/exited.-.7\n9|/x/.minik8s/other\n',
    ).get('/a b|c');
    assert.deepEqual([...(looked?.sizes ?? [])], [['stdout-3', 12]]);
    assert.deepEqual([...(looked?.exited ?? [])], [['-', 7]]);
    assert.deepEqual(listedFiles('3\ta\nb\x0012\tx/y\x005\tcut'), [
      { path: 'a\nb', size: 3 },
      { path: 'x/y', size: 12 },
    ]);
  });

  for (const [words, forNow] of [
    ['sbatch: error: Batch job submission failed: Invalid partition name specified', false],
    ['sbatch: error: Batch job submission failed: Requested node configuration is not available', false],
    ['sbatch: error: Batch job submission failed: Socket timed out on send/recv operation', true],
    [
      "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
      true,
    ],
    [
      'sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)',
      true,
    ],
    ['', true],
  ] as const)
    it(`contains a rejection ${forNow ? 'for now' : 'for good'}: ${words || 'no word'}`, () =>
      assert.equal(isForNow(words), forNow));
});
