import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import {
  defaultLimits,
  InFlight,
  type InFlightLimits,
  inFlightLimits,
} from '../../../../src/apiserver/load/in-flight.ts';
import { withInFlightLimit } from '../../../../src/apiserver/load/shed.ts';
import { sortOf } from '../../../../src/apiserver/load/sort-of.ts';
import { parseRequestInfo } from '../../../../src/apiserver/request/request-info.ts';
import { subresourceAt } from '../../../fixtures/kind-behavior.ts';

const limits: InFlightLimits = {
  ...inFlightLimits({ requests: 4, watches: 3 }),
  'node request': { all: 2, user: 2 },
};

const enter = (inFlight: InFlight, ...who: Parameters<InFlight['enter']>) => {
  const entered = inFlight.enter(...who);
  return typeof entered === 'function' ? entered : undefined;
};

describe('places for requests', () => {
  it('are limited for one user so that others have room, and are released', () => {
    const inFlight = new InFlight(limits);
    const first = enter(inFlight, 'request', 'a');
    assert.ok(first && enter(inFlight, 'request', 'a'));
    assert.deepEqual(inFlight.enter('request', 'a'), { whose: 'user', limit: 2 });
    assert.ok(enter(inFlight, 'request', 'b'));
    assert.ok(enter(inFlight, 'request', 'c'));
    assert.deepEqual(inFlight.enter('request', 'd'), { whose: 'all', limit: 4 });
    first();
    assert.ok(enter(inFlight, 'request', 'd'));
  });

  it('of one user are released one by one', () => {
    const inFlight = new InFlight(limits);
    for (let round = 0; round < 3; round++) {
      const held = [enter(inFlight, 'request', 'a'), enter(inFlight, 'request', 'a')];
      assert.ok(held.every(Boolean));
      held[0]?.();
      const again = enter(inFlight, 'request', 'a');
      assert.ok(again);
      assert.equal(enter(inFlight, 'request', 'a'), undefined);
      for (const leave of [held[1], again]) leave?.();
    }
  });

  it('are by default enough for a thousand nodes', () => {
    const all = Number.POSITIVE_INFINITY;
    assert.deepEqual(inFlightLimits(defaultLimits), {
      heartbeat: { all, user: 4 },
      'node request': { all: 400, user: 20 },
      request: { all: 400, user: 134 },
      'node watch': { all, user: 2000 },
      watch: { all: 4000, user: 1000 },
      stream: { all: 1000, user: 400 },
      call: { all: 4000, user: 2000 },
      aside: { all: 800, user: 400 },
    });
  });

  it('are rejected for all users when the limit is reached', async () => {
    for (const [sort, of, seconds] of [
      ['request', 'requests', 1],
      ['node request', 'requests', 1],
      ['heartbeat', 'heartbeats', 1],
      ['node watch', 'watches', 5],
      ['watch', 'watches', 5],
      ['stream', 'streams', 5],
    ] as const) {
      const full = new InFlight({ ...limits, [sort]: { all: 0, user: 1 } });
      const counted = { sort, user: { name: 'a', groups: [] }, onClosed: undefined };
      await assert.rejects(
        withInFlightLimit(full, counted, () => assert.fail('it was served')),
        (error) => {
          assert.ok(error instanceof StatusError);
          assert.equal(
            error.message,
            `too many ${of} at once: all users may have at most 0; try again later`,
          );
          assert.equal(error.status.details?.retryAfterSeconds, seconds);
          return true;
        },
      );
    }
  });

  it('are counted separately for each sort', () => {
    const inFlight = new InFlight(limits);
    for (let user = 0; user < 4; user++) assert.ok(enter(inFlight, 'request', `user-${user}`));
    for (let node = 0; node < 2; node++) assert.ok(enter(inFlight, 'node request', `node-${node}`));
    assert.ok('limit' in inFlight.enter('node request', 'node-2'));
    for (let node = 0; node < 1000; node++) assert.ok(enter(inFlight, 'heartbeat', `node-${node}`));
    for (const sort of ['watch', 'node watch', 'stream'] as const) assert.ok(enter(inFlight, sort, 'user-0'));
  });

  it('are refused with the time after which to retry', async () => {
    const inFlight = new InFlight(limits);
    for (let taken = 0; taken < 3; taken++) enter(inFlight, 'watch', 'a');
    const counted = { sort: 'watch', user: { name: 'a', groups: [] }, onClosed: undefined } as const;
    await assert.rejects(
      withInFlightLimit(inFlight, counted, () => assert.fail('it was served')),
      (error) => {
        assert.ok(error instanceof StatusError);
        const { code, reason, message, details } = error.status;
        assert.deepEqual([code, reason, details?.retryAfterSeconds], [429, 'TooManyRequests', 5]);
        assert.equal(message, 'too many watches at once: one user may have at most 3; try again later');
        return true;
      },
    );
  });

  it('of the ServiceAccounts of a namespace are counted together, and those of kube-system separately', async () => {
    const inFlight = new InFlight(limits);
    const over = Promise.withResolvers<void>();
    const as = (name: string) =>
      withInFlightLimit(
        inFlight,
        { sort: 'request', user: { name, groups: [] }, onClosed: undefined },
        () => over.promise,
      );
    const account = (namespace: string, name: string) => as(`system:serviceaccount:${namespace}:${name}`);
    const held = [account('shop', 'a'), account('shop', 'b')];
    await assert.rejects(account('shop', 'c'), {
      message:
        'too many requests at once: the ServiceAccounts of one namespace may have at most 2; try again later',
    });
    held.push(account('kube-system', 'a'), account('kube-system', 'b'));
    over.resolve();
    await Promise.all(held);
  });

  it('are released with the work if the answer is complete once it is made', async () => {
    const inFlight = new InFlight({ ...limits, request: { all: 1, user: 1 } });
    const counted = { sort: 'request', user: { name: 'a', groups: [] }, onClosed: undefined } as const;
    for (let round = 0; round < 2; round++)
      assert.equal(await withInFlightLimit(inFlight, counted, () => round), round);
  });

  it('are released while they wait for a program of a user, and are counted again afterwards', async () => {
    const inFlight = new InFlight({ ...limits, request: { all: 1, user: 1 }, aside: { all: 1, user: 1 } });
    const counted = { sort: 'request', user: { name: 'a', groups: [] }, onClosed: undefined } as const;
    const [answered, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const back = Promise.withResolvers<void>();
    const done = withInFlightLimit(inFlight, counted, async (aside) => {
      await aside(() => answered.promise);
      back.resolve();
      await finished.promise;
    });
    const leave = enter(inFlight, 'request', 'b');
    assert.ok(leave, 'the request that waits is still counted');
    assert.equal(enter(inFlight, 'aside', 'b'), undefined);
    leave();
    answered.resolve();
    await back.promise;
    assert.equal(enter(inFlight, 'request', 'b'), undefined);
    finished.resolve();
    await done;
    assert.ok(enter(inFlight, 'request', 'b'));
  });

  it('stay counted while they wait if too many others wait', async () => {
    const inFlight = new InFlight({ ...limits, request: { all: 1, user: 1 }, aside: { all: 0, user: 0 } });
    const counted = { sort: 'request', user: { name: 'a', groups: [] }, onClosed: undefined } as const;
    await withInFlightLimit(inFlight, counted, (aside) =>
      aside(async () => assert.equal(enter(inFlight, 'request', 'b'), undefined)),
    );
    assert.ok(enter(inFlight, 'request', 'b'));
  });

  it('are counted until the work is done and the answer has been sent', async () => {
    for (const order of ['work first', 'hung up first']) {
      const inFlight = new InFlight({ ...limits, request: { all: 1, user: 1 } });
      const work = Promise.withResolvers<void>();
      let closed = () => {};
      const user = { name: 'a', groups: [] };
      const onClosed = (fn: () => void) => {
        closed = fn;
      };
      const done = withInFlightLimit(inFlight, { sort: 'request', user, onClosed }, () => work.promise);
      const isFree = () => {
        const leave = enter(inFlight, 'request', 'b');
        leave?.();
        return leave !== undefined;
      };
      if (order === 'work first') {
        work.resolve();
        await done;
        assert.equal(isFree(), false);
        closed();
      } else {
        closed();
        assert.equal(isFree(), false);
        work.reject(new Error('it failed'));
        await assert.rejects(done, /it failed/);
      }
      assert.equal(isFree(), true);
    }
  });
});

describe('the sort of a request', () => {
  const at = (path: string) => ({
    info: parseRequestInfo(path),
    longRunning: subresourceAt(path)?.longRunning,
  });
  const admin = { name: 'admin', groups: ['system:masters'] };
  const node = { name: 'system:node:a', groups: ['system:nodes'] };
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a';
  for (const [user, verb, path, sort] of [
    [admin, 'get', '/api/v1/namespaces/default/pods/a', 'request'],
    [admin, 'update', lease, 'request'],
    [admin, 'watch', '/api/v1/pods', 'watch'],
    [admin, 'get', '/api/v1/namespaces/default/pods/a/log', 'request'],
    [admin, 'create', '/api/v1/namespaces/default/pods/a/exec', 'stream'],
    [admin, 'get', '/api/v1/namespaces/default/pods/a/attach', 'stream'],
    [admin, 'get', '/api/v1/namespaces/default/pods/a/portforward', 'stream'],
    [admin, 'update', '/api/v1/namespaces/default/services/a/proxy/x/y', 'stream'],
    [admin, 'create', '/apis/minik8s.io/v1/namespaces/a/functions/f/invoke/x', 'call'],
    [node, 'create', '/apis/minik8s.io/v1/namespaces/a/workflows/w/invoke', 'call'],
    [admin, 'create', '/apis/minik8s.io/v1/namespaces/a/triggers/t/invoke', 'call'],
    [admin, undefined, '/openapi/v3', 'request'],
    [node, 'update', lease, 'heartbeat'],
    [node, 'get', '/api/v1/namespaces/default/leases/a', 'node request'],
    [node, 'get', '/apis/coordination.k8s.io/v1/nodes/a', 'node request'],
    [node, 'get', '/api/v1/namespaces/default/pods/a/exec', 'stream'],
    [admin, 'patch', '/api/v1/nodes/a/status', 'request'],
    [node, 'patch', '/api/v1/nodes/a/status', 'heartbeat'],
    [node, 'list', '/api/v1/nodes', 'node request'],
    [node, 'watch', '/api/v1/nodes', 'node watch'],
    [node, 'patch', '/api/v1/namespaces/default/pods/a/status', 'node request'],
    [node, undefined, '/apis', 'node request'],
    [node, 'watch', '/minik8s/certificate-authority', 'node watch'],
    [admin, 'watch', '/minik8s/certificate-authority', 'watch'],
  ] as const) {
    it(`is ${sort}: ${user.name} ${verb} ${path}`, () =>
      assert.equal(sortOf({ user, verb, ...at(path), follow: false }), sort));
  }

  it('is a stream when a log is followed', () => {
    const pod = '/api/v1/namespaces/default/pods/a';
    assert.equal(sortOf({ user: admin, verb: 'get', ...at(`${pod}/log`), follow: true }), 'stream');
    assert.equal(sortOf({ user: admin, verb: 'get', ...at(pod), follow: true }), 'request');
  });
});
