/** Jobs whose pods have indexes: running, completed and failed indexes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Job, jobResource } from '../../../../../src/api/batch/v1/job.ts';
import {
  failureCountKey,
  ignoredFailureCountKey,
  indexKey,
} from '../../../../../src/controllers/workloads/jobs/job-pods-plan.ts';
import { JobWorld, job, jobPod } from './job-world.ts';

const indexed = (spec: Partial<Job['spec']> = {}, status?: Job['status']) =>
  job({ completionMode: 'Indexed', parallelism: 3, completions: 3, ...spec }, status);
const indexes = (world: JobWorld) =>
  world.running.map(({ metadata }) => Number(metadata.annotations?.[indexKey])).sort((a, b) => a - b);
const at = (world: JobWorld, index: number) => {
  const found = world.running.find(({ metadata }) => metadata.annotations?.[indexKey] === String(index));
  assert.ok(found, `a pod of index ${index} runs`);
  return found;
};

describe('an indexed Job', () => {
  it('creates one pod for each index, with the index in its name, label and environment', async () => {
    const world = new JobWorld(indexed());
    await world.settle();
    assert.deepEqual(indexes(world), [0, 1, 2]);
    const { metadata, spec } = at(world, 1);
    assert.match(metadata.name, /^work-1-/);
    assert.equal(metadata.labels?.[indexKey], '1');
    assert.equal(metadata.annotations?.[failureCountKey], undefined);
    assert.equal(spec.hostname, 'work-1');
    assert.deepEqual(spec.containers[0]?.env, [
      {
        name: 'JOB_COMPLETION_INDEX',
        valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${indexKey}']` } },
      },
    ]);
  });

  it('keeps an existing variable of that name, and long names', async () => {
    const one = indexed({ completions: 1 });
    const env = [{ name: 'JOB_COMPLETION_INDEX', value: 'mine' }];
    const [container] = one.spec.template.spec.containers;
    assert.ok(container);
    one.spec.template.spec.containers = [{ ...container, env }];
    const world = new JobWorld(one);
    await world.settle();
    assert.deepEqual(at(world, 0).spec.containers[0]?.env, env);
    const name = 'n'.repeat(60);
    const long = new JobWorld({ ...one, metadata: { ...one.metadata, name } });
    await long.reconcile(`default/${name}`);
    assert.match(long.pods[0]?.metadata.generateName ?? '', /^n{55}-0-$/);
  });

  it('records the succeeded indexes, and creates pods for the first remaining ones', async () => {
    const world = new JobWorld(indexed({ completions: 5 }));
    await world.settle();
    for (const index of [0, 2]) world.end(at(world, index), 'Succeeded');
    await world.settle();
    assert.deepEqual([world.job.status?.completedIndexes, world.job.status?.succeeded], ['0,2', 2]);
    assert.deepEqual(indexes(world), [1, 3, 4]);
    for (const index of [1, 3, 4]) world.end(at(world, index), 'Succeeded');
    await world.settle();
    assert.equal(world.job.status?.completedIndexes, '0-4');
    assert.equal(world.conditions.at(-1), 'Complete=True CompletionsReached');
  });

  it('replaces a failed pod after the back-off, with its index', async () => {
    const world = new JobWorld(indexed());
    await world.settle();
    world.end(at(world, 1), 'Failed');
    assert.equal(await world.settle(), 10_000);
    assert.deepEqual([indexes(world), world.job.status?.failed], [[0, 2], 1]);
    await world.clock.advance(10_000);
    await world.settle();
    assert.deepEqual(indexes(world), [0, 1, 2]);
  });

  it('removes pods without an index of their own, keeps the most advanced pods, and counts no failure', async () => {
    const world = new JobWorld(
      indexed(),
      jobPod('a', { index: 0, readyAt: 0 }),
      jobPod('b', { index: 0, phase: 'Pending' }),
      jobPod('c', { index: 7 }),
      jobPod('d'),
      jobPod('e', { metadata: { annotations: { [indexKey]: 'one' } } }),
    );
    await world.settle();
    assert.deepEqual(
      world.running.map(({ metadata }) => metadata.name.slice(0, 6)),
      ['a', 'work-1', 'work-2'],
    );
    assert.equal(world.job.status?.failed, undefined);
  });

  it('does not count an index twice when two of its pods succeed', async () => {
    const world = new JobWorld(
      indexed(),
      jobPod('a', { index: 0, phase: 'Succeeded' }),
      jobPod('b', { index: 0, phase: 'Succeeded' }),
    );
    await world.settle();
    assert.deepEqual([world.job.status?.succeeded, world.job.status?.completedIndexes], [1, '0']);
  });

  it('that is made smaller drops the indexes beyond, and is complete with the remaining ones', async () => {
    const world = new JobWorld(indexed({}, { completedIndexes: '0-2', succeeded: 3 }));
    world.put(jobResource, { ...world.job, spec: indexed({ parallelism: 2, completions: 2 }).spec });
    await world.settle();
    assert.deepEqual([world.job.status?.succeeded, world.job.status?.completedIndexes], [2, '0,1']);
    assert.equal(world.conditions.at(-1), 'Complete=True CompletionsReached');
  });

  it('parses a status of another writer as far as it is valid', async () => {
    const world = new JobWorld(indexed({}, { completedIndexes: 'x,2-1,0-,1,9', succeeded: 9 }));
    await world.settle();
    assert.deepEqual([world.job.status?.succeeded, indexes(world)], [1, [0, 2]]);
  });
});

describe('a limit for each index', () => {
  const limited = (spec: Partial<Job['spec']> = {}) =>
    indexed({ backoffLimitPerIndex: 1, backoffLimit: 2 ** 31 - 1, ...spec });

  it('copies the failure count to the next pod, and fails the index at the limit', async () => {
    const world = new JobWorld(limited({ completions: 2, parallelism: 2 }));
    await world.settle();
    const failing = at(world, 1);
    assert.equal(failing.metadata.annotations?.[failureCountKey], '0');
    world.end(failing, 'Failed');
    assert.equal(await world.settle(), 10_000);
    const held = world.pods.find(({ metadata }) => metadata.name === failing.metadata.name);
    assert.equal(held?.metadata.finalizers?.length, 1, 'it stays until the next one knows');
    await world.clock.advance(10_000);
    await world.settle();
    assert.equal(at(world, 1).metadata.annotations?.[failureCountKey], '1');
    assert.equal(world.job.status?.failed, 1);
    world.end(at(world, 1), 'Failed');
    await world.settle();
    assert.equal(world.job.status?.failedIndexes, '1');
    assert.deepEqual(indexes(world), [0]);
    world.end(at(world, 0), 'Succeeded');
    await world.settle();
    assert.deepEqual(world.conditions, ['FailureTarget=True FailedIndexes', 'Failed=True FailedIndexes']);
    assert.deepEqual([world.job.status?.failed, world.job.status?.succeeded], [2, 1]);
  });

  it('ends the Job when too many indexes have failed', async () => {
    const world = new JobWorld(
      limited({ backoffLimitPerIndex: 0, maxFailedIndexes: 1, parallelism: 3, completions: 9 }),
    );
    await world.settle();
    world.end(at(world, 0), 'Failed');
    await world.settle();
    assert.deepEqual(world.conditions, []);
    world.end(at(world, 1), 'Failed');
    await world.settle();
    assert.deepEqual(world.conditions, ['FailureTarget=True MaxFailedIndexesExceeded']);
    assert.equal(world.job.status?.failedIndexes, '0,1');
  });

  it('uses a failure that a rule ignores only for the back-off', async () => {
    const rules = [{ action: 'Ignore' as const, onExitCodes: { operator: 'In' as const, values: [3] } }];
    const world = new JobWorld(limited({ completions: 1, parallelism: 1, podFailurePolicy: { rules } }));
    await world.settle();
    for (const [wait, ignored] of [
      [10_000, '1'],
      [20_000, '2'],
    ] as const) {
      world.end(at(world, 0), 'Failed', 3);
      assert.equal(await world.settle(), wait);
      await world.clock.advance(wait);
      await world.settle();
      const { annotations } = at(world, 0).metadata;
      assert.deepEqual(
        [annotations?.[failureCountKey], annotations?.[ignoredFailureCountKey]],
        ['0', ignored],
      );
    }
    assert.equal(world.job.status?.failed, undefined);
  });

  it('fails an index at once if a rule has the action FailIndex', async () => {
    const rules = [{ action: 'FailIndex' as const, onExitCodes: { operator: 'In' as const, values: [42] } }];
    const world = new JobWorld(limited({ backoffLimitPerIndex: 5, podFailurePolicy: { rules } }));
    await world.settle();
    world.end(at(world, 2), 'Failed', 42);
    await world.settle();
    assert.equal(world.job.status?.failedIndexes, '2');
  });

  it('copies the failure count of the pod that failed last, if there are several', async () => {
    const failed = (name: string, count: string, endedAt: number) =>
      jobPod(name, {
        ...{ index: 0, phase: 'Failed', exitCode: 1, endedAt },
        metadata: { annotations: { [failureCountKey]: count } },
      });
    const world = new JobWorld(
      limited({ completions: 1, parallelism: 1, backoffLimitPerIndex: 9 }),
      failed('a', '1', 2),
      failed('b', '3', 4),
      failed('c', '2', 3),
    );
    await world.clock.advance(600_000);
    await world.settle();
    assert.equal(at(world, 0).metadata.annotations?.[failureCountKey], '4');
    assert.equal(world.job.status?.failed, 3);
  });

  it('ignores a failure count of a pod that is not a number', async () => {
    for (const text of ['-5', '1e9', '99999999999', 'x']) {
      const world = new JobWorld(
        limited({ completions: 1, parallelism: 1 }),
        jobPod('a', {
          index: 0,
          phase: 'Failed',
          exitCode: 1,
          metadata: { annotations: { [failureCountKey]: text } },
        }),
      );
      await world.settle();
      assert.equal(world.job.status?.failedIndexes, '', text);
    }
  });
});

describe('a success policy', () => {
  const rules = (...all: NonNullable<NonNullable<Job['spec']['successPolicy']>['rules']>) => ({
    successPolicy: { rules: all },
  });
  const cases: [what: string, policy: Partial<Job['spec']>, succeed: number[], rule: number | undefined][] = [
    ['all of its indexes', rules({ succeededIndexes: '0,2' }), [0, 2], 0],
    ['all but one', rules({ succeededIndexes: '0,2' }), [0, 1], undefined],
    ['a number of the listed indexes', rules({ succeededIndexes: '0-2', succeededCount: 1 }), [1], 0],
    [
      'other indexes than the listed ones',
      rules({ succeededIndexes: '0-1', succeededCount: 1 }),
      [2],
      undefined,
    ],
    ['a number of any indexes', rules({ succeededCount: 3 }, { succeededCount: 2 }), [0, 2], 1],
  ];
  for (const [what, policy, succeed, rule] of cases)
    it(`with ${what} ${rule === undefined ? 'is not met' : `is met by rule ${rule}`}`, async () => {
      const world = new JobWorld(indexed({ completions: 4, parallelism: 4, ...policy }));
      await world.settle();
      for (const index of succeed) world.end(at(world, index), 'Succeeded');
      await world.settle();
      assert.deepEqual(world.conditions, rule === undefined ? [] : ['SuccessCriteriaMet=True SuccessPolicy']);
      if (rule === undefined) return;
      assert.equal(world.job.status?.conditions?.[0]?.message, `Matched rules at index ${rule}`);
      assert.deepEqual(
        [world.running, world.job.status?.failed],
        [[], undefined],
        'the other pods are removed and not counted',
      );
      for (const one of world.pods) if (one.metadata.deletionTimestamp) world.remove(one);
      await world.settle();
      assert.equal(world.conditions.at(-1), 'Complete=True SuccessPolicy');
    });
});

describe('a failure policy', () => {
  const policy = (...rules: NonNullable<NonNullable<Job['spec']['podFailurePolicy']>['rules']>) => ({
    podFailurePolicy: { rules },
  });

  it('fails the Job by an exit code, with the container, the pod and the rule in the message', async () => {
    const onExitCodes = { containerName: 'app', operator: 'In' as const, values: [3, 42] };
    const world = new JobWorld(
      job(policy({ action: 'FailJob', onExitCodes })),
      jobPod('a', { phase: 'Failed', exitCode: 42 }),
    );
    await world.settle();
    assert.deepEqual(world.conditions, [
      'FailureTarget=True PodFailurePolicy',
      'Failed=True PodFailurePolicy',
    ]);
    assert.equal(
      world.job.status?.conditions?.[0]?.message,
      'Container app for pod default/a failed with exit code 42 matching FailJob rule at index 0',
    );
    assert.equal(world.job.status?.failed, 1);
  });

  it('fails the Job by a condition', async () => {
    const onPodConditions = [{ type: 'ConfigIssue', status: 'True' as const }];
    const failed = jobPod('a', { phase: 'Failed', exitCode: 1 });
    failed.status?.conditions?.push({ type: 'ConfigIssue', status: 'True' });
    const world = new JobWorld(job(policy({ action: 'FailJob', onPodConditions })), failed);
    await world.settle();
    assert.equal(
      world.job.status?.conditions?.[0]?.message,
      'Pod default/a has condition ConfigIssue matching FailJob rule at index 0',
    );
  });

  const matches: [
    what: string,
    exit: Parameters<typeof policy>[0]['onExitCodes'],
    code: number,
    ignored: boolean,
  ][] = [
    ['another container', { containerName: 'other', operator: 'In', values: [1] }, 1, false],
    ['NotIn', { operator: 'NotIn', values: [2] }, 1, true],
    ['NotIn of that code', { operator: 'NotIn', values: [1] }, 1, false],
    ['NotIn of a container that succeeded', { operator: 'NotIn', values: [1] }, 0, false],
  ];
  for (const [what, onExitCodes, exitCode, ignored] of matches)
    it(`${ignored ? 'matches' : 'does not match'} by exit codes: ${what}`, async () => {
      const world = new JobWorld(
        job(policy({ action: 'Ignore', ...(onExitCodes && { onExitCodes }) })),
        jobPod('a', { phase: 'Failed', exitCode }),
      );
      assert.equal(await world.settle(), 10_000, 'it waits in any case');
      assert.equal(world.job.status?.failed, ignored ? undefined : 1);
      assert.deepEqual(world.pods[0]?.metadata.finalizers, []);
    });

  it('uses the first rule that matches', async () => {
    const onExitCodes = { operator: 'In' as const, values: [1] };
    const world = new JobWorld(
      job(policy({ action: 'Count', onExitCodes }, { action: 'FailJob', onExitCodes })),
      jobPod('a', { phase: 'Failed', exitCode: 1 }),
    );
    await world.settle();
    assert.deepEqual(world.conditions, []);
  });

  it('waits for the end of a pod that is being deleted, because it may still succeed', async () => {
    const onPodConditions = [{ type: 'DisruptionTarget' }];
    const world = new JobWorld(
      job(policy({ action: 'Ignore', onPodConditions })),
      jobPod('a', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    );
    await world.settle();
    assert.equal(world.running.length, 0);
    world.end(world.pods[0] ?? jobPod('a'), 'Succeeded');
    await world.settle();
    assert.equal(world.conditions.at(-1), 'Complete=True CompletionsReached');
  });
});
