/** Next step for a volume, in the cases that the binder's tests do not cover. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planVolume, unbound } from '../../../../src/controllers/volumes/volume-plan.ts';
import { claim, referenceTo, volume } from './objects.ts';

type Over = NonNullable<Parameters<typeof volume>[1]>;
const provisioned = { annotations: { 'pv.kubernetes.io/provisioned-by': 'minik8s.io/local' } };
const released = (policy: 'Delete' | 'Recycle' | 'Retain', over: Over = {}) =>
  volume('v', {
    ...over,
    spec: { persistentVolumeReclaimPolicy: policy, claimRef: referenceTo('c'), ...over.spec },
    status: { phase: 'Released', ...over.status },
  });
const elsewhere = claim('c', { spec: { volumeName: 'w' } });
const none = { kind: 'none' };

describe('a volume whose claim is deleted', () => {
  it('becomes Released from any phase', () => {
    for (const phase of ['Bound', 'Available', 'Pending'])
      assert.deepEqual(planVolume(released('Retain', { status: { phase } }), undefined), {
        kind: 'phase',
        phase: 'Released',
      });
  });

  it('is unchanged if it is retained, if its provisioner deletes it, and if that has failed', () => {
    assert.deepEqual(planVolume(released('Retain'), undefined), none);
    assert.deepEqual(planVolume(released('Delete', { metadata: provisioned }), undefined), none);
    assert.deepEqual(planVolume(released('Delete', { status: { phase: 'Failed' } }), undefined), none);
    assert.deepEqual(planVolume(released('Recycle'), undefined), none, 'an agent empties it');
    const share = { hostPath: undefined, nfs: { server: 'files', path: '/v' } };
    assert.deepEqual(planVolume(released('Recycle', { spec: share }), undefined), none);
    const local = { hostPath: undefined, local: { path: '/v' } };
    assert.deepEqual(planVolume(released('Retain', { spec: local }), undefined), none);
  });

  it('fails if no provisioner can remove or empty it, with the reason', () => {
    const failed = (reason: string, message: string) => ({
      ...{ kind: 'phase', phase: 'Failed', message },
      event: { type: 'Warning', reason, message },
    });
    const nobody = 'error getting deleter volume plugin for volume "v": no deletable volume plugin matched';
    assert.deepEqual(planVolume(released('Delete'), undefined), failed('VolumeFailedDelete', nobody));
    const local = { hostPath: undefined, local: { path: '/v' } };
    assert.deepEqual(
      planVolume(released('Recycle', { spec: local }), undefined),
      failed('VolumeFailedRecycle', 'No recycler plugin found for the volume!'),
    );
  });
});

describe('a volume whose claim is bound to another one', () => {
  it('is deleted if it was provisioned for that claim; any other volume is available again', () => {
    const bound = { status: { phase: 'Bound' } };
    assert.deepEqual(planVolume(released('Delete', { ...bound, metadata: provisioned }), elsewhere), {
      kind: 'phase',
      phase: 'Released',
    });
    for (const one of [released('Retain', { ...bound, metadata: provisioned }), released('Delete', bound)])
      assert.equal(planVolume(one, elsewhere).kind, 'unbind');
  });

  it('keeps its spec, except for the claim', () => {
    const by = { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes', note: 'n' } };
    const freed = unbound(released('Retain', { metadata: by }));
    assert.deepEqual([freed.kind, freed.metadata.name], ['PersistentVolume', 'v']);
    assert.deepEqual(freed.metadata.annotations, { note: 'n' });
    assert.deepEqual([freed.spec.claimRef, freed.spec.capacity], [undefined, { storage: '1Gi' }]);
    const reserved = unbound(released('Retain'));
    assert.deepEqual([reserved.metadata.name, reserved.spec.claimRef], ['v', referenceTo('c', '')]);
    assert.deepEqual(reserved.spec.capacity, { storage: '1Gi' });
    assert.deepEqual(unbound(volume('v')).spec.claimRef, {});
  });
});

describe('a volume whose claim exists', () => {
  const half = claim('c');
  const own = (over: Over = {}) =>
    volume('v', { ...over, spec: { claimRef: referenceTo('c'), ...over.spec } });

  it('waits until the claim names it, too', () => {
    assert.deepEqual(planVolume(own(), half), none);
  });

  it('is Bound, which is written once', () => {
    const whole = claim('c', { spec: { volumeName: 'v' } });
    assert.deepEqual(planVolume(own(), whole), { kind: 'phase', phase: 'Bound' });
    assert.deepEqual(planVolume(own({ status: { phase: 'Bound' } }), whole), none);
    const said = own({ status: { phase: 'Bound', message: 'it failed before' } });
    assert.deepEqual(planVolume(said, whole), { kind: 'phase', phase: 'Bound' });
  });
});
