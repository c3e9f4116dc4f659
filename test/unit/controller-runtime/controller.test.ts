import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import { newConflict, newForbidden } from '../../../src/apimachinery/status-error.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import {
  type ControllerDefinition,
  type ControllerFactory,
  TerminalError,
  watched,
} from '../../../src/controller-runtime/definition.ts';
import { createManager, type ManagerOptions } from '../../../src/controller-runtime/manager.ts';
import { ownKey } from '../../../src/controller-runtime/owner.ts';
import { registry } from '../../../src/features/kinds.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { ModelServer } from '../client/model-server.ts';

function setUp(extra: Partial<ManagerOptions> = {}) {
  const server = new ModelServer();
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const random = new SeededRandom(1);
  const client = createClient(inProcessTransport(server.handler));
  const informers = createInformerFactory({ client, clock, random, log });
  const events = { event: () => undefined };
  const kinds = new KindSet(registry);
  const context = { client, informers, kinds, events, clock, random, log, ...extra };
  const manager = createManager(context);
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  return {
    server,
    clock,
    log,
    manager,
    stop,
    async start() {
      running = manager.run(stop.signal);
      await clock.settle();
    },
    async end() {
      stop.abort();
      await clock.settle();
      await running;
      assert.equal(clock.pending, 0, 'no timer is left behind');
    },
  };
}

const controller =
  (
    reconcile: ControllerDefinition['reconcile'],
    more: Partial<ControllerDefinition> = {},
  ): ControllerFactory =>
  () => ({ name: 'test', watches: [watched(configMapResource, ownKey)], reconcile, ...more });

test('many controllers are built in several turns of the event loop, and each runs', async () => {
  const { server, clock, manager, start, end } = setUp();
  server.put('a');
  let turn = 0;
  let reconciled = 0;
  const built: number[] = [];
  for (let n = 0; n < 50; n++)
    manager.add((context) => {
      built[turn] = (built[turn] ?? 0) + 1;
      clock.spend(4);
      return controller(async () => void reconciled++)(context);
    });
  const hear = () => {
    turn++;
    if (reconciled < 50) setImmediate(hear);
  };
  setImmediate(hear);
  await start();
  assert.equal(reconciled, 50);
  assert.ok(Math.max(...built.filter(Boolean)) <= 4, `${built}`);
  await end();
});

test('every existing object is reconciled, and each changed object under the keys of its old and new state', async () => {
  const { server, clock, manager, start, end } = setUp();
  const keys: string[] = [];
  server.put('a');
  server.put('b');
  manager.add(
    controller(
      async (key) => {
        keys.push(key);
        return undefined;
      },
      { watches: [watched(configMapResource, (object) => [`of/${object.metadata.resourceVersion}`])] },
    ),
  );
  await start();
  assert.deepEqual(keys.splice(0), ['of/11', 'of/12']);
  server.put('a');
  await clock.settle();
  assert.deepEqual(keys.splice(0), ['of/11', 'of/13']);
  server.remove('a');
  await clock.settle();
  assert.deepEqual(keys.splice(0), ['of/14']);
  await end();
});

test('nothing is reconciled before all caches have synced', async () => {
  const { server, clock, manager, start, end } = setUp();
  const gate = Promise.withResolvers<void>();
  const client = createClient(
    inProcessTransport(async (request) => {
      await gate.promise;
      return server.handler(request);
    }),
  );
  const slow = createInformerFactory({
    client,
    clock,
    random: new SeededRandom(1),
    log: new RecordingLogger(),
  });
  let ran = 0;
  const definition = controller(async () => {
    ran++;
    return undefined;
  });
  const held = setUp({ informers: slow });
  held.manager.add(definition);
  manager.add(definition);
  server.put('a');
  await held.start();
  assert.equal(ran, 0);
  gate.resolve();
  await clock.settle();
  assert.equal(ran, 1);
  await held.end();
  await start();
  await end();
});

test('requeueAfter enqueues a key again although nothing changed', async () => {
  const { server, clock, manager, start, end } = setUp();
  let runs = 0;
  server.put('a');
  manager.add(controller(async () => (++runs < 3 ? { requeueAfter: 1_000 } : undefined)));
  await start();
  assert.equal(runs, 1);
  await clock.advance(999);
  assert.equal(runs, 1);
  await clock.advance(5_001);
  assert.equal(runs, 3);
  await end();
});

test('a reconcile that throws is retried with growing delays and logged each time; a success resets the delay', async () => {
  const { server, clock, log, manager, start, end } = setUp();
  let runs = 0;
  server.put('a');
  manager.add(
    controller(async () => {
      if (++runs <= 3) throw new Error('not yet');
      return undefined;
    }),
  );
  await start();
  await clock.advance(5 + 10 + 20);
  assert.equal(runs, 4);
  assert.deepEqual(
    log.of('warn').map((line) => [line.fields.error, line.fields.retryMs]),
    [
      ['not yet', 5],
      ['not yet', 10],
      ['not yet', 20],
    ],
  );
  runs = 2;
  server.put('a');
  await clock.settle();
  assert.equal(log.of('warn').at(-1)?.fields.retryMs, 5);
  await end();
});

test('a conflict is not reported', async () => {
  const { server, clock, log, manager, start, end } = setUp();
  let runs = 0;
  server.put('a');
  manager.add(
    controller(async () => {
      if (++runs === 1) throw newConflict({ group: '', plural: 'configmaps' }, 'a', 'it changed');
      return undefined;
    }),
  );
  await start();
  await clock.advance(5);
  assert.deepEqual([runs, log.of('warn').length], [2, 0]);
  await end();
});

test('a creation in a namespace that is being deleted is not reported', async () => {
  const { server, clock, log, manager, start, end } = setUp();
  let runs = 0;
  server.put('a');
  const causes = [{ reason: 'NamespaceTerminating', message: 'namespace default is being terminated' }];
  manager.add(
    controller(async () => {
      runs++;
      throw newForbidden(
        { group: '', plural: 'pods' },
        'a',
        runs === 1 ? 'it goes' : 'no',
        runs === 1 ? causes : [],
      );
    }),
  );
  await start();
  assert.deepEqual([runs, log.of('warn').length], [1, 0]);
  await clock.advance(5);
  assert.deepEqual([runs, log.of('warn').length], [2, 1]);
  await end();
});

test('a reconcile that throws a TerminalError is repeated only after a change', async () => {
  const { server, clock, log, manager, start, end } = setUp();
  let runs = 0;
  server.put('a');
  manager.add(
    controller(async () => {
      runs++;
      throw new TerminalError('makes no sense');
    }),
  );
  await start();
  await clock.advance(3_600_000);
  assert.deepEqual([runs, log.of('error').length], [1, 1]);
  server.put('a');
  await clock.settle();
  assert.equal(runs, 2);
  await end();
});

test('a controller that cannot be built, or whose functions throw, does not affect the other controllers', async () => {
  const { server, clock, log, manager, start, end } = setUp();
  let runs = 0;
  server.put('a');
  manager.add(() => {
    throw new Error('bad configuration');
  });
  manager.add(() => ({
    name: 'throws',
    watches: [
      watched(configMapResource, () => {
        throw new Error('bad keys');
      }),
    ],
    reconcile: async () => undefined,
  }));
  manager.add(
    controller(() => {
      runs++;
      throw new Error('thrown before the first await');
    }),
  );
  await start();
  await clock.advance(5);
  assert.equal(runs, 2);
  assert.deepEqual(
    log.of('error').map((line) => line.fields.error),
    ['bad configuration', 'bad keys'],
  );
  await end();
});

test('a stop waits for reconciles in progress and starts no new ones', async () => {
  const { server, clock, manager, stop, start, end } = setUp();
  const gate = Promise.withResolvers<void>();
  const begun: string[] = [];
  const finished: string[] = [];
  server.put('a');
  server.put('b');
  manager.add(
    controller(
      async (key, signal) => {
        begun.push(key);
        await gate.promise;
        assert.equal(signal.aborted, true);
        finished.push(key);
        return { requeueAfter: 1_000 };
      },
      { workers: 1 },
    ),
  );
  await start();
  let ended = false;
  const ending = end().then(() => {
    ended = true;
  });
  await clock.settle();
  assert.deepEqual([begun, finished, ended, stop.signal.aborted], [['default/a'], [], false, true]);
  gate.resolve();
  await ending;
  assert.deepEqual([begun, finished], [['default/a'], ['default/a']]);
});

test('a controller that only reads its cache lets the event loop turn', async () => {
  const { server, manager, start, end } = setUp();
  for (let i = 0; i < 500; i++) server.put(`map-${i}`);
  let turn = 0;
  const turns: number[] = [];
  manager.add(
    controller(async () => {
      turns.push(turn);
      return undefined;
    }),
  );
  const count = () => {
    turn++;
    if (turns.length < 500) setImmediate(count);
  };
  count();
  await start();
  assert.equal(turns.length, 500);
  const taken = new Set(turns).size;
  assert.ok(taken >= 4, `500 keys took ${taken} turns`);
  await end();
});

test('the work of several controllers and workers is divided into turns of less than 100 ms', async () => {
  const { server, manager, clock, start, end } = setUp();
  for (let i = 0; i < 40; i++) server.put(`map-${i}`);
  let passed = 0;
  clock.monotonic = () => passed;
  const began: number[] = [];
  let longest = 0;
  let turnBegan = 0;
  const ofTurn = () => {
    turnBegan = passed;
    if (began.length < 80) setImmediate(ofTurn);
  };
  const takes = (ms: number) => {
    passed += ms;
    longest = Math.max(longest, passed - turnBegan);
  };
  const keys = (map: ConfigMap) => {
    takes(1);
    return ownKey(map);
  };
  for (let i = 0; i < 2; i++)
    manager.add(
      controller(
        async () => {
          began.push(passed);
          takes(20);
          return undefined;
        },
        { workers: 8, watches: [watched(configMapResource, keys)] },
      ),
    );
  setImmediate(ofTurn);
  await start();
  assert.equal(began.length, 80);
  assert.ok(longest < 100, `a turn took ${longest} ms`);
  await end();
});

test('a kind that is added while the caches are filled is watched as well', async () => {
  const kinds = new KindSet([]);
  const { server, clock, manager, start, end } = setUp({ kinds });
  server.put('a');
  const keys: string[] = [];
  const reconcile = async (key: string) => {
    keys.push(key);
    return undefined;
  };
  manager.add(controller(reconcile, { watches: [], watchOf: (kind) => watched(kind, ownKey) }));
  const starting = start();
  kinds.add(new KindSet(registry).get('', 'configmaps'));
  await starting;
  await clock.settle();
  assert.deepEqual(keys, ['default/a']);
  await end();
});
