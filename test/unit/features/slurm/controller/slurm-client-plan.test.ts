import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { type SlurmJob, slurmFinalizer } from '../../../../../src/features/slurm/api/slurm-job.ts';
import { planConnection } from '../../../../../src/features/slurm/controller/slurm-client-plan.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();

interface JobParts {
  readonly phase?: string;
  readonly ended?: number;
  readonly deleted?: boolean;
  readonly held?: boolean;
  readonly ttl?: number;
}

const job = ({ phase, ended, deleted, held = true, ttl }: JobParts = {}): SlurmJob =>
  ({
    metadata: {
      name: 'j',
      namespace: 'default',
      uid: 'u',
      creationTimestamp: ago(1000),
      ...(held && { finalizers: [slurmFinalizer] }),
      ...(deleted && { deletionTimestamp: ago(1) }),
    },
    spec: { connection: { secretName: 'hpc' }, ...(ttl !== undefined && { ttlSecondsAfterFinished: ttl }) },
    status: {
      phase,
      ...(ended !== undefined && {
        conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: ago(ended) }],
      }),
    },
  }) as unknown as SlurmJob;

const pod = (name: string, parts: { phase?: string; deleted?: boolean; age?: number } = {}): Pod =>
  ({
    metadata: {
      name,
      uid: name,
      creationTimestamp: ago(parts.age ?? 100),
      ...(parts.deleted && { deletionTimestamp: ago(1) }),
    },
    status: { phase: parts.phase ?? 'Running' },
  }) as unknown as Pod;

interface State {
  readonly jobs?: readonly SlurmJob[];
  readonly pods?: readonly Pod[];
  readonly secretIsThere?: boolean;
  readonly namespaceEnds?: boolean;
}

const plan = ({ jobs = [], pods = [], secretIsThere, namespaceEnds = false }: State) => {
  const made = planConnection({ jobs, pods, secretIsThere, namespaceEnds, now });
  return {
    needsClient: made.needsClient,
    remove: made.remove.map(({ metadata }) => metadata.name),
    release: made.release.map(({ left }) => left),
    expired: made.expired.length,
    again: made.again,
  };
};
const nothing = { needsClient: false, remove: [], release: [], expired: 0, again: undefined };

describe('the client of a connection', () => {
  it('exists while a job is not finished', () => {
    assert.deepEqual(plan({ jobs: [job()] }), { ...nothing, needsClient: true });
    assert.deepEqual(plan({ jobs: [job({ phase: 'Running' })], pods: [pod('a')] }), {
      ...nothing,
      needsClient: true,
    });
  });
  it('waits two minutes for more jobs, and ends', () => {
    const jobs = [job({ phase: 'Succeeded', ended: 500 }), job({ phase: 'Succeeded', ended: 100 })];
    assert.deepEqual(plan({ jobs, pods: [pod('a')] }), { ...nothing, again: 20_000 });
    const old = [job({ phase: 'Succeeded', ended: 120 })];
    assert.deepEqual(plan({ jobs: old, pods: [pod('a')] }), { ...nothing, remove: ['a'] });
    assert.deepEqual(plan({ jobs: old }), nothing);
  });
  it('ends with the last job', () => assert.deepEqual(plan({ pods: [pod('a')] }).remove, ['a']));
  it('is the oldest running one, if there are several', () => {
    const pods = [pod('b', { age: 5 }), pod('a', { age: 50 }), pod('c', { age: 90, deleted: true })];
    assert.deepEqual(plan({ jobs: [job()], pods }).remove, ['b']);
  });
  it('is deleted when its pod has ended, so that another one starts', () =>
    assert.deepEqual(plan({ jobs: [job()], pods: [pod('a', { phase: 'Failed' })] }).remove, ['a']));
});

describe('a job that is being deleted', () => {
  const deleted = (phase?: string) => job({ deleted: true, ...(phase && { phase }) });

  it('belongs to the client while the job may run', () => {
    const found = plan({ jobs: [deleted('Running')], secretIsThere: true });
    assert.deepEqual(found, { ...nothing, needsClient: true });
  });
  it('is released when it has ended, or if no client has ever seen it', () => {
    assert.deepEqual(plan({ jobs: [deleted('Failed')], secretIsThere: true }).release, [undefined]);
    assert.deepEqual(plan({ jobs: [deleted()], secretIsThere: true }), { ...nothing, release: [undefined] });
    assert.deepEqual(plan({ jobs: [deleted()], pods: [pod('a')], secretIsThere: true }).release, []);
  });
  it('is released if its Secret is missing, which is reported', () => {
    const found = plan({ jobs: [deleted('Running')], secretIsThere: false });
    assert.deepEqual(found, { ...nothing, release: ['Secret hpc is gone'] });
  });
  it('is not released if its Secret was not read', () =>
    assert.deepEqual(plan({ jobs: [deleted('Running')] }).release, []));
  it('is released with its namespace once no client is left', () => {
    const state = { jobs: [deleted('Running')], secretIsThere: true, namespaceEnds: true };
    assert.deepEqual(plan(state).release, ['its namespace is being deleted']);
    assert.deepEqual(plan({ ...state, pods: [pod('a')] }).release, []);
  });
  it('is not released twice', () =>
    assert.deepEqual(plan({ jobs: [job({ deleted: true, held: false, phase: 'Failed' })] }), nothing));
});

it('a job whose ttlSecondsAfterFinished has passed is deleted', () => {
  const of = (ttl: number, ended: number) => plan({ jobs: [job({ phase: 'Failed', ended, ttl })] });
  assert.deepEqual(of(200, 130), { ...nothing, again: 70_000 });
  assert.deepEqual(of(200, 200), { ...nothing, expired: 1 });
  assert.equal(plan({ jobs: [job({ ttl: 0, phase: 'Running' })] }).expired, 0);
  assert.equal(plan({ jobs: [job({ ttl: 0, phase: 'Failed', ended: 9, deleted: true })] }).expired, 0);
});

it('a job ends at the time of its verdict, otherwise of its end in Slurm, otherwise of its creation', () => {
  const condition = (type: string, status: string, seconds: number) => ({
    ...{ type, status, lastTransitionTime: ago(seconds) },
  });
  const of = (status: object) => {
    const one = { ...job({ ttl: 2000 }), status: { phase: 'Failed', ...status } } as unknown as SlurmJob;
    return plan({ jobs: [one] }).again;
  };
  const connected = condition('Connected', 'True', 900);
  const conditions = [connected, condition('Complete', 'Unknown', 800), condition('Failed', 'True', 500)];
  assert.equal(of({ conditions, endTime: ago(700) }), 1_500_000);
  assert.equal(of({ conditions: [connected], endTime: ago(700) }), 1_300_000);
  assert.equal(of({}), 1_000_000);
});

it('the first client by name among clients of the same age is kept, in any order of the cache', () => {
  const [a, b] = [pod('a'), pod('b')];
  for (const pods of [
    [a, b],
    [b, a],
  ])
    assert.deepEqual(plan({ jobs: [job()], pods }).remove, ['b']);
});

it('an ended client that is being deleted is not deleted again', () =>
  assert.deepEqual(
    plan({ jobs: [job()], pods: [pod('a', { phase: 'Succeeded', deleted: true })] }).remove,
    [],
  ));

it('the next check is at the earliest of the end of the client and the times of the jobs', () => {
  const jobs = [
    job({ phase: 'Failed', ended: 100, ttl: 110 }),
    job({ phase: 'Failed', ended: 90, ttl: 3000 }),
  ];
  assert.equal(plan({ jobs, pods: [pod('a')] }).again, 10_000);
  assert.equal(plan({ jobs: jobs.slice(1), pods: [pod('a')] }).again, 30_000);
  assert.equal(plan({ jobs: jobs.slice(1) }).again, 2_910_000, 'no client is there that would have to go');
});

it('a pod that has ended is not a client, even if it is older than a running one', () => {
  const pods = [pod('a', { phase: 'Failed', age: 50 }), pod('b', { age: 5 })];
  assert.deepEqual(plan({ jobs: [job()], pods }).remove, ['a']);
});
