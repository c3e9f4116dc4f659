/** `ctl scale`: its preconditions, and how long it waits. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { scale } from '../../../../src/cli/commands/scale.ts';
import { deploymentNamed, startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const merge = 'application/merge-patch+json';

describe('ctl scale', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
    for (const name of ['a', 'b']) await world.send('POST', deployments, deploymentNamed(name));
  });
  after(() => world.stop());

  const replicasOf = async (name: string) =>
    ((await world.send('GET', `${deployments}/${name}`)).spec as { replicas: number }).replicas;
  const setReplicas = (name: string, replicas: number) =>
    world.send('PATCH', `${deployments}/${name}`, { spec: { replicas } }, merge);

  it('scales only if the object has --current-replicas', async () => {
    await setReplicas('a', 2);
    const refused = await world.run(scale, ['deploy', 'a', '--replicas=5', '--current-replicas=3']);
    assert.deepEqual([refused.status, refused.err], [1, 'error: Expected replicas to be 3, was 2\n']);
    const done = await world.run(scale, ['deploy', 'a', '--replicas=5', '--current-replicas=2']);
    assert.deepEqual([done.status, done.out, await replicasOf('a')], [0, 'deployment.apps/a scaled\n', 5]);
  });

  it('does not overwrite the number that another client sets between its read and its write', async () => {
    await setReplicas('a', 2);
    const { status, err } = await world.run(scale, ['deploy', 'a', '--replicas=5', '--current-replicas=2'], {
      before: async ({ method }) => {
        if (method === 'PUT') await setReplicas('a', 7);
      },
    });
    assert.equal(status, 1);
    assert.match(err, /^Error from server \(Conflict\)/);
    assert.equal(await replicasOf('a'), 7);
  });

  it('stops waiting when another client sets another number', async () => {
    await setReplicas('a', 2);
    world.server.clock.after(5_000, () => void setReplicas('a', 1));
    const { status, out } = await world.run(scale, ['deploy', 'a', '--replicas=4', '--timeout=1h']);
    assert.deepEqual([status, out], [0, 'deployment.apps/a scaled\n']);
  });

  it('fails if the pods do not exist within --timeout', async () => {
    const { status, err } = await world.run(scale, ['deploy', 'a', '--replicas=4', '--timeout=3s']);
    assert.deepEqual([status, err], [1, 'error: timed out waiting for "a" to be synced\n']);
  });

  it('scales the other objects after one that does not exist, and fails', async () => {
    const { status, out } = await world.run(scale, ['deploy', 'missing', 'b', '--replicas=3']);
    assert.deepEqual([status, out, await replicasOf('b')], [1, 'deployment.apps/b scaled\n', 3]);
  });

  it('requires --replicas, and refuses --resource-version for several objects', async () => {
    for (const argv of [
      ['deploy', 'a'],
      ['deploy', 'a', '--replicas=-1'],
      ['deploy', 'a', 'b', '--replicas=9', '--resource-version=1'],
    ]) {
      const { status, requests } = await world.run(scale, argv);
      assert.equal(status, 1);
      assert.deepEqual(
        requests.filter((one) => !one.startsWith('GET')),
        [],
      );
    }
  });
});
