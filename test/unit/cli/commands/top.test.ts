/** `ctl top pod` without metrics. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { top } from '../../../../src/cli/commands/top.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

describe('ctl top pod without metrics', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
  });
  after(() => world.stop());
  const run = (...argv: readonly string[]) => world.run(top.verbs.pod ?? assert.fail(), argv);

  it('finds nothing in a namespace without pods', async () => {
    const { status, err } = await run();
    assert.deepEqual([status, err], [0, 'No resources found in default namespace.\n']);
  });

  it('fails for a new pod, and names a pod that should have metrics', async () => {
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await world.send('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'web' }, spec });
    const early = await run();
    assert.deepEqual([early.status, early.err], [1, 'error: metrics not available yet\n']);
    await world.server.clock.advance(121_000);
    const late = await run('-A');
    assert.equal(late.status, 1);
    assert.match(late.err, /^error: Metrics not available for pod default\/web, age: 2m1(\.\d+)?s\n$/);
  });
});
