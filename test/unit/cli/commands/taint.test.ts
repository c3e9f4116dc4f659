/** `ctl taint` beside other writers of taints. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { taint } from '../../../../src/cli/commands/taint.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const nodes = '/api/v1/nodes';
const merge = 'application/merge-patch+json';
const other = { key: 'other', effect: 'NoExecute' };

describe('ctl taint', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
  });
  after(() => world.stop());
  const taintsOf = async (name: string) =>
    ((await world.send('GET', `${nodes}/${name}`)).spec as { taints?: { key: string }[] }).taints;

  it('keeps a taint that a controller sets between its read and its write', async () => {
    await world.send('POST', nodes, { metadata: { name: 'n' } });
    let writes = 0;
    const { status, out } = await world.run(taint, ['node', 'n', 'mine=1:NoSchedule'], {
      before: async ({ method }) => {
        if (method === 'PATCH' && writes++ === 0)
          await world.send('PATCH', `${nodes}/n`, { spec: { taints: [other] } }, merge);
      },
    });
    assert.deepEqual([status, out, writes], [0, 'node/n tainted\n', 2]);
    assert.deepEqual((await taintsOf('n'))?.map(({ key }) => key).sort(), ['mine', 'other']);
  });

  it('gives up after ten conflicts', async () => {
    await world.send('POST', nodes, { metadata: { name: 'busy' } });
    let writes = 0;
    const { status, err } = await world.run(taint, ['node', 'busy', 'mine=1:NoSchedule'], {
      before: async ({ method }) => {
        if (method === 'PATCH')
          await world.send(
            'PATCH',
            `${nodes}/busy`,
            { metadata: { labels: { n: String(writes++) } } },
            merge,
          );
      },
    });
    assert.deepEqual([status, writes], [1, 10]);
    assert.match(err, /\(Conflict\)/);
  });

  it('writes nothing in a dry run', async () => {
    await world.send('POST', nodes, { metadata: { name: 'dry' } });
    for (const where of ['client', 'server'])
      await world.run(taint, ['node', 'dry', 'mine=1:NoSchedule', `--dry-run=${where}`]);
    assert.equal(await taintsOf('dry'), undefined);
  });
});
