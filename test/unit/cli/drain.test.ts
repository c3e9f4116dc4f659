/** Which pods a drain takes, and what it does about evictions that are refused for now. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { newNotFound, newStatusError } from '../../../src/apimachinery/status-error.ts';
import type { Cluster } from '../../../src/cli/cluster.ts';
import { planDrain } from '../../../src/cli/drain-plan.ts';
import type { Io } from '../../../src/cli/io.ts';
import { removePods } from '../../../src/cli/pod-removal.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

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

  it('takes pods that a controller makes anew', () => {
    assert.deepEqual(plan([pod('a', {}, owned('ReplicaSet'))]), { taken: ['a'], warnings: '', errors: [] });
  });

  it('leaves pods of daemon sets, when it may', () => {
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

  it('takes pods whose daemon set is gone only by force', () => {
    const pods = [pod('a', {}, owned('DaemonSet'))];
    const gone = () => ({ missing: true, error: 'daemonsets.apps "owner" not found' });
    assert.deepEqual(plan(pods, { ignoreDaemonSets: true }, gone).errors, [
      'cannot delete daemonsets.apps "owner" not found: default/a',
    ]);
    assert.deepEqual(plan(pods, { force: true }, gone).taken, ['a']);
  });

  it('never takes a mirror pod, always a finished one', () => {
    const mirror = pod('mirror', {}, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    const done = pod('done', { status: { phase: 'Failed' }, ...emptyDir });
    assert.deepEqual(plan([mirror, done]), { taken: ['done'], warnings: '', errors: [] });
  });

  it('says of each reason once, with all pods it holds for', () => {
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

  /** A server that answers each eviction by the next of `answers`; pods are gone once evicted. */
  function scene(answers: readonly (unknown | undefined)[], timeoutMs?: number) {
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
        left = [];
        return {};
      },
      async *watch() {},
    } as object as Cluster;
    const add = (more: string) => {
      text += more;
    };
    const io = { clock, out: add, err: add, signal: new AbortController().signal } as object as Io;
    const settings = { evict: true, gracePeriodSeconds: 3, timeoutMs, dryRun: 'none' } as const;
    const done = removePods(cluster, io, collection, left, settings);
    return { clock, done, bodies, text: () => text };
  }

  const budget = newStatusError(
    'TooManyRequests',
    "Cannot evict pod as it would violate the pod's disruption budget.",
  );

  it('that a budget refuses are tried again every five seconds', async () => {
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

  it('end when the time is over', async () => {
    const { clock, done } = scene([budget, budget, budget], 7000);
    await clock.advance(10_000);
    assert.deepEqual(await done, ['error when evicting pods/"a" -n "default": global timeout reached: 7s']);
  });

  it('of a pod that is gone are no error; others are said', async () => {
    assert.deepEqual(await scene([newNotFound({ group: '', plural: 'pods' }, 'a')]).done, []);
    const { done } = scene([newStatusError('Forbidden', 'no')]);
    assert.deepEqual(await done, ['error when evicting pods/"a" -n "default": no']);
  });
});
