/** ClusterTrustBundles that a volume selects, and how long they are watched. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { ClusterTrustBundle } from '../../../../src/api/certificates/v1/cluster-trust-bundle.ts';
import type { ClusterTrustBundleProjection } from '../../../../src/api/core/v1/types.gen.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import type { Client, ClientWatchOptions } from '../../../../src/client/client.ts';
import { pemText } from '../../../../src/formats/pem.ts';
import { anchorsIn, selectedBundles } from '../../../../src/kubelet/environment/plan/trust-anchors.ts';
import { TrustBundles } from '../../../../src/kubelet/environment/trust-bundles.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { makePod } from '../builders.ts';

const certificate = (text: string) => pemText('CERTIFICATE', Buffer.from(text));
const bundle = (name: string, signerName?: string, labels: object = {}, trustBundle = certificate(name)) =>
  ({
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1', labels },
    spec: { trustBundle, ...(signerName !== undefined && { signerName }) },
  }) as unknown as ClusterTrustBundle;

const alive = { alive: 'true' };
const all = [
  bundle('s:two', 'a/s', alive),
  bundle('s:one', 'a/s', { alive: 'false' }),
  bundle('t:one', 'a/t', alive),
  bundle('plain', undefined, alive),
];

describe('the bundles that a volume selects', () => {
  const selections: [what: string, source: object, expected: string[]][] = [
    ['the named one', { name: 'plain' }, ['plain']],
    ['none for an unknown name', { name: 'other' }, []],
    ['all of a signer for an empty selector', { signerName: 'a/s', labelSelector: {} }, ['s:one', 's:two']],
    ['none of a signer without a selector', { signerName: 'a/s' }, []],
    ['those whose labels match', { signerName: 'a/s', labelSelector: { matchLabels: alive } }, ['s:two']],
  ];
  const byName = new Map(all.map((each) => [each.metadata.name, each]));
  for (const [what, source, expected] of selections)
    it(`are ${what}`, () => {
      const found = selectedBundles({ path: 'x', ...source } as ClusterTrustBundleProjection, byName);
      assert.deepEqual(
        found.map(({ metadata }) => metadata.name),
        expected,
      );
    });

  it('give each certificate once, without the text between them', () => {
    const mixed = bundle('mixed', undefined, {}, `text\n${certificate('b')}text\n${certificate('a')}`);
    assert.equal(anchorsIn([bundle('a'), mixed]), certificate('a') + certificate('b'));
  });
});

describe('the watch of the bundles', () => {
  let watches: ClientWatchOptions[];
  let lists: number;
  let away: boolean;
  let send: (event: object) => void;
  let bundles: TrustBundles;
  let told: string[];
  let clock: FakeClock;
  beforeEach(() => {
    [watches, lists, away, told] = [[], 0, false, []];
    const client = {
      resource: () => ({
        list: async () => {
          lists++;
          if (away) throw new Error('away');
          return { items: all, metadata: { resourceVersion: '5' } };
        },
        watch: (options: ClientWatchOptions) => events(options),
      }),
    } as unknown as Client;
    async function* events(options: ClientWatchOptions): AsyncIterable<unknown> {
      watches.push(options);
      while (!options.signal.aborted) {
        const next = Promise.withResolvers<unknown>();
        options.signal.addEventListener('abort', () => next.resolve(undefined));
        send = (event) => next.resolve(event);
        const event = await next.promise;
        if (event) yield event;
      }
    }
    clock = new FakeClock(0);
    const random = new SeededRandom(1);
    bundles = new TrustBundles({ client, clock, random, log: silentLogger, readTimeoutMs: 5000 });
    bundles.onChange = (uid) => told.push(uid);
  });
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const source: ClusterTrustBundleProjection = { path: 'x', name: 'plain' };
  const sources = [{ clusterTrustBundle: source }];
  const podWith = (uid: string) => makePod({ volumes: [{ name: 'v', projected: { sources } }] }, { uid });
  const open = () => watches.filter(({ signal }) => !signal.aborted).length;

  it('serves all pods that mount bundles, and ends with the last of them', async () => {
    bundles.observe(makePod({}, { uid: 'other' }));
    assert.equal(bundles.version(source), 'unread');
    bundles.observe(podWith('one'));
    bundles.observe(podWith('two'));
    await turns();
    assert.deepEqual([lists, open()], [1, 1]);
    assert.equal(await bundles.anchors(source), certificate('plain'));
    assert.equal(bundles.version(source), 'uid-plain 1');
    bundles.forget('one');
    bundles.forget('other');
    assert.equal(open(), 1);
    bundles.observe(makePod({}, { uid: 'two' }));
    assert.equal(open(), 0);
  });

  it('notifies the pods of a change, after which another version is read', async () => {
    bundles.observe(podWith('one'));
    await turns();
    told.length = 0;
    const changed = bundle('plain', undefined, {}, certificate('new'));
    changed.metadata.resourceVersion = '6';
    send({ type: 'MODIFIED', object: changed });
    await turns();
    assert.deepEqual(told, ['one']);
    assert.equal(bundles.version(source), 'uid-plain 6');
    assert.equal(await bundles.anchors(source), certificate('new'));
    send({
      type: 'DELETED',
      object: { ...changed, metadata: { ...changed.metadata, resourceVersion: '7' } },
    });
    await turns();
    assert.equal(bundles.version(source), '');
    assert.equal(await bundles.anchors(source), undefined);
    bundles.close();
  });

  it('rejects a read while the API server cannot be reached', async () => {
    away = true;
    bundles.observe(podWith('one'));
    await assert.rejects(
      clock.until(bundles.anchors(source)),
      /ClusterTrustBundle informer has not yet synced/,
    );
    bundles.close();
  });
});
