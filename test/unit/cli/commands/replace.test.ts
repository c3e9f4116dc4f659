/** `ctl replace`: resourceVersions, and the order of deletion and creation with --force. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { replace } from '../../../../src/cli/commands/replace.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const merge = 'application/merge-patch+json';
const manifest = (name: string, metadata: object = {}) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...metadata },
    data: { k: 'new' },
  });

describe('ctl replace', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
  });
  after(() => world.stop());
  const run = (stdin: string, ...argv: readonly string[]) =>
    world.run(replace, ['-f', '-', ...argv], { stdin });

  it('replaces any version of the object, unless the manifest has a resourceVersion', async () => {
    const { metadata } = await world.send('POST', configMaps, { metadata: { name: 'a' } });
    await world.send('PATCH', `${configMaps}/a`, { data: { k: 'other' } }, merge);
    const { resourceVersion } = metadata as { resourceVersion: string };
    const old = await run(manifest('a', { resourceVersion }));
    assert.equal(old.status, 1);
    assert.match(old.err, /\(Conflict\)/);
    const any = await run(manifest('a'));
    assert.deepEqual([any.status, any.out], [0, 'configmap/a replaced\n']);
    assert.deepEqual((await world.send('GET', `${configMaps}/a`)).data, { k: 'new' });
  });

  it('waits with --force until the old object is removed, and only then creates the new one', async () => {
    const { metadata } = await world.send('POST', configMaps, {
      metadata: { name: 'held', finalizers: ['example.com/hold'] },
    });
    world.server.clock.after(
      5_000,
      () => void world.send('PATCH', `${configMaps}/held`, { metadata: { finalizers: null } }, merge),
    );
    const { status, out } = await run(manifest('held'), '--force');
    assert.deepEqual([status, out], [0, 'configmap "held" deleted\nconfigmap/held replaced\n']);
    const after = await world.send('GET', `${configMaps}/held`);
    assert.notEqual((after.metadata as { uid: string }).uid, (metadata as { uid: string }).uid);
  });

  it('with --force, deletes all objects before it creates any, and creates none if a deletion fails', async () => {
    for (const name of ['p', 'q']) await world.send('POST', configMaps, { metadata: { name } });
    const both = `${manifest('p')}\n---\n${manifest('q')}`;
    const { out } = await run(both, '--force');
    assert.equal(
      out,
      [
        'configmap "p" deleted',
        'configmap "q" deleted',
        'configmap/p replaced',
        'configmap/q replaced',
        '',
      ].join('\n'),
    );
    await world.send('PATCH', `${configMaps}/q`, { metadata: { finalizers: ['example.com/hold'] } }, merge);
    const { status, requests } = await run(both, '--force', '--timeout=2s');
    assert.equal(status, 1);
    assert.ok(!requests.some((one) => one.startsWith('POST')));
    await world.send('PATCH', `${configMaps}/q`, { metadata: { finalizers: null } }, merge);
  });

  it('creates nothing with --force if the old object is not gone within --timeout', async () => {
    await world.send('POST', configMaps, { metadata: { name: 'stuck', finalizers: ['example.com/hold'] } });
    const { status, err, requests } = await run(manifest('stuck'), '--force', '--timeout=2s');
    assert.equal(status, 1);
    assert.match(err, /timed out waiting for configmaps\/stuck to be deleted/);
    assert.ok(!requests.some((one) => one.startsWith('POST')));
  });

  it('with --force --grace-period=0, gives a pod one second, so that it ends before the new pod is created', async () => {
    const pod = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', finalizers: ['example.com/hold'] } },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'x:1' }] },
    };
    await world.send('POST', pods, pod);
    await run(JSON.stringify(pod), '--force', '--grace-period=0', '--timeout=1s');
    const { metadata } = await world.send('GET', `${pods}/p`);
    assert.equal((metadata as { deletionGracePeriodSeconds: number }).deletionGracePeriodSeconds, 1);
  });

  it('fails if an object does not exist, but still replaces the objects after it', async () => {
    await world.send('POST', configMaps, { metadata: { name: 'last' } });
    const { status, out } = await run(`${manifest('missing')}\n---\n${manifest('last')}`);
    assert.deepEqual([status, out], [1, 'configmap/last replaced\n']);
  });
});
