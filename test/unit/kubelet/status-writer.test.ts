import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podResource } from '../../../src/api/core/v1/pod.ts';
import type { PodStatus } from '../../../src/api/core/v1/types.gen.ts';
import { newConflict, newInternalError, newNotFound } from '../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { Client } from '../../../src/client/client.ts';
import { StatusWriter } from '../../../src/kubelet/status-writer.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { makePod } from './builders.ts';

interface Patch {
  readonly metadata: { readonly uid: string; readonly resourceVersion?: string };
  readonly status: Record<string, unknown>;
}

/** A server that keeps what it is sent, and fails first with what it is told to. */
function setUp(failures: Error[] = []) {
  const clock = new FakeClock();
  const patches: Patch[] = [];
  const answer = { promise: Promise.resolve() };
  const pods = {
    async patch(name: string, namespace: string, type: string, body: Patch, subresource: string) {
      const failure = failures.shift();
      if (failure) throw failure;
      assert.deepEqual([name, namespace, type, subresource], ['web', 'shop', 'merge', 'status']);
      patches.push(body);
      await answer.promise;
      return makePod({}, { resourceVersion: String(100 * patches.length) }, body.status);
    },
  };
  const client = { resource: () => pods } as unknown as Client;
  return { clock, patches, answer, writer: new StatusWriter(client, clock, silentLogger) };
}

const pending: PodStatus = { phase: 'Pending' };
const notReady: PodStatus = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };
const ready: PodStatus = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

describe('StatusWriter', () => {
  it('waits a moment with what is not urgent, and then writes the newest once', async () => {
    const { clock, patches, writer } = setUp();
    writer.set(makePod(), pending);
    writer.set(makePod(), { ...pending, hostIP: '192.0.2.1' });
    await clock.advance(249);
    assert.equal(patches.length, 0);
    await clock.advance(1);
    assert.deepEqual(patches, [
      { metadata: { uid: 'uid-1' }, status: { phase: 'Pending', hostIP: '192.0.2.1' } },
    ]);
  });

  it('writes a change of readiness at once, in place of what waited', async () => {
    const { clock, patches, writer } = setUp();
    writer.set(makePod(), pending);
    writer.set(makePod(), ready);
    await clock.settle();
    assert.equal(patches.length, 1);
    assert.equal(patches[0]?.status.phase, 'Running');
    await clock.advance(1000);
    assert.equal(patches.length, 1);
  });

  it('writes what changed, and null for what is no more', async () => {
    const { clock, patches, writer } = setUp();
    const before: PodStatus = { phase: 'Running', podIP: '10.0.0.1', hostIP: '192.0.2.1' };
    writer.set(makePod({}, {}, before), { phase: 'Failed', hostIP: '192.0.2.1' });
    await clock.settle();
    assert.deepEqual(patches[0]?.status, { phase: 'Failed', podIP: null });
  });

  it('writes nothing that the server has already', async () => {
    const { clock, patches, writer } = setUp();
    writer.set(makePod({}, {}, ready), structuredClone(ready));
    await clock.advance(10_000);
    assert.equal(patches.length, 0);
  });

  it('tries again later and later, always with the newest', async () => {
    const { clock, patches, writer } = setUp([newInternalError('1'), newInternalError('2')]);
    writer.set(makePod(), ready);
    await clock.advance(500);
    assert.equal(patches.length, 0);
    writer.set(makePod(), { ...ready, hostIP: '192.0.2.1' });
    await clock.advance(1000);
    assert.equal(patches.length, 1);
    assert.equal(patches[0]?.status.hostIP, '192.0.2.1');
    assert.equal(clock.pending, 0);
  });

  it('loses no condition that another sets at the same time, where readiness hangs on them', async () => {
    const gate = (type: string) => ({ type, status: 'True' as const });
    const own = { type: 'Ready', status: 'False' as const };
    const podAt = (resourceVersion: string, conditions: object[]) =>
      makePod(
        { readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] },
        { resourceVersion },
        { phase: 'Running', conditions },
      );
    let stored = podAt('7', [gate('a'), gate('b'), { ...own, status: 'True' }]);
    const pods = {
      get: async () => stored,
      async patch(_name: string, _namespace: string, _type: string, { metadata, status }: Patch) {
        if (metadata.resourceVersion !== stored.metadata.resourceVersion)
          throw newConflict(podResource, 'web', '');
        stored = podAt('8', (status as PodStatus).conditions ?? []);
        return stored;
      },
    };
    const clock = new FakeClock();
    const writer = new StatusWriter({ resource: () => pods } as unknown as Client, clock, silentLogger);
    const seen = podAt('5', [gate('a')]);
    writer.set(seen, { ...seen.status, conditions: [gate('a'), own] });
    await clock.advance(1000);
    assert.deepEqual(stored.status?.conditions, [gate('a'), gate('b'), own]);
  });

  it('lets a pod go that the server does not have', async () => {
    const { clock, patches, writer } = setUp([newNotFound({ group: '', plural: 'pods' }, 'web')]);
    writer.set(makePod(), ready);
    await clock.advance(60_000);
    assert.equal(patches.length, 0);
  });

  it('flushes what waits, and says when it cannot', async () => {
    const { patches, writer } = setUp([newInternalError('down')]);
    writer.set(makePod(), pending);
    await assert.rejects(writer.flush('uid-1'), /down/);
    await writer.flush('uid-1');
    assert.equal(patches.length, 1);
    await writer.flush('unknown');
  });

  it('writes what waits when it is closed', async () => {
    const { clock, patches, writer } = setUp();
    writer.set(makePod(), pending);
    await writer.close();
    assert.equal(patches.length, 1);
    assert.equal(clock.pending, 0);
  });

  it('writes again when another has taken the readiness back, and not for anything older or else', async () => {
    const { clock, patches, writer } = setUp();
    const seen = (version: string, status: object) =>
      writer.observe(makePod({}, { resourceVersion: version }, status));
    writer.set(makePod({}, { resourceVersion: '1' }), ready);
    await clock.settle();
    seen('99', notReady);
    writer.set(makePod(), structuredClone(ready));
    seen('101', { ...ready, message: 'of another' });
    writer.set(makePod(), structuredClone(ready));
    await clock.advance(1000);
    assert.equal(patches.length, 1);
    seen('102', notReady);
    writer.set(makePod(), structuredClone(ready));
    await clock.settle();
    assert.equal(patches.length, 2);
    assert.deepEqual(patches[1]?.status.conditions, ready.conditions);
  });

  it('writes again when that happened while a write was under way', async () => {
    const { clock, patches, answer, writer } = setUp();
    writer.set(makePod({}, { resourceVersion: '1' }), ready);
    await clock.settle();
    const late = Promise.withResolvers<void>();
    answer.promise = late.promise;
    writer.set(makePod(), { ...ready, phase: 'Failed' });
    await clock.settle();
    assert.equal(patches.length, 2);
    writer.observe(makePod({}, { resourceVersion: '201' }, notReady));
    late.resolve();
    await clock.settle();
    assert.equal(patches.length, 3);
    assert.deepEqual(patches[2]?.status, { phase: 'Failed', conditions: ready.conditions });
  });
});
