/** `ctl patch` of several objects, and the note about a patch that changes nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { patch } from '../../../../src/cli/commands/patch.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

describe('ctl patch', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
    for (const name of ['a', 'b']) await world.send('POST', configMaps, { metadata: { name } });
  });
  after(() => world.stop());
  const dataOf = async (name: string) => (await world.send('GET', `${configMaps}/${name}`)).data;

  it('says whether the object has changed', async () => {
    const words = ['cm', 'a', '-p', '{"data":{"k":"v"}}'];
    assert.equal((await world.run(patch, words)).out, 'configmap/a patched\n');
    assert.equal((await world.run(patch, words)).out, 'configmap/a patched (no change)\n');
  });

  it('patches the other objects after one that cannot be patched, and fails', async () => {
    const { status, out, err } = await world.run(patch, ['cm', 'missing', 'b', '-p', '{"data":{"k":"new"}}']);
    assert.deepEqual([status, out], [1, 'configmap/b patched\n']);
    assert.match(err, /configmaps "missing" not found/);
    assert.deepEqual(await dataOf('b'), { k: 'new' });
  });

  it('stores nothing in a dry run', async () => {
    for (const where of ['client', 'server']) {
      const before = await dataOf('a');
      const { status } = await world.run(patch, [
        'cm',
        'a',
        '-p',
        '{"data":{"k":"x"}}',
        `--dry-run=${where}`,
      ]);
      assert.equal(status, 0);
      assert.deepEqual(await dataOf('a'), before);
    }
  });
});
