/** The resources of a server that are kept between commands. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { version } from '../../../../src/base/version.ts';
import { discoveryCache, resourcesIn } from '../../../../src/cli/connection/discovery-cache.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const directory = mkdtempSync(join(tmpdir(), 'discovery-'));
after(() => rmSync(directory, { recursive: true }));

const lists = { shortNames: ['po'], categories: [], verbs: ['get'], subresources: [] };
const pods = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  namespaced: true,
  ...lists,
};
const hour = 3_600_000;

describe('the kept resources', () => {
  const kept = (more = {}) =>
    JSON.stringify({ version: version(), savedAt: 100, resources: [pods], ...more });

  it('are used for six hours', () => {
    assert.deepEqual(resourcesIn(kept(), 100), [pods]);
    assert.deepEqual(resourcesIn(kept(), 100 + 6 * hour), [pods]);
    assert.equal(resourcesIn(kept(), 101 + 6 * hour), undefined);
  });

  for (const [what, more] of [
    ['of another version of ctl', { version: `${version()}x` }],
    ['of the future', { savedAt: 101 }],
    ['without a time', { savedAt: undefined }],
    ['without a kind', { resources: [] }],
    ['with a kind that lacks a field', { resources: [pods, { ...pods, verbs: undefined }] }],
  ] as const)
    it(`are not used: those ${what}`, () => {
      assert.equal(resourcesIn(kept(more), 100), undefined);
    });

  it('are those of one server with one authority', () => {
    const io = { env: {}, homeDirectory: '/none', clock: new FakeClock(), random: new SeededRandom(1) };
    const cacheOf = (server: string, ca?: string) =>
      discoveryCache(io, { server, ...(ca !== undefined && { ca }) }, directory);
    const own = cacheOf('https://one:6443', 'CA');
    own.write([pods]);
    assert.deepEqual(own.read(), [pods]);
    assert.deepEqual(cacheOf('https://one:6443', 'CA').read(), [pods]);
    assert.equal(cacheOf('https://one:6443', 'CB').read(), undefined);
    assert.equal(cacheOf('https://one:6443').read(), undefined);
    assert.equal(cacheOf('https://two:6443', 'CA').read(), undefined);
    own.forget();
    assert.equal(own.read(), undefined);
  });
});
