/** `ctl label`: preconditions, and commands that only print. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { label } from '../../../../src/cli/commands/label.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = 'application/merge-patch+json';

describe('ctl label', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
    for (const name of ['a', 'b']) await world.send('POST', configMaps, { metadata: { name } });
  });
  after(() => world.stop());
  const metadataOf = async (name: string) =>
    (await world.send('GET', `${configMaps}/${name}`)).metadata as {
      labels?: Record<string, string>;
      resourceVersion: string;
    };

  it('changes the object only if it has --resource-version', async () => {
    const { resourceVersion } = await metadataOf('a');
    await world.send('PATCH', `${configMaps}/a`, { data: { k: 'v' } }, merge);
    const stale = await world.run(label, ['cm', 'a', 'x=y', `--resource-version=${resourceVersion}`]);
    assert.equal(stale.status, 1);
    assert.match(stale.err, /\(Conflict\)/);
    assert.equal((await metadataOf('a')).labels, undefined);
    const { resourceVersion: newest } = await metadataOf('a');
    const { status } = await world.run(label, ['cm', 'a', 'x=y', `--resource-version=${newest}`]);
    assert.deepEqual([status, (await metadataOf('a')).labels], [0, { x: 'y' }]);
  });

  it('writes nothing with --list, nor in a dry run', async () => {
    const listed = await world.run(label, ['cm', 'b', 'x=y', '--list']);
    assert.equal(listed.out, 'x=y\n');
    for (const where of ['client', 'server']) {
      const { out } = await world.run(label, ['cm', 'b', 'x=y', `--dry-run=${where}`]);
      assert.match(out, /^configmap\/b labeled \((server )?dry run\)\n$/);
    }
    assert.equal((await metadataOf('b')).labels, undefined);
  });

  it('changes a label that is set only with --overwrite, and continues with the other objects', async () => {
    await world.send('PATCH', `${configMaps}/a`, { metadata: { labels: { x: 'y' } } }, merge);
    const { status, out, err } = await world.run(label, ['cm', 'a', 'b', 'x=z']);
    assert.deepEqual([status, out], [1, 'configmap/b labeled\n']);
    assert.match(err, /'x' already has a value \(y\), and --overwrite is false/);
    await world.run(label, ['cm', 'a', 'x=z', '--overwrite']);
    assert.deepEqual((await metadataOf('a')).labels, { x: 'z' });
  });
});
