/** `ctl wait`: its timeouts, and objects that do not exist. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { wait } from '../../../../src/cli/commands/wait.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = 'application/merge-patch+json';

describe('ctl wait', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
    await world.send('POST', configMaps, { metadata: { name: 'a' } });
  });
  after(() => world.stop());
  const passed = async (...argv: readonly string[]) => {
    const start = world.server.clock.now();
    const result = await world.run(wait, argv);
    return { ...result, seconds: Math.round((world.server.clock.now() - start) / 1000) };
  };

  it('gives up after 30 seconds, after --timeout, or after a week with a negative --timeout', async () => {
    const words = ['cm/a', '--for=jsonpath={.data.k}=v'];
    const error = 'error: timed out waiting for the condition on configmaps/a\n';
    for (const [argv, seconds] of [
      [[], 30],
      [['--timeout=90s'], 90],
      [['--timeout=-1s'], 7 * 24 * 3600],
    ] as const) {
      const result = await passed(...words, ...argv);
      assert.deepEqual([result.status, result.err, result.seconds], [1, error, seconds]);
    }
  });

  it('looks once with --timeout=0', async () => {
    const { status, err, seconds } = await passed('cm/a', '--for=jsonpath={.data.k}=v', '--timeout=0');
    assert.deepEqual([status, err, seconds], [1, 'error: condition not met for configmaps/a\n', 0]);
  });

  it('prints nothing for --for=delete of an object that never existed', async () => {
    const { status, out, seconds } = await passed('cm/never', '--for=delete');
    assert.deepEqual([status, out, seconds], [0, '', 0]);
  });

  it('waits until the object is deleted with --for=delete', async () => {
    await world.send('POST', configMaps, { metadata: { name: 'leaves' } });
    world.server.clock.after(9_000, () => void world.send('DELETE', `${configMaps}/leaves`));
    const { status, out, seconds } = await passed('cm/leaves', '--for=delete');
    assert.deepEqual([status, out, seconds], [0, 'configmap/leaves condition met\n', 9]);
  });

  it('fails for an object that does not exist, and waits for it with --for=create', async () => {
    const missing = await passed('cm/later', '--for=jsonpath={.data.k}=v');
    assert.equal(missing.status, 1);
    assert.match(missing.err, /configmaps "later" not found/);
    world.server.clock.after(
      4_000,
      () => void world.send('POST', configMaps, { metadata: { name: 'later' } }),
    );
    const { status, out, seconds } = await passed('cm/later', '--for=create');
    assert.deepEqual([status, out, seconds], [0, 'configmap/later condition met\n', 4]);
  });

  it('waits for an object that is deleted and created again with the value', async () => {
    await world.send('POST', configMaps, { metadata: { name: 'again' } });
    world.server.clock.after(4_000, () => void world.send('DELETE', `${configMaps}/again`));
    world.server.clock.after(
      8_000,
      () => void world.send('POST', configMaps, { metadata: { name: 'again' }, data: { k: 'v' } }),
    );
    const { status, out, seconds } = await passed('cm/again', '--for=jsonpath={.data.k}=v');
    assert.deepEqual([status, out, seconds], [0, 'configmap/again condition met\n', 8]);
  });

  it('waits for all objects together, and reports those that meet the condition when the time is over', async () => {
    await world.send('POST', configMaps, { metadata: { name: 'b' } });
    world.server.clock.after(
      20_000,
      () => void world.send('PATCH', `${configMaps}/b`, { data: { k: 'v' } }, merge),
    );
    const { status, out, seconds } = await passed('cm/a', 'cm/b', '--for=jsonpath={.data.k}=v');
    assert.deepEqual([status, out, seconds], [1, 'configmap/b condition met\n', 30]);
    const none = await passed('cm/a', 'cm/a', 'cm/a', '--for=jsonpath={.data.k}=v');
    assert.deepEqual([none.status, none.seconds], [1, 30]);
    assert.equal(none.err.match(/timed out waiting for the condition on configmaps\/a/g)?.length, 3);
  });
});
