/** `ctl delete`: what it sends, what it waits for, and when it deletes nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { remove } from '../../../../src/cli/commands/delete.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const merge = 'application/merge-patch+json';

describe('ctl delete', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
  });
  after(() => world.stop());

  const configMap = (name: string, ...finalizers: readonly string[]) =>
    world.send('POST', configMaps, { metadata: { name, finalizers } });
  const exists = async (name: string) =>
    (await world.server.call('GET', `${configMaps}/${name}`)).status === 200;

  it('waits until an object with a finalizer is removed', async () => {
    await configMap('held', 'example.com/hold');
    let released = false;
    world.server.clock.after(5_000, () => {
      released = true;
      void world.send('PATCH', `${configMaps}/held`, { metadata: { finalizers: null } }, merge);
    });
    const { status, out } = await world.run(remove, ['cm', 'held']);
    assert.deepEqual([status, out, released], [0, 'configmap "held" deleted\n', true]);
  });

  it('fails once --timeout is over', async () => {
    await configMap('stuck', 'example.com/hold');
    const { status, err } = await world.run(remove, ['cm', 'stuck', '--timeout=3s']);
    assert.deepEqual([status, err], [1, 'error: timed out waiting for configmaps/stuck to be deleted\n']);
  });

  it('neither deletes nor waits in a dry run of the server', async () => {
    await configMap('kept');
    const { status, out } = await world.run(remove, ['cm', 'kept', '--dry-run=server']);
    assert.deepEqual([status, out], [0, 'configmap "kept" deleted (server dry run)\n']);
    assert.ok(await exists('kept'));
  });

  it('gives a pod one second with --now, and none with --force', async () => {
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'x:1' }] };
    for (const name of ['now', 'forced'])
      await world.send('POST', pods, { metadata: { name, finalizers: ['example.com/hold'] }, spec });
    await world.run(remove, ['pod', 'now', '--now', '--no-wait']);
    await world.run(remove, ['pod', 'forced', '--force', '--no-wait']);
    const periods = await Promise.all(
      ['now', 'forced'].map(async (name) => {
        const { metadata } = await world.send('GET', `${pods}/${name}`);
        return (metadata as { deletionGracePeriodSeconds: number }).deletionGracePeriodSeconds;
      }),
    );
    assert.deepEqual(periods, [1, 0]);
  });

  it('deletes nothing with --interactive unless the answer is y', async () => {
    await configMap('asked');
    for (const stdin of ['', 'n\n', 'yes\n', '\n']) {
      const { status, out } = await world.run(remove, ['cm', 'asked', '-i'], { stdin });
      assert.equal(status, 0);
      assert.match(out, /deletion is cancelled\n$/, JSON.stringify(stdin));
    }
    assert.ok(await exists('asked'));
    await world.run(remove, ['cm', 'asked', '-i'], { stdin: 'Y\n' });
    assert.equal(await exists('asked'), false);
  });

  it('deletes the other objects after one that does not exist, and fails', async () => {
    await configMap('second');
    const { status, out, err } = await world.run(remove, ['cm', 'first', 'second']);
    assert.deepEqual([status, out], [1, 'configmap "second" deleted\n']);
    assert.match(err, /configmaps "first" not found/);
  });
});
