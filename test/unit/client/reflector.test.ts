/**
 * Revisions at which the reflector lists and watches, its backoff, and the order in which an informer reports
 * missed changes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { ResourceClient } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { runReflector } from '../../../src/client/reflector.ts';
import { responseError } from '../../../src/client/response-error.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { ModelServer } from './model-server.ts';

async function withInformer(
  options: { readonly newest?: boolean },
  body: (world: { server: ModelServer; clock: FakeClock; told: string[] }) => Promise<void>,
): Promise<void> {
  const [server, clock, stop] = [new ModelServer(), new FakeClock(), new AbortController()];
  const client = createClient(inProcessTransport(server.handler));
  const random = new SeededRandom(1);
  const factory = createInformerFactory({ client, clock, random, log: silentLogger, ...options });
  const told: string[] = [];
  factory.informerFor(configMapResource).addEventHandler({
    onAdd: ({ metadata }) => void told.push(`add ${metadata.name}`),
    onUpdate: ({ metadata }) => void told.push(`update ${metadata.name}`),
    onDelete: ({ metadata }) => void told.push(`delete ${metadata.name}`),
  });
  await factory.start(stop.signal);
  await clock.settle();
  await body({ server, clock, told });
  stop.abort();
  await factory.stopped();
}

for (const [newest, first] of [
  [true, 'GET /api/v1/configmaps?limit=500'],
  [false, 'GET /api/v1/configmaps?limit=500&resourceVersion=0'],
] as const) {
  test(`the first list requests ${newest ? 'all acknowledged writes' : 'the state of the server’s cache'}`, () =>
    withInformer({ newest }, async ({ server }) => {
      assert.equal(server.requests[0], first);
    }));
}

test('a repeated old event does not lower the version to resume from', () =>
  withInformer({}, async ({ server, clock, told }) => {
    server.put('a');
    const { resourceVersion } = server.put('b').metadata;
    server.repeat(() => 0);
    await clock.settle();
    server.endWatches();
    await clock.settle();
    const asked = server.requests.at(-1) ?? '';
    assert.equal(new URL(`https://x${asked.slice(4)}`).searchParams.get('resourceVersion'), resourceVersion);
    assert.deepEqual(told, ['add a', 'add b']);
  }));

test('objects that were deleted between watches are reported before created ones', () =>
  withInformer({}, async ({ server, clock, told }) => {
    server.put('goes');
    server.put('changes');
    await clock.settle();
    told.length = 0;
    server.disconnect();
    server.put('comes');
    server.put('changes');
    server.remove('goes');
    server.compact();
    await clock.advance(10_000);
    assert.deepEqual(told, ['delete goes', 'update changes', 'add comes']);
  }));

/**
 * Returns the times at which watches were opened, in milliseconds; each watch ends after `lastsMs`, with or
 * without an event.
 */
async function openings({ lastsMs, says }: { readonly lastsMs: number; readonly says: boolean }) {
  const [clock, stop] = [new FakeClock(), new AbortController()];
  const start = clock.now();
  const opened: number[] = [];
  const resource: Partial<ResourceClient<ConfigMap>> = {
    list: async () => ({ items: [], metadata: { resourceVersion: '5' } }) as never,
    async *watch({ signal }) {
      opened.push(clock.now() - start);
      const wait = opened.length > 50 ? 1e9 : lastsMs;
      if (wait > 0) {
        await new Promise<void>((resolve) => {
          const timer = clock.after(wait, resolve);
          signal.addEventListener('abort', () => resolve(timer.cancel()), { once: true });
        });
      }
      if (says) yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: '6' } } as ConfigMap };
    },
  };
  const running = runReflector(
    {
      resource: resource as ResourceClient<ConfigMap>,
      sink: { replace() {}, apply() {} },
      clock,
      random: new SeededRandom(1),
      log: silentLogger,
    },
    stop.signal,
  );
  await clock.advance(5_000);
  stop.abort();
  await clock.settle();
  await running;
  return opened;
}

test('a watch that ends at once without an event is a failure, and delayed', async () => {
  const opened = await openings({ lastsMs: 0, says: false });
  const [first, second = 0, third = 0] = opened;
  assert.equal(first, 0);
  assert.ok(second >= 800 && third - second >= 1600, `opened at ${opened}`);
});

test('a watch that lasted for a while or delivered an event is opened again at once', async () => {
  assert.deepEqual(await openings({ lastsMs: 1_000, says: false }), [0, 1000, 2000, 3000, 4000, 5000]);
  assert.deepEqual(await openings({ lastsMs: 999, says: true }), [0, 999, 1998, 2997, 3996, 4995]);
});

test('a kind that the server does not serve is logged as information, and another failure as a warning', async () => {
  const unserved = responseError('GET /apis/x/v1/y', 404, '404 page not found');
  for (const [error, level, message] of [
    [unserved, 'info', 'the server does not serve this kind; trying again'],
    [new Error('down'), 'warn', 'list and watch failed; trying again'],
  ] as const) {
    const [clock, stop, log] = [new FakeClock(), new AbortController(), new RecordingLogger()];
    const resource: Partial<ResourceClient<ConfigMap>> = { list: () => Promise.reject(error) };
    const sink = { replace() {}, apply() {} };
    const options = { resource: resource as ResourceClient<ConfigMap>, sink, clock, log };
    const running = runReflector({ ...options, random: new SeededRandom(1) }, stop.signal);
    await clock.advance(60_000);
    stop.abort();
    await clock.settle();
    await running;
    const [first, ...rest] = log.lines;
    assert.deepEqual([first?.level, first?.message], [level, message]);
    assert.ok(rest.length > 0 && rest.every((line) => line.level === 'debug'));
  }
});
