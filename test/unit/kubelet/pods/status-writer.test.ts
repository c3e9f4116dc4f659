import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodStatus } from '../../../../src/api/core/v1/types.gen.ts';
import { newInternalError, newNotFound } from '../../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import type { Client } from '../../../../src/client/client.ts';
import { StatusWriter } from '../../../../src/kubelet/pods/status-writer.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { makePod } from '../builders.ts';

interface Patch {
  readonly metadata: { readonly uid: string; readonly resourceVersion?: string };
  readonly status: Record<string, unknown>;
}

/** A server that stores the statuses, and fails with these errors first. */
function setUp(failures: Error[] = []) {
  const clock = new FakeClock();
  const patches: Patch[] = [];
  const answer = { promise: Promise.resolve() };
  const pods = {
    async patch(name: string, namespace: string, type: string, body: Patch, subresource: string) {
      const failure = failures.shift();
      if (failure) throw failure;
      assert.deepEqual([name, namespace, type, subresource], ['web', 'shop', 'strategic', 'status']);
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
  it('delays an update that is not urgent, and then writes only the newest update', async () => {
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

  it('writes a change of readiness at once, instead of the delayed update', async () => {
    const { clock, patches, writer } = setUp();
    writer.set(makePod(), pending);
    writer.set(makePod(), ready);
    await clock.settle();
    assert.equal(patches.length, 1);
    assert.equal(patches[0]?.status.phase, 'Running');
    await clock.advance(1000);
    assert.equal(patches.length, 1);
  });

  it('writes changed fields, and null for removed ones', async () => {
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

  it('retries with growing delays, always with the newest status', async () => {
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

  it('writes only its own changed conditions, since others are set concurrently', async () => {
    const { clock, patches, writer } = setUp();
    const gate = { type: 'a', status: 'True' as const };
    const evicted = { type: 'DisruptionTarget', status: 'True' as const, reason: 'EvictionByEvictionAPI' };
    const initialized = { type: 'Initialized', status: 'True' as const };
    const before = [gate, initialized, { type: 'Ready', status: 'True' as const, message: 'm' }];
    const seen = makePod({}, {}, { phase: 'Running', conditions: before });
    const conditions = [gate, evicted, initialized, { type: 'Ready', status: 'False' as const }];
    writer.set(seen, { phase: 'Running', conditions });
    await clock.settle();
    const changed = { type: 'Ready', status: 'False', message: null };
    assert.deepEqual(patches[0]?.status, { conditions: [changed] });
    writer.set(seen, {
      phase: 'Running',
      conditions: [{ ...gate, status: 'False' }, ...conditions.slice(2)],
    });
    await clock.advance(1000);
    assert.equal(patches.length, 1, 'conditions of other clients are not written');
    const own = { type: 'DisruptionTarget', status: 'True' as const, reason: 'TerminationByKubelet' };
    writer.set(seen, { phase: 'Running', conditions: [own, ...conditions.slice(3)] });
    await clock.advance(1000);
    assert.deepEqual(patches[1]?.status, {
      conditions: [own, { type: 'Initialized', $patch: 'delete' }],
    });
  });

  it('replaces the addresses, since a merge would keep the old ones', async () => {
    const { clock, patches, writer } = setUp();
    writer.set(makePod({}, {}, { phase: 'Running', podIPs: [{ ip: '10.0.0.1' }] }), {
      phase: 'Running',
      podIPs: [{ ip: '10.0.0.2' }],
    });
    await clock.advance(1000);
    assert.deepEqual(patches[0]?.status, { podIPs: [{ $patch: 'replace' }, { ip: '10.0.0.2' }] });
  });

  it('drops a pod that the server does not have', async () => {
    const { clock, patches, writer } = setUp([newNotFound({ group: '', plural: 'pods' }, 'web')]);
    writer.set(makePod(), ready);
    await clock.advance(60_000);
    assert.equal(patches.length, 0);
  });

  it('writes the waiting status of a pod on request, and rejects if the write fails', async () => {
    const { patches, writer } = setUp([newInternalError('down')]);
    writer.set(makePod(), pending);
    await assert.rejects(writer.flush('uid-1'), /down/);
    await writer.flush('uid-1');
    assert.equal(patches.length, 1);
    await writer.flush('unknown');
  });

  it('writes waiting updates when it is closed', async () => {
    const { clock, patches, writer } = setUp();
    writer.set(makePod(), pending);
    await writer.close();
    assert.equal(patches.length, 1);
    assert.equal(clock.pending, 0);
  });

  it('writes again if another client has revoked the readiness, and not for an older or another change', async () => {
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

  it('writes again if another client revoked the readiness during a write', async () => {
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
