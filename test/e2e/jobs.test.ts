/** Jobs and CronJobs of the built file on the real engine: pods that succeed, fail, or are evicted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Job, V1PodList } from '@kubernetes/client-node';
import { Cluster } from './harness/cluster.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { waitFor } from './harness/wait-for.ts';

test('Jobs and CronJobs run pods that succeed, fail or are evicted', async (context) => {
  const host = await Host.start(context);
  const { kubectl } = await Cluster.start(context, { host });
  const create = (name: string, script: string, spec: object) =>
    kubectl.attempt(['apply', '-f', '-'], {
      input: JSON.stringify({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name },
        spec: {
          ...spec,
          template: {
            spec: {
              restartPolicy: 'Never',
              terminationGracePeriodSeconds: 1,
              containers: [{ name: 'main', image: helloImage, command: ['sh', '-c', script] }],
            },
          },
        },
      }),
    });
  const job = (name: string) => kubectl.json<V1Job>('get', 'job', name);
  const podsOf = async (name: string) =>
    (await kubectl.json<V1PodList>('get', 'pods', '-l', `job-name=${name}`)).items;
  const until = (name: string, what: string, is: (one: V1Job) => boolean | undefined) =>
    waitFor(
      `job ${name}: ${what}`,
      async () => {
        const one = await job(name);
        return is(one) && one;
      },
      { timeoutMs: 90_000 },
    );
  const has = (type: string) => (one: V1Job) =>
    one.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True');

  await context.test('each pod of an indexed Job has its index', async () => {
    const indexed = { completions: 3, parallelism: 3, completionMode: 'Indexed' };
    await create('indexed', 'echo "$JOB_COMPLETION_INDEX of $(hostname)"', indexed);
    const { status } = await until('indexed', 'complete', has('Complete'));
    assert.deepEqual([status?.succeeded, status?.completedIndexes], [3, '0-2']);
    const pods = await podsOf('indexed');
    const said = await Promise.all(pods.map(({ metadata }) => kubectl('logs', metadata?.name ?? '')));
    assert.deepEqual(said.sort(), ['0 of indexed-0\n', '1 of indexed-1\n', '2 of indexed-2\n']);
    assert.deepEqual(
      pods.flatMap(({ metadata }) => metadata?.finalizers ?? []),
      [],
    );
  });

  await context.test(
    'a FailJob rule for an exit code fails the Job at once, and its running pods are terminated',
    async () => {
      const rules = [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }];
      const script = 'if [ "$JOB_COMPLETION_INDEX" = 0 ]; then sleep 3; exit 42; fi; exec sleep 1000';
      const spec = { completions: 2, parallelism: 2, completionMode: 'Indexed', podFailurePolicy: { rules } };
      await create('failing', script, spec);
      const { status } = await until('failing', 'failed', has('Failed'));
      const { reason, message } = status?.conditions?.at(-1) ?? {};
      assert.equal(reason, 'PodFailurePolicy');
      assert.match(message ?? '', /failed with exit code 42 matching FailJob rule at index 0/);
      // A Job has failed once its pods have ended; the pod that it terminated is removed from the API a
      // moment later.
      const left = await waitFor('the end of the pod that still ran', async () => {
        const pods = await podsOf('failing');
        return pods.length < 2 && pods;
      });
      const ended = left.map(({ status }) => status?.containerStatuses?.[0]?.state?.terminated?.exitCode);
      assert.deepEqual(ended, [42], 'the failed pod is kept');
    },
  );

  await context.test('an eviction is not counted if a rule ignores it', async () => {
    const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }];
    await create('evicted', 'exec sleep 1000', { backoffLimit: 0, podFailurePolicy: { rules } });
    await until('evicted', 'ready', ({ status }) => status?.ready === 1);
    const [before] = await podsOf('evicted');
    const name = before?.metadata?.name ?? '';
    const path = `/api/v1/namespaces/default/pods/${name}/eviction`;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    await kubectl.attempt(['create', '--raw', path, '-f', '-'], { input: JSON.stringify(eviction) });
    await waitFor(
      'another pod',
      async () => {
        const running = (await podsOf('evicted')).filter(({ status }) => status?.phase === 'Running');
        return running.some(({ metadata }) => metadata?.uid !== before?.metadata?.uid);
      },
      { timeoutMs: 90_000 },
    );
    const { status } = await job('evicted');
    assert.deepEqual([status?.failed, status?.conditions], [undefined, undefined]);
    await kubectl('delete', 'job', 'evicted');
    await waitFor('the removal of its pods', async () => (await podsOf('evicted')).length === 0);
  });

  await context.test('kubectl creates a Job from a CronJob at once', async () => {
    await kubectl(
      'create',
      'cronjob',
      'tick',
      `--image=${helloImage}`,
      '--schedule=0 0 1 1 *',
      '--',
      'echo',
      'now',
    );
    await kubectl('create', 'job', 'tock', '--from=cronjob/tick');
    await until('tock', 'complete', has('Complete'));
    assert.equal(await kubectl('logs', 'job/tock'), 'now\n');
    await kubectl('delete', 'cronjob', 'tick');
    await waitFor(
      'the removal of its Job',
      async () => !(await kubectl('get', 'jobs', '-o', 'name')).includes('tock'),
    );
  });
});
