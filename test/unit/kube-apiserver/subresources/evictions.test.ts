/** Pods that an eviction may remove, by the disruption budgets at the moment of the write. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { PodDisruptionBudget } from '../../../../src/api/policy/v1/pod-disruption-budget.ts';
import type { Status } from '../../../../src/apimachinery/status-error.ts';
import { startTestServer, storedObject, type TestServer } from '../../../fixtures/api-server.ts';

const pods = '/api/v1/namespaces/default/pods';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.stop());

async function makePod(name: string, { ready = true, phase = 'Running' } = {}): Promise<void> {
  const spec = { containers: [{ name: 'c', image: 'i' }], nodeName: 'n1' };
  const made = await server.call('POST', pods, { metadata: { name, labels: { app: 'web' } }, spec });
  assert.equal(made.status, 201, made.text);
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  const body = { ...made.json<Pod>(), status: { phase, conditions } };
  const told = await server.call('PUT', `${pods}/${name}/status`, body);
  assert.equal(told.status, 200, told.text);
}

async function makeBudget(
  name: string,
  status: Partial<PodDisruptionBudget['status']>,
  spec: object = {},
): Promise<void> {
  const made = await server.call('POST', budgets, {
    metadata: { name },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } }, ...spec },
  });
  assert.equal(made.status, 201, made.text);
  const numbers = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, disruptionsAllowed: 0 };
  const body = { ...made.json<object>(), status: { ...numbers, observedGeneration: 1, ...status } };
  const told = await server.call('PUT', `${budgets}/${name}/status`, body);
  assert.equal(told.status, 200, told.text);
}

const evict = (name: string, body: object = {}, query = '') =>
  server.call('POST', `${pods}/${name}/eviction${query}`, body);
const storedPod = async (name: string) =>
  (await storedObject(server, `/registry/pods/default/${name}`)) as Pod | undefined;
const isGoing = async (name: string) => (await storedPod(name))?.metadata.deletionTimestamp !== undefined;
const budgetStatus = async (name = 'pdb') =>
  (await server.call('GET', `${budgets}/${name}`)).json<PodDisruptionBudget>().status;

describe('an eviction', () => {
  test('sets the reason in a condition of the pod', async () => {
    await makePod('a');
    assert.equal((await evict('a')).status, 201);
    const condition = (await storedPod('a'))?.status?.conditions?.find(
      ({ type }) => type === 'DisruptionTarget',
    );
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.message],
      ['True', 'EvictionByEvictionAPI', 'Eviction API: evicting'],
    );
  });

  test('keeps the transition time of an earlier condition', async () => {
    await makePod('a');
    const pod = (await server.call('GET', `${pods}/a`)).json<Pod>();
    const lastTransitionTime = '2025-12-31T00:00:00Z';
    const said = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      lastTransitionTime,
    };
    await server.call('PUT', `${pods}/a/status`, { ...pod, status: { ...pod.status, conditions: [said] } });
    assert.equal((await evict('a')).status, 201);
    const [condition, ...more] = (await storedPod('a'))?.status?.conditions ?? [];
    assert.deepEqual([condition?.reason, more], ['EvictionByEvictionAPI', []]);
    assert.equal(condition?.lastTransitionTime, lastTransitionTime);
  });

  test('is charged to the budget in the same transaction', async () => {
    await makePod('a');
    await makeBudget('pdb', { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 });
    assert.equal((await evict('a')).status, 201);
    const status = await budgetStatus();
    assert.equal(status?.disruptionsAllowed, 0);
    assert.deepEqual(Object.keys(status?.disruptedPods ?? {}), ['a']);
    assert.equal(status?.conditions?.find(({ type }) => type === 'DisruptionAllowed')?.status, 'False');
    assert.ok(await isGoing('a'));
  });

  test('is rejected with the numbers of the budget if it allows no disruption, and with a retry time if the budget is not computed yet', async () => {
    await makePod('a');
    await makeBudget('pdb', { currentHealthy: 1, desiredHealthy: 1 });
    const refused = await evict('a');
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, null]);
    const { reason, message, details } = refused.json<Status>();
    assert.deepEqual(
      [reason, message, details?.causes?.[0]],
      [
        'TooManyRequests',
        "Cannot evict pod as it would violate the pod's disruption budget.",
        {
          reason: 'DisruptionBudget',
          message: 'The disruption budget pdb needs 1 healthy pods and has 1 currently',
        },
      ],
    );
    await server.call('DELETE', `${budgets}/pdb`);
    await makeBudget('new', { observedGeneration: 0, disruptionsAllowed: 5 });
    const early = await evict('a');
    assert.deepEqual([early.status, early.headers.get('retry-after')], [429, '10']);
    assert.match(early.json<Status>().details?.causes?.[0]?.message ?? '', /new is still being processed/);
    assert.equal(await isGoing('a'), false);
  });

  test('succeeds for as many of twenty pods at once as the budget allows', async () => {
    const names = Array.from({ length: 20 }, (_, number) => `p${number}`);
    for (const name of names) await makePod(name);
    await makeBudget('pdb', { disruptionsAllowed: 7, currentHealthy: 20, desiredHealthy: 13 });
    const answers = await Promise.all(names.map((name) => evict(name)));
    assert.equal(answers.filter(({ status }) => status === 201).length, 7);
    assert.equal(answers.filter(({ status }) => status === 429).length, 13);
    const going = await Promise.all(names.map(isGoing));
    assert.equal(going.filter(Boolean).length, 7);
  });

  test('is refused if two budgets match', async () => {
    await makePod('a');
    for (const name of ['one', 'two']) await makeBudget(name, { disruptionsAllowed: 1 });
    const answer = await evict('a');
    assert.equal(answer.status, 500);
    assert.match(answer.text, /more than one PodDisruptionBudget/);
    assert.equal(await isGoing('a'), false);
  });

  for (const [what, pod] of [
    ['that has ended', { phase: 'Succeeded' }],
    ['that has failed', { phase: 'Failed' }],
    ['that waits to start', { phase: 'Pending', ready: false }],
  ] as const)
    test(`of a pod ${what} does not check the budget`, async () => {
      await makePod('a', pod);
      await makeBudget('pdb', { currentHealthy: 0, desiredHealthy: 1 });
      assert.equal((await evict('a')).status, 201);
      assert.deepEqual((await budgetStatus())?.disruptedPods ?? {}, {});
    });

  for (const [what, status, spec, code] of [
    ['is evicted if enough other pods are healthy', { currentHealthy: 2, desiredHealthy: 2 }, {}, 201],
    ['stays if too few other pods are healthy', { currentHealthy: 1, desiredHealthy: 2 }, {}, 429],
    ['stays if the budget is not computed yet', { currentHealthy: 0, desiredHealthy: 0 }, {}, 429],
    [
      'is always evicted with unhealthyPodEvictionPolicy AlwaysAllow',
      { currentHealthy: 0, desiredHealthy: 2 },
      { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      201,
    ],
  ] as const)
    test(`a pod that is not ready ${what}`, async () => {
      await makePod('a', { ready: false });
      await makeBudget('pdb', status, spec);
      assert.equal((await evict('a')).status, code);
      assert.equal((await budgetStatus())?.disruptedPods, undefined);
      assert.equal(await isGoing('a'), code === 201);
    });

  test('in a dry run checks the budget and charges nothing', async () => {
    await makePod('a');
    await makeBudget('pdb', { disruptionsAllowed: 1 });
    assert.equal((await evict('a', {}, '?dryRun=All')).status, 201);
    assert.equal((await evict('a', { deleteOptions: { dryRun: ['All'] } })).status, 201);
    assert.equal((await budgetStatus())?.disruptionsAllowed, 1);
    assert.equal(await isGoing('a'), false);
    assert.equal((await storedPod('a'))?.status?.conditions?.length, 1);
  });

  test('of a pod in another version than required is rejected', async () => {
    await makePod('a', { phase: 'Pending' });
    const body = { deleteOptions: { preconditions: { resourceVersion: '1' } } };
    assert.equal((await evict('a', body)).status, 409);
    assert.equal(await isGoing('a'), false);
  });

  test('of another pod than required is rejected at once, without a Retry-After', async () => {
    await makePod('a', { ready: false });
    await makeBudget('pdb', { currentHealthy: 2, desiredHealthy: 2 });
    const answer = await evict('a', { deleteOptions: { preconditions: { uid: 'another' } } });
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [409, null]);
    assert.equal(await isGoing('a'), false);
  });

  test('of a pod that was pending and has become ready meanwhile checks the budget', async () => {
    await server.stop();
    let becomes = false;
    server = await startTestServer({
      wrapStore: (store) => ({
        ...store,
        async update(key, value, revision, claims) {
          if (becomes && key.endsWith('/pods/default/a')) {
            becomes = false;
            await makeReady('a');
          }
          return store.update(key, value, revision, claims);
        },
      }),
    });
    const makeReady = async (name: string) => {
      const pod = (await server.call('GET', `${pods}/${name}`)).json<Pod>();
      const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      await server.call('PUT', `${pods}/${name}/status`, { ...pod, status });
    };
    await makePod('a', { phase: 'Pending', ready: false });
    await makeBudget('pdb', { currentHealthy: 1, desiredHealthy: 1 });
    becomes = true;
    assert.equal((await evict('a')).status, 429);
    assert.deepEqual([becomes, await isGoing('a')], [false, false]);
  });

  test('of a pod that changes repeatedly is retried, and rejected for now if its budget depends on the pod', async () => {
    await server.stop();
    let hasty = 0;
    server = await startTestServer({
      wrapStore: (store) => ({
        ...store,
        async update(key, value, revision, claims) {
          const found = key.endsWith('/pods/default/a') && hasty > 0 ? await store.get(key) : undefined;
          // Another client is slightly faster.
          if (found) {
            hasty--;
            await store.update(key, found.value, found.revision);
          }
          return store.update(key, value, revision, claims);
        },
      }),
    });
    await makePod('a', { ready: false });
    await makeBudget('pdb', { currentHealthy: 2, desiredHealthy: 2 });
    hasty = 99;
    const answer = await evict('a');
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '10']);
    assert.match(answer.json<Status>().details?.causes?.[0]?.message ?? '', /pdb is still being processed/);
    hasty = 2;
    assert.equal((await evict('a')).status, 201);
    assert.ok(await isGoing('a'));
  });

  test('does not consult a budget of another namespace, or of other pods', async () => {
    await makePod('a');
    await makeBudget('pdb', {}, { selector: { matchLabels: { app: 'db' } } });
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'other' } });
    const spec = { minAvailable: 1, selector: { matchLabels: { app: 'web' } } };
    const elsewhere = budgets.replace('default', 'other');
    assert.equal((await server.call('POST', elsewhere, { metadata: { name: 'pdb' }, spec })).status, 201);
    assert.equal((await evict('a')).status, 201);
  });
});
