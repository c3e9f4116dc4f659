/** Watches of `ctl` behind a proxy that ends each of them at once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterOver } from '../../../../src/cli/connection/cluster.ts';
import { followAll } from '../../../../src/cli/objects/follow.ts';
import type { Transport } from '../../../../src/client/transport.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const pods = {
  ...{ group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true, singular: 'pod' },
  ...{ shortNames: [], categories: [], verbs: [], subresources: [] },
};
/** Follows pods for a minute; each watch is answered with this text. Returns the number of watches. */
async function watchesInAMinute(answer: string): Promise<number> {
  const clock = new FakeClock();
  let watches = 0;
  const transport: Transport = {
    async request({ path }) {
      const isWatch = path.includes('watch=1');
      if (isWatch) watches++;
      // The clock of the test is not advanced by a loop without a pause.
      assert.ok(watches < 1_000, 'the client watches again and again without a pause');
      const list = { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '7' }, items: [] };
      const body = (async function* () {
        yield Buffer.from(isWatch ? answer : JSON.stringify(list));
      })();
      return { status: 200, header: () => undefined, body };
    },
    close() {},
  };
  const io = { clock, random: new SeededRandom(1), signal: new AbortController().signal };
  const cluster = clusterOver(transport, io as never, {
    ...{ namespace: 'default', namespaceGiven: false, requestId: 'x' },
    dial: () => assert.fail('nothing is dialled'),
  });
  const collection = {
    resource: pods,
    ...{ namespace: 'default', labelSelector: undefined, fieldSelector: undefined },
  };
  const following = (async () => {
    for await (const _ of followAll(cluster, collection, { clock, timeoutMs: 60_000 }));
  })();
  await clock.until(following, 120_000);
  return watches;
}

describe('following objects', () => {
  it('watches again after growing pauses if each watch ends at once without an event', async () => {
    // After 0, 0.8, 2.4, 5.6, 12, 24.8 and 50.4 seconds.
    assert.equal(await watchesInAMinute(''), 7);
  });
});
