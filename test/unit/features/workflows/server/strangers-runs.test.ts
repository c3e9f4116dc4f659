/** Maximum number of runs in progress for unauthenticated users. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import type { StatusError } from '../../../../../src/apimachinery/status-error.ts';
import { checkRequestsOfStrangers } from '../../../../../src/features/triggers/server/strangers-requests.ts';
import type { WorkflowRun } from '../../../../../src/features/workflows/api/workflow-run.ts';
import { checkRunsOfStrangers } from '../../../../../src/features/workflows/server/strangers-runs.ts';
import { namespaceRoom, ownRoom } from '../../../../../src/kube-apiserver/forwarding/strangers-room.ts';
import type { Cache, IndexDeclaration } from '../../../../../src/storage/cache.ts';
import { meta } from '../../../controllers/objects.ts';

const maxOfStrangers = ownRoom.count;
/** Cache of these objects, each of `size` bytes. */
const cacheOf = (objects: readonly KubeObject[], size = 1) =>
  ({
    index: ({ keysOf }: IndexDeclaration) => ({
      get: (key: string) =>
        objects
          .filter((object) => [...keysOf(object)].includes(key))
          .map((object) => ({ object, bytes: { length: size } })),
    }),
  }) as unknown as Cache;

describe('runs of anonymous users', () => {
  const run = (index: number, phase: string, over: object = {}): WorkflowRun =>
    ({
      metadata: meta(`r${index}`, { annotations: { 'minik8s.io/called-by': 'system:anonymous' }, ...over }),
      spec: { workflow: 'w' },
      status: { phase },
    }) as unknown as WorkflowRun;
  const many = (count: number, phase = 'Running', over: object = {}) =>
    Array.from({ length: count }, (_, i) => run(i, phase, over));
  const isFull = (runs: readonly WorkflowRun[], workflow = 'w') => {
    try {
      checkRunsOfStrangers(cacheOf(runs), 'default', workflow);
      return false;
    } catch {
      return true;
    }
  };
  it('are counted for their workflow while they run', () => {
    assert.ok(isFull(many(maxOfStrangers)) && !isFull(many(maxOfStrangers - 1)));
    assert.ok(!isFull(many(maxOfStrangers, 'Succeeded')) && !isFull(many(maxOfStrangers), 'other'));
    const known = { annotations: { 'minik8s.io/called-by': 'alice' } };
    assert.ok(!isFull(many(maxOfStrangers, 'Running', known)));
    assert.ok(!isFull(many(maxOfStrangers, 'Running', { namespace: 'other' })));
  });
  it('above the limit are rejected for five seconds, with the limit and the current number', () => {
    assert.throws(
      () => checkRunsOfStrangers(cacheOf(many(1000)), 'default', 'w'),
      ({ status }: StatusError) => {
        assert.deepEqual(
          [status.code, status.reason, status.details?.retryAfterSeconds],
          [429, 'TooManyRequests', 5],
        );
        assert.match(
          status.message ?? '',
          /^runs in progress that anonymous users have started of w are 1000 or 16 MiB/,
        );
        return true;
      },
    );
    const all = Array.from({ length: 4000 }, (_, i) => ({
      ...run(i, 'Running'),
      spec: { workflow: `w${i % 5}` },
    }));
    assert.throws(() => checkRunsOfStrangers(cacheOf(all as WorkflowRun[]), 'default', 'w9'), {
      message: /of the namespace default are 4000 or 32 MiB/,
    });
  });
  it('have indexes of their own, each of the runs or the events alone', () => {
    const asked: IndexDeclaration[] = [];
    const cache = {
      index: (declared: IndexDeclaration) => {
        asked.push(declared);
        return { get: () => [] };
      },
    } as unknown as Cache;
    checkRunsOfStrangers(cache, 'default', 'w');
    checkRequestsOfStrangers(cache, 'default', 't');
    const kinds = new Map(asked.map(({ name, prefix }) => [name, prefix]));
    assert.equal(kinds.size, 3);
    assert.deepEqual(
      [...kinds.values()].map((prefix) => prefix.split('/').filter(Boolean).at(-1)),
      ['workflowruns.minik8s.io', 'triggerevents.minik8s.io', 'workflowruns.minik8s.io'],
    );
  });
  it('of all workflows in a namespace are counted together', () => {
    const runs = Array.from({ length: namespaceRoom.count }, (_, i) => ({
      ...run(i, 'Running'),
      spec: { workflow: `w${i % 5}` },
    })) as WorkflowRun[];
    assert.ok(isFull(runs, 'w0') && isFull(runs, 'another'));
    assert.ok(!isFull(runs.slice(1), 'w0'));
  });
  it('are limited by their size in the store, for a workflow and for a namespace', () => {
    const some = (count: number, workflow: string, size: number) => () =>
      checkRunsOfStrangers(cacheOf(many(count), size), 'default', workflow);
    const mebibyte = 1024 * 1024;
    assert.throws(some(ownRoom.mebibytes, 'w', mebibyte), { message: /16 MiB/ });
    some(ownRoom.mebibytes - 1, 'w', mebibyte)();
    some(ownRoom.mebibytes, 'another', mebibyte)();
    assert.throws(some(namespaceRoom.mebibytes, 'another', mebibyte), { message: /namespace default/ });
  });
  it('of a trigger are counted while they run, for every user who started them', () => {
    const led = { labels: { 'minik8s.io/trigger': 't' }, annotations: {} };
    const check = (runs: readonly WorkflowRun[]) => checkRequestsOfStrangers(cacheOf(runs), 'default', 't');
    assert.throws(() => check(many(maxOfStrangers, 'Running', led)), /runs .* 1000/);
    check(many(maxOfStrangers, 'Failed', led));
    check(many(maxOfStrangers - 1, 'Running', led));
  });
});

describe('requests of anonymous users to a trigger', () => {
  const event = (phase: string, type = 'minik8s.io/http.request', trigger = 't') =>
    ({
      metadata: meta('e'),
      spec: { trigger, type, replays: 0 },
      status: { phase },
    }) as unknown as KubeObject;
  const check = (events: readonly KubeObject[], size: number) => () =>
    checkRequestsOfStrangers(cacheOf(events, size), 'default', 't');
  const many = (count: number, ...of: Parameters<typeof event>) =>
    Array.from({ length: count }, () => event(...of));
  const quarter = 256 * 1024;
  it('are limited by the number of waiting events', () => {
    assert.throws(check(many(64, 'Pending'), quarter), { message: /requests .* 16 MiB/ });
    check(many(63, 'Pending'), quarter)();
    assert.throws(check(many(128, 'Pending', undefined, 'other'), quarter), { message: /namespace/ });
  });
  it('are not blocked by dead letters, or by events of other sources', () => {
    check(many(128, 'Failed'), quarter)();
    check(many(128, 'Pending', 'minik8s.io/cron'), quarter)();
  });
});
