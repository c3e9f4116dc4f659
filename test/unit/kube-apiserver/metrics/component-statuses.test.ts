import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseListQuery } from '../../../../src/apimachinery/list-options.ts';
import { componentStatuses } from '../../../../src/kube-apiserver/metrics/component-statuses.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const clock = new FakeClock();
const lease = (ageSeconds: number) => ({
  spec: {
    holderIdentity: 'm1_a',
    leaseDurationSeconds: 15,
    renewTime: new Date(clock.now() - ageSeconds * 1000).toISOString(),
  },
});

async function ask(found: object | undefined, revision: () => Promise<bigint>, query = '', name?: string) {
  const server = {
    clock,
    cache: { get: () => found && { object: found } },
    store: { currentRevision: revision },
  } as unknown as Parameters<typeof componentStatuses>[0];
  const selectors = parseListQuery(new URLSearchParams(query));
  const asked = componentStatuses(server, { namespace: '', name, ...selectors });
  await clock.advance(2000);
  const all = await asked;
  return Object.fromEntries(
    all.map(({ metadata, conditions }) => {
      const [{ status, message, error } = {}] = conditions ?? [];
      return [metadata.name, [status, message ?? error]];
    }),
  );
}
const answers = async () => 7n;
const ok = ['True', 'ok'];

test('all components are healthy with a single master, and while a Lease is held', async () => {
  const well = { scheduler: ok, 'controller-manager': ok, 'etcd-0': ok };
  assert.deepEqual(await ask(undefined, answers), well);
  assert.deepEqual(await ask(lease(14), answers), well);
});

test('the scheduler and the controllers are unhealthy when their Lease is not renewed', async () => {
  const { scheduler, 'controller-manager': controllers, 'etcd-0': etcd } = await ask(lease(20), answers);
  assert.deepEqual(etcd, ok);
  assert.deepEqual(scheduler, controllers);
  assert.equal(scheduler?.[0], 'False');
  assert.match(scheduler?.[1] ?? '', /Lease kube-system\/minik8s-controllers is held by m1_a/);
});

test('etcd is unhealthy when it does not answer, and unknown if it cannot be queried', async () => {
  assert.deepEqual((await ask(undefined, () => new Promise(() => {})))['etcd-0'], [
    'False',
    'etcd does not answer within 2 s',
  ]);
  const refuses = () => Promise.reject(new Error('connection refused'));
  assert.deepEqual((await ask(undefined, refuses))['etcd-0'], ['Unknown', 'connection refused']);
});

test('a component status is found by its name and by a field selector', async () => {
  assert.deepEqual(await ask(undefined, answers, '', 'etcd-0'), { 'etcd-0': ok });
  assert.deepEqual(await ask(undefined, answers, 'fieldSelector=metadata.name=scheduler'), { scheduler: ok });
  assert.deepEqual(await ask(undefined, answers, 'labelSelector=a=b'), {});
});
