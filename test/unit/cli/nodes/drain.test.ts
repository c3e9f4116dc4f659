/** Pods that a drain evicts, and retries of evictions that are rejected for now. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { newNotFound, newStatusError } from '../../../../src/apimachinery/status-error.ts';
import type { Cluster } from '../../../../src/cli/connection/cluster.ts';
import type { Io } from '../../../../src/cli/io.ts';
import { evictionRefusal, removePods } from '../../../../src/cli/nodes/pod-removal.ts';
import { overdueAt, planDrain } from '../../../../src/views/drain-plan.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const pod = (name: string, more: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, ...metadata },
  ...more,
});
const owned = (kind: string) => ({ ownerReferences: [{ kind, name: 'owner', controller: true }] });
const emptyDir = { spec: { volumes: [{ name: 'v', emptyDir: {} }] } };

describe('drain plan', () => {
  const present = () => ({ missing: false, error: '' });
  const plan = (pods: JsonObject[], on: object = {}, daemonSetOf = present) => {
    const options = { force: false, ignoreDaemonSets: false, deleteEmptyDirData: false, ...on };
    const { pods: taken, ...rest } = planDrain(pods, options, daemonSetOf);
    return { taken: taken.map(({ metadata }) => (metadata as JsonObject).name), ...rest };
  };

  it('takes pods that a controller replaces', () => {
    assert.deepEqual(plan([pod('a', {}, owned('ReplicaSet'))]), { taken: ['a'], warnings: '', errors: [] });
  });

  it('ignores pods of daemon sets with --ignore-daemonsets, and refuses them without', () => {
    const pods = [pod('a', {}, owned('DaemonSet')), pod('b', {}, owned('ReplicaSet'))];
    assert.deepEqual(plan(pods).errors, [
      'cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): default/a',
    ]);
    const ignoring = plan(pods, { ignoreDaemonSets: true });
    assert.deepEqual(ignoring, {
      taken: ['b'],
      warnings: 'ignoring DaemonSet-managed Pods: default/a',
      errors: [],
    });
  });

  it('takes pods of daemon sets that have ended, whether it ignores daemon sets or not', () => {
    const pods = [pod('a', { status: { phase: 'Failed' } }, owned('DaemonSet'))];
    assert.deepEqual(plan(pods), { taken: ['a'], warnings: '', errors: [] });
    assert.deepEqual(plan(pods, { ignoreDaemonSets: true }).taken, ['a']);
  });

  it('takes pods whose daemon set does not exist only with --force', () => {
    const pods = [pod('a', {}, owned('DaemonSet'))];
    const gone = () => ({ missing: true, error: 'daemonsets.apps "owner" not found' });
    assert.deepEqual(plan(pods, { ignoreDaemonSets: true }, gone).errors, [
      'cannot delete daemonsets.apps "owner" not found: default/a',
    ]);
    assert.deepEqual(plan(pods, { force: true }, gone).taken, ['a']);
  });

  it('skips every pod whose deletion is overdue', () => {
    const pods = [pod('a'), pod('b', {}, owned('ReplicaSet'))];
    const isOverdue = (each: JsonObject) => each === pods[0];
    assert.deepEqual(plan(pods, { isOverdue }), { taken: ['b'], warnings: '', errors: [] });
  });

  it('computes from deletionTimestamp when a pod becomes overdue', () => {
    assert.equal(overdueAt(pod('a'), 5), undefined);
    const deletionTimestamp = '2026-01-01T00:00:10Z';
    assert.equal(overdueAt(pod('a', {}, { deletionTimestamp }), 5), Date.UTC(2026, 0, 1, 0, 0, 16));
  });

  it('never takes a mirror pod, always a finished one', () => {
    const mirror = pod('mirror', {}, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    const done = pod('done', { status: { phase: 'Failed' }, ...emptyDir });
    assert.deepEqual(plan([mirror, done]), { taken: ['done'], warnings: '', errors: [] });
  });

  it('prints each reason once, with all its pods', () => {
    const pods = [pod('a'), pod('b'), pod('c', emptyDir, owned('ReplicaSet'))];
    assert.deepEqual(plan(pods).errors, [
      'cannot delete cannot delete Pods that declare no controller (use --force to override): default/a, default/b',
      'cannot delete Pods with local storage (use --delete-emptydir-data to override): default/c',
    ]);
    assert.deepEqual(plan(pods, { force: true, deleteEmptyDirData: true }), {
      taken: ['a', 'b', 'c'],
      warnings: 'deleting Pods that declare no controller: default/a, default/b',
      errors: [],
    });
  });
});

describe('evictions', () => {
  const resource = {
    group: '',
    version: 'v1',
    kind: 'Pod',
    plural: 'pods',
    namespaced: true,
    singular: 'pod',
    shortNames: [],
    categories: [],
    verbs: [],
    subresources: [],
  };
  const collection = { resource, namespace: '', labelSelector: undefined, fieldSelector: 'spec.nodeName=n' };

  /** A server that answers each eviction with the next of `answers`; evicted pods are removed. */
  function scene(
    answers: readonly (unknown | undefined)[],
    {
      timeoutMs,
      overdueSeconds,
      stays,
    }: { timeoutMs?: number; overdueSeconds?: number; stays?: JsonObject } = {},
  ) {
    const clock = new FakeClock();
    let text = '';
    let left = [pod('a')];
    const waiting = [...answers];
    const bodies: unknown[] = [];
    const cluster = {
      async get() {
        return { metadata: { resourceVersion: '1' }, items: left };
      },
      async send(_method: string, path: string, body: unknown) {
        bodies.push({ path, body });
        const error = waiting.shift();
        if (error) throw error;
        left = stays ? [stays] : [];
        return {};
      },
      async *watch(_path: string, { until }: { until: AbortSignal }) {
        await new Promise((resolve) => until.addEventListener('abort', resolve));
      },
    } as object as Cluster;
    const add = (more: string) => {
      text += more;
    };
    const io = { clock, out: add, err: add, signal: new AbortController().signal } as object as Io;
    const settings = {
      evict: true,
      gracePeriodSeconds: 3,
      timeoutMs,
      overdueSeconds,
      dryRun: 'none',
    } as const;
    const done = removePods(cluster, io, collection, left, settings);
    return { clock, done, bodies, text: () => text };
  }

  const budget = newStatusError(
    'TooManyRequests',
    "Cannot evict pod as it would violate the pod's disruption budget.",
  );

  it('are retried every five seconds while a disruption budget rejects them', async () => {
    const { clock, done, bodies, text } = scene([budget, budget, undefined]);
    await clock.settle();
    assert.equal(bodies.length, 1);
    await clock.advance(4999);
    assert.equal(bodies.length, 1);
    await clock.advance(1);
    assert.equal(bodies.length, 2);
    await clock.advance(5000);
    assert.deepEqual(await done, []);
    assert.deepEqual(bodies.at(-1), {
      path: '/api/v1/namespaces/default/pods/a/eviction',
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: 'a', namespace: 'default' },
        deleteOptions: { gracePeriodSeconds: 3, preconditions: { uid: 'uid-a' } },
      },
    });
    const refused = `error when evicting pods/"a" -n "default" (will retry after 5s): ${budget.message}\n`;
    const asked = 'evicting pod default/a\n';
    assert.equal(text(), `${asked}${refused}${asked}${refused}${asked}pod/a evicted\n`);
  });

  it('treat a pod as deleted when another pod has its name', async () => {
    for (const reason of ['Conflict', 'NotFound'] as const) {
      const { clock, done, text } = scene([newStatusError(reason, 'the UID in the precondition differs')]);
      await clock.settle();
      assert.deepEqual(await done, []);
      assert.equal(text(), 'evicting pod default/a\n');
    }
  });

  it('do not wait for a pod that has become overdue', async () => {
    const at = (ms: number) => new Date(ms).toISOString().replace(/\.\d+/, '');
    const started = new FakeClock().now();
    const stays = pod('a', {}, { deletionTimestamp: at(started + 10_000) });
    const { clock, done, text } = scene([undefined], { overdueSeconds: 5, stays });
    await clock.advance(15_999);
    assert.equal(text(), 'evicting pod default/a\n');
    await clock.advance(1);
    assert.deepEqual(await done, []);
    const skipped = 'pod "a" has DeletionTimestamp older than 5 seconds, skipping\n';
    assert.equal(text(), `evicting pod default/a\n${skipped}`);
  });

  it('notice a pod that was deleted before its eviction was answered', async () => {
    const clock = new FakeClock();
    const [a, b] = [pod('a'), pod('b')];
    const answerB = Promise.withResolvers<object>();
    const endOfA = Promise.withResolvers<void>();
    const cluster = {
      get: async () => ({ metadata: { resourceVersion: '1' }, items: [a] }),
      send: async (_method: string, path: string) => (path.includes('/b/') ? answerB.promise : {}),
      async *watch() {
        await endOfA.promise;
        yield { type: 'DELETED', object: a };
      },
    } as object as Cluster;
    let text = '';
    const out = (more: string) => {
      text += more;
    };
    const io = { clock, out, err: out, signal: new AbortController().signal } as object as Io;
    const settings = { evict: true, gracePeriodSeconds: 3, dryRun: 'none' } as const;
    const rest = { timeoutMs: undefined, overdueSeconds: undefined };
    const done = removePods(cluster, io, collection, [a, b], { ...settings, ...rest });
    await clock.settle();
    answerB.resolve({});
    await clock.settle();
    assert.match(text, /pod\/b evicted\n$/);
    endOfA.resolve();
    assert.deepEqual(await done, []);
  });

  it('end at the timeout while a pod still exists', async () => {
    const { clock, done } = scene([undefined], { timeoutMs: 7000, stays: pod('a') });
    await clock.advance(7000);
    assert.deepEqual(await done, [
      'error when waiting for pod "a" in namespace "default" to terminate: context deadline exceeded',
    ]);
  });

  it('end at the timeout while a budget rejects them', async () => {
    const { clock, done } = scene([budget, budget, budget], { timeoutMs: 7000 });
    await clock.advance(10_000);
    assert.deepEqual(await done, ['error when evicting pods/"a" -n "default": global timeout reached: 7s']);
  });

  it('ignore NotFound errors and report all others', async () => {
    assert.deepEqual(await scene([newNotFound({ group: '', plural: 'pods' }, 'a')]).done, []);
    const { done } = scene([newStatusError('Forbidden', 'no')]);
    assert.deepEqual(await done, ['error when evicting pods/"a" -n "default": no']);
  });
});

describe('the text about an eviction that is refused', () => {
  it('names the disruption budget that refuses it, from the cause of the answer', () => {
    const error = newStatusError('TooManyRequests', 'Cannot evict pod', {
      causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget web needs 2 healthy pods' }],
    });
    assert.equal(evictionRefusal(error), 'waits: The disruption budget web needs 2 healthy pods');
    assert.equal(evictionRefusal(new Error('no answer')), 'waits: no answer');
  });
});
