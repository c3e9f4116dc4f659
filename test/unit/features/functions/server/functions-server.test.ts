/** The part of functions in the API server: calls, access of nodes, public functions, and dialing of pods. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { storageKey } from '../../../../../src/apimachinery/resource-definition.ts';
import type { AccessRequest } from '../../../../../src/apiserver/authorization/authorizer.ts';
import { silentLogger } from '../../../../../src/base/log.ts';
import { functionResource } from '../../../../../src/features/functions/api/function.ts';
import {
  type FunctionCallOptions,
  functionsServer,
} from '../../../../../src/features/functions/server/functions-server.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { FakeCache, fn, pod } from './function-cache.ts';

/** `isRefusing`: kubelets refuse every connection at once. */
function world({ isRefusing = false } = {}) {
  const clock = new FakeClock();
  const cache = new FakeCache();
  const around: unknown[] = [];
  /** Requests to kubelets for a connection to a pod: node, method and path. */
  const asked: string[] = [];
  /** True while a kubelet is waited for. */
  let isWaiting = false;
  const nodeConnection = {
    upgrade: (node: string, { method, path }: { method: string; path: string }, signal: AbortSignal) => {
      asked.push(`${node} ${method} ${path}`);
      if (isRefusing) return Promise.reject(new Error('refused'));
      isWaiting = true;
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          isWaiting = false;
          reject(signal.reason);
        }),
      );
    },
  };
  const calls: FunctionCallOptions = {
    master: 'here',
    writeDemand: async () => undefined,
    reachesPod: (_, of) => {
      assert.equal(of, cache);
      return false;
    },
  };
  const context = {
    ...{ cache, clock, random: new SeededRandom(1), log: silentLogger, nodeConnection, metrics: undefined },
    results: {
      listens: () => false,
      around: (call: unknown) => {
        around.push(call);
        return call;
      },
    },
  };
  const part = functionsServer(calls, context as never);
  return { clock, cache, part, context, around, asked, isWaiting: () => isWaiting };
}

it('a function is called with every method and a path, and the results go to the listeners', () => {
  const { part, context, around } = world();
  const { subresources = {} } = part.feature({ cache: context.cache } as never);
  assert.deepEqual(Object.keys(subresources), ['minik8s.io/functions']);
  const { methods, ...rest } = subresources['minik8s.io/functions']?.invoke ?? assert.fail();
  assert.deepEqual(Object.keys(methods), ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
  assert.deepEqual(rest, {
    kind: { group: '', version: 'v1', kind: 'FunctionCall' },
    ...{ longRunning: 'call', answersBytes: true, takesPath: true },
  });
  assert.deepEqual(around, [methods.POST]);
});

it('without options no function is called, and nodes have their access', () => {
  const { context } = world();
  const part = functionsServer(undefined, context as never);
  const feature = part.feature({ cache: context.cache } as never);
  assert.deepEqual(
    [part.placedCalls, part.directCallsOf, 'subresources' in feature],
    [undefined, undefined, false],
  );
  assert.ok(feature.nodeAccess?.rules.length);
});

it('anonymous users may call only public functions', async () => {
  const { part, context } = world();
  const cache = {
    get: (key: string) => {
      const name = ['open', 'closed'].find((one) => key === storageKey(functionResource, 'default', one));
      return name && { object: { spec: { public: name === 'open' } } };
    },
  };
  const [authorizer] = part.feature({ ...context, cache } as never).authorizers ?? [];
  const may = (name: string) =>
    authorizer?.({
      ...{ type: 'resource', group: 'minik8s.io', namespace: 'default', resource: 'functions/invoke' },
      ...{ verb: 'create', name },
    } as AccessRequest);
  assert.deepEqual([await may('open'), await may('closed'), await may('gone')], [true, false, false]);
});

it('demands of an earlier process are withdrawn when the server starts, and the work of the server ends with it', async () => {
  const { part, cache, clock } = world();
  cache.put(fn({ activeVersion: 'v1', demand: { here: 3 } }));
  part.start?.();
  await clock.settle();
  assert.equal(cache.watches.size, 2);
  part.stop?.();
  assert.deepEqual([cache.watches.size, clock.pending], [0, 0]);
});

it('an instance without a route is reached through its kubelet, which has five seconds', async () => {
  const { part, cache, clock, asked, isWaiting } = world();
  cache.put(fn());
  cache.put({ ...pod('two'), spec: { nodeName: 'n2' } } as unknown as Pod);
  const over = new AbortController();
  const named = { namespace: 'default', function: 'f', id: '1' };
  part.placedCalls?.place(named, over.signal).catch(() => undefined);
  await clock.advance(4999);
  assert.deepEqual([asked, isWaiting()], [['n2 POST /connect/default/two/8080'], true]);
  over.abort();
  await clock.advance(1);
  part.stop?.();
  assert.deepEqual([asked.length, isWaiting(), clock.pending], [1, false, 0]);
});

it('an instance whose kubelet refuses the connection leaves no timer', async () => {
  const { part, cache, clock, asked } = world({ isRefusing: true });
  cache.put(fn());
  cache.put({ ...pod('two'), spec: { nodeName: 'n2' } } as unknown as Pod);
  const over = new AbortController();
  const named = { namespace: 'default', function: 'f', id: '1' };
  part.placedCalls?.place(named, over.signal).catch(() => undefined);
  await clock.settle();
  assert.equal(asked.length, 1);
  over.abort();
  await clock.settle();
  part.stop?.();
  assert.equal(clock.pending, 0);
});
