/** `ctl events` and `ctl get -w`: order, and which changes are printed. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { events } from '../../../../src/cli/commands/events.ts';
import { get } from '../../../../src/cli/commands/get.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const path = '/api/v1/namespaces/default/events';
const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = 'application/merge-patch+json';
const event = (name: string, minute: number, message: string) => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'p', apiVersion: 'v1' },
  ...{ type: 'Normal', reason: 'Test', message, source: { component: 'test' } },
  lastTimestamp: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString().replace('.000', ''),
});

describe('ctl events', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
    world.server.clock.spend(3_600_000);
    await world.send('POST', path, event('a', 30, 'the second'));
    await world.send('POST', path, event('b', 40, 'the third'));
    await world.send('POST', path, event('c', 20, 'the first'));
  });
  after(() => world.stop());

  it('prints the latest event last, whatever the page size', async () => {
    for (const argv of [[], ['--chunk-size=1'], ['--chunk-size=2']]) {
      const { out } = await world.run(events, argv);
      assert.deepEqual(out.match(/the \w+/g), ['the first', 'the second', 'the third']);
    }
  });

  it('prints new events with --watch, and none for an event that is deleted', async () => {
    const user = new AbortController();
    const { out } = await world.run(events, ['--watch'], {
      signal: user.signal,
      before: async (request) => {
        if (!request.path.includes('watch=')) return;
        world.server.clock.after(1_000, () => void world.send('DELETE', `${path}/a`));
        world.server.clock.after(2_000, () => void world.send('POST', path, event('d', 50, 'the new')));
        world.server.clock.after(5_000, () => user.abort(new Error('interrupted')));
      },
    });
    assert.deepEqual(out.match(/the \w+/g)?.sort(), ['the first', 'the new', 'the second', 'the third']);
  });
});

describe('ctl get', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await world.send('POST', configMaps, { metadata: { name, labels: { n: name } }, data: { k: '1' } });
  });
  after(() => world.stop());
  const all = ['configmap/a', 'configmap/b', 'configmap/c', 'configmap/d', 'configmap/e'];

  it('prints all pages of a list, as names, as a table and sorted', async () => {
    const words = ['cm', '-l', 'n', '--chunk-size=2'];
    const names = await world.run(get, [...words, '-o', 'name']);
    assert.deepEqual(names.out.trim().split('\n'), all);
    assert.equal(names.requests.filter((one) => one.includes('limit=2')).length, 3);
    const rows = async (...argv: string[]) => {
      const { out } = await world.run(get, [...words, '--no-headers', ...argv]);
      return out
        .trim()
        .split('\n')
        .map((line) => line[0]);
    };
    assert.deepEqual(await rows(), ['a', 'b', 'c', 'd', 'e']);
    await world.send('PATCH', `${configMaps}/c`, { metadata: { annotations: { order: '1' } } }, merge);
    for (const name of ['a', 'b', 'd', 'e'])
      await world.send(
        'PATCH',
        `${configMaps}/${name}`,
        { metadata: { annotations: { order: '2' } } },
        merge,
      );
    assert.deepEqual((await rows('--sort-by=.metadata.annotations.order'))[0], 'c');
  });

  it('reports an object that does not exist without a line about an empty namespace', async () => {
    const { status, out, err } = await world.run(get, ['cm', 'missing']);
    assert.deepEqual([status, out], [1, '']);
    assert.equal(err, 'Error from server (NotFound): configmaps "missing" not found\n');
  });

  it('prints each change once with -w, also after the server has ended the watch', async () => {
    const user = new AbortController();
    let watches = 0;
    const { out } = await world.run(
      get,
      ['cm', '-l', 'n', '-w', '-o', 'jsonpath={.metadata.name}={.data.k} '],
      {
        signal: user.signal,
        before: async (request) => {
          if (!request.path.includes('watch=1')) return;
          watches++;
          if (watches === 1)
            world.server.clock.after(
              1_000,
              () => void world.send('PATCH', `${configMaps}/a`, { data: { k: '2' } }, merge),
            );
          if (watches === 2) {
            world.server.clock.after(
              1_000,
              () => void world.send('PATCH', `${configMaps}/b`, { data: { k: '2' } }, merge),
            );
            world.server.clock.after(20_000, () => user.abort(new Error('interrupted')));
          }
        },
      },
    );
    assert.ok(watches >= 2, `${watches} watches`);
    assert.equal(out, 'a=1 b=1 c=1 d=1 e=1 a=2 b=2 ');
  });
});
