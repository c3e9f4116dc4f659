/**
 * Jobs on a real API server, with its defaults, validation, roles and garbage collector, and simulated agents
 * that end their pods.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Job, jobResource } from '../../../src/api/batch/v1/job.ts';
import { hasCondition, isFinished } from '../../../src/api/batch/v1/job-conditions.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { type Cluster, startCluster } from './cluster.ts';

/** A Job as a user writes it; the server sets the defaults. */
const draft = (spec: object = {}): Draft<Job> =>
  ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'work', namespace: 'default' },
    spec: {
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'app:1' }] } },
      ...spec,
    },
  }) as unknown as Draft<Job>;

const indexOf = ({ metadata }: Pod) => metadata.labels?.['batch.kubernetes.io/job-completion-index'];

describe('Jobs', () => {
  let cluster: Cluster;
  before(async () => {
    // Nodes send no heartbeats here, and waiting for a back-off takes long.
    cluster = await startCluster({ nodeGracePeriodMs: 3_600_000 });
    await Promise.all(['n1', 'n2'].map((name) => cluster.addNode(name)));
  });
  after(() => cluster.stop());
  afterEach(async () => {
    Object.assign(cluster.agent, { mayEnd: () => true, outcome: () => undefined });
    for (const { metadata } of await cluster.list(jobResource))
      await cluster.client
        .resource(jobResource)
        .delete(metadata.name, metadata.namespace, { propagationPolicy: 'Background' });
    await cluster.eventually('everything is gone', async () => {
      const [jobs, pods] = [await cluster.list(jobResource), await cluster.list(podResource)];
      return jobs.length + pods.length === 0;
    });
  });

  const create = (spec?: object) => cluster.client.resource(jobResource).create(draft(spec));
  const job = () => cluster.get(jobResource, 'work');
  const pods = () => cluster.list(podResource, 'default');
  const ended = () =>
    cluster.eventually('the Job has ended', async () => {
      const current = await job();
      return current && isFinished(current) && current;
    });
  const running = (count: number) =>
    cluster.eventually(`${count} pods run`, async () => {
      const status = (await job())?.status;
      return (status?.active ?? 0) === count && (status?.ready ?? 0) === count;
    });

  it('run to completion, with events, and leave no finalizer behind', async () => {
    cluster.agent.outcome = () => 'Succeeded';
    await create({ completions: 5, parallelism: 2 });
    const { status } = await ended();
    assert.deepEqual([status?.succeeded, status?.failed, status?.active], [5, undefined, undefined]);
    assert.ok(status?.completionTime && status.startTime);
    assert.deepEqual(
      (await pods()).flatMap(({ metadata }) => metadata.finalizers ?? []),
      [],
    );
    await cluster.eventually('events report each change', async () => {
      const reasons = new Set((await cluster.list(eventResource, 'default')).map(({ reason }) => reason));
      return reasons.has('SuccessfulCreate') && reasons.has('Completed');
    });
  });

  it('run a pod for each index until all have succeeded', async () => {
    let failures = 2;
    cluster.agent.outcome = (pod) => (indexOf(pod) === '1' && failures-- > 0 ? 'Failed' : 'Succeeded');
    await create({ completions: 3, parallelism: 3, completionMode: 'Indexed' });
    const { status } = await ended();
    assert.deepEqual([status?.completedIndexes, status?.succeeded, status?.failed], ['0-2', 3, 2]);
    assert.deepEqual((await pods()).map(indexOf).sort(), ['0', '1', '1', '1', '2']);
    assert.equal((await pods())[0]?.spec.hostname, `work-${indexOf((await pods())[0] as Pod)}`);
  });

  it('fail at their backoff limit, and their other pods are deleted', async () => {
    cluster.agent.outcome = (pod) => (indexOf(pod) === '0' ? 'Failed' : undefined);
    await create({ completions: 2, parallelism: 2, completionMode: 'Indexed', backoffLimit: 0 });
    const { status } = await ended();
    assert.deepEqual(
      [status?.failed, status?.succeeded, status?.conditions?.at(-1)?.type],
      [2, undefined, 'Failed'],
    );
  });

  it('wait for the end of pods that are being deleted, with podReplacementPolicy Failed', async () => {
    cluster.agent.mayEnd = () => false;
    await create({ podReplacementPolicy: 'Failed' });
    await running(1);
    const [first] = await pods();
    await cluster.client.resource(podResource).delete(first?.metadata.name ?? '', 'default');
    await cluster.pass(60_000);
    assert.deepEqual([(await pods()).length, (await job())?.status?.terminating], [1, 1]);
    cluster.agent.mayEnd = () => true;
    await cluster.eventually('another one', async () => {
      const [one] = await pods();
      return one && one.metadata.uid !== first?.metadata.uid;
    });
  });

  it('can be suspended and resumed', async () => {
    await create({ parallelism: 2, completions: 2 });
    await running(2);
    await cluster.edit(jobResource, 'work', ({ spec }) => {
      spec.suspend = true;
    });
    await cluster.eventually('no pod is left', async () => (await pods()).length === 0);
    assert.ok(hasCondition((await job()) as Job, 'Suspended'));
    await cluster.edit(jobResource, 'work', ({ spec }) => {
      spec.suspend = false;
    });
    await running(2);
    assert.equal((await job())?.status?.failed, undefined);
  });

  it('end at their deadline', async () => {
    await create({ activeDeadlineSeconds: 30 });
    const { status } = await ended();
    assert.equal(status?.conditions?.at(-1)?.reason, 'DeadlineExceeded');
    assert.deepEqual([status?.failed, status?.terminating], [1, 0]);
  });

  it('are deleted with their pods after their ttl', async () => {
    cluster.agent.outcome = () => 'Succeeded';
    await create({ ttlSecondsAfterFinished: 20 });
    await ended();
    await cluster.pass(19_000);
    assert.equal((await pods()).length, 1);
    await cluster.eventually(
      'the Job and its pods are deleted',
      async () => !(await job()) && (await pods()).length === 0,
    );
  });

  for (const policy of ['Orphan', 'Background', 'Foreground'] as const)
    it(`leave no finalizer on their pods if they are deleted (${policy}) while these run`, async () => {
      await create({ parallelism: 2, completions: 2 });
      await running(2);
      await cluster.client.resource(jobResource).delete('work', 'default', { propagationPolicy: policy });
      await cluster.eventually('the pods are free', async () => {
        const left = await pods();
        const free = left.every(
          ({ metadata }) => !metadata.finalizers?.length && !metadata.ownerReferences?.length,
        );
        return !(await job()) && (policy === 'Orphan' ? left.length === 2 && free : left.length === 0);
      });
      for (const { metadata } of await pods())
        await cluster.client.resource(podResource).delete(metadata.name, 'default');
    });
});
