/** `ctl apply` beside other writers, and what --prune and --force delete. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newStatusError } from '../../../../src/apimachinery/status-error.ts';
import { apply } from '../../../../src/cli/commands/apply.ts';
import { setLastApplied } from '../../../../src/cli/commands/apply-last-applied.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = 'application/merge-patch+json';
const manifest = (name: string, data: object = {}, metadata: object = {}) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data });
const documents = (...texts: readonly string[]) => texts.join('\n---\n');

describe('ctl apply', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
  });
  after(() => world.stop());
  const exists = async (name: string) =>
    (await world.server.call('GET', `${configMaps}/${name}`)).status === 200;
  const run = (stdin: string, ...argv: readonly string[]) =>
    world.run(apply, ['-f', '-', ...argv], { stdin });

  it('prunes nothing after a manifest that failed', async () => {
    const labels = { labels: { set: 'one' } };
    await run(documents(manifest('p-a', {}, labels), manifest('p-b', {}, labels)));
    const prune = ['--prune', '-l', 'set=one', '--prune-allowlist=core/v1/ConfigMap'];
    const failed = await run(documents(manifest('p-a', {}, labels), manifest('P_bad', {}, labels)), ...prune);
    assert.equal(failed.status, 1);
    assert.ok(await exists('p-b'));
    const done = await run(manifest('p-a', {}, labels), ...prune);
    assert.deepEqual([done.status, done.out], [0, 'configmap/p-a unchanged\nconfigmap/p-b pruned\n']);
    assert.equal(await exists('p-b'), false);
  });

  it('prunes only the object that it has read, not one that has its name by then', async () => {
    const labels = { labels: { set: 'two' } };
    await run(documents(manifest('q-a', {}, labels), manifest('q-b', {}, labels)));
    const { status, err } = await world.run(
      apply,
      ['-f', '-', '--prune', '-l', 'set=two', '--prune-allowlist=core/v1/ConfigMap'],
      {
        stdin: manifest('q-a', {}, labels),
        before: async ({ method }) => {
          if (method !== 'DELETE') return;
          await world.send('DELETE', `${configMaps}/q-b`);
          await world.send('POST', configMaps, { metadata: { name: 'q-b' } });
        },
      },
    );
    assert.equal(status, 1);
    assert.match(err, /pruning configmap\/q-b: .*Conflict|\(Conflict\).*pruning configmap\/q-b/);
    assert.ok(await exists('q-b'));
  });

  it('reads the object again after a conflict, five times at most', async () => {
    await run(manifest('c', { k: 'old' }));
    for (const [conflicts, status, writes] of [
      [2, 0, 3],
      [100, 1, 6],
    ] as const) {
      let tries = 0;
      const result = await world.run(apply, ['-f', '-'], {
        stdin: manifest('c', { k: `new-${conflicts}` }, { resourceVersion: '' }),
        before: async ({ method, body }) => {
          if (method !== 'PATCH') return;
          tries++;
          // The server rejects the patch as it does after the write of another client.
          if (tries <= conflicts) throw conflict(String(body));
        },
      });
      assert.deepEqual([result.status, tries], [status, writes]);
    }
  });

  it('restores the old object with --force if the server rejects the new one', async () => {
    await run(manifest('f', { k: 'old' }, { labels: { a: 'b' } }));
    await world.send('PATCH', `${configMaps}/f`, { immutable: true }, merge);
    const { status, err } = await world.run(apply, ['-f', '-', '--force'], {
      stdin: manifest('f', { k: 'new' }),
      before: ({ method, body }) => {
        if (method === 'POST' && String(body).includes('new')) throw new Error('the new object is rejected');
      },
    });
    assert.equal(status, 1);
    assert.match(err, /the object was restored, since the new one was rejected/);
    const now = await world.send('GET', `${configMaps}/f`);
    assert.deepEqual([now.data, (now.metadata as { labels: object }).labels], [{ k: 'old' }, { a: 'b' }]);
  });

  it('set-last-applied changes no object if one of them cannot be changed', async () => {
    for (const name of ['s-a', 's-b']) await world.send('POST', configMaps, { metadata: { name } });
    await run(manifest('s-a', { k: 'v' }));
    const { status, err, requests } = await world.run(setLastApplied, ['-f', '-'], {
      stdin: documents(manifest('s-a', { k: 'other' }), manifest('s-b')),
    });
    assert.equal(status, 1);
    assert.match(err, /no last-applied-configuration annotation found on resource: s-b/);
    assert.ok(!requests.some((one) => one.startsWith('PATCH')));
  });
});

function conflict(body: string): Error {
  return newStatusError('Conflict', `the object has been modified; ${body.length} bytes were not applied`);
}
