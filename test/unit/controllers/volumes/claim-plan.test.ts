/** Next step for a claim, in the cases that the binder's tests do not cover. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClaimWorld, planClaim } from '../../../../src/controllers/volumes/claim-plan.ts';
import { claim, referenceTo, storageClass, volume } from './objects.ts';

const completed = { 'pv.kubernetes.io/bind-completed': 'yes' };
const plan = (one: ReturnType<typeof claim>, world: Partial<ClaimWorld> = {}) =>
  planClaim(one, { named: undefined, volumes: [], storageClass: undefined, waitingPods: [], ...world });
const late = storageClass('late', { volumeBindingMode: 'WaitForFirstConsumer' });
const ofLate = (annotations: Record<string, string> = {}) =>
  claim('c', { metadata: { annotations }, spec: { storageClassName: 'late' } });

describe('a claim that was bound', () => {
  it('is lost if its volume is unknown', () => {
    assert.deepEqual(plan(claim('c', { metadata: { annotations: completed } })), {
      kind: 'lost',
      event: {
        type: 'Warning',
        reason: 'ClaimLost',
        message: 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
      },
    });
  });

  for (const phase of ['Bound', 'Lost'])
    it(`in phase ${phase} gets its volume again if the volume is unbound, for any requests of the claim`, () => {
      const named = volume('v', { spec: { storageClassName: 'gold' } });
      const one = claim('c', {
        metadata: { annotations: completed },
        spec: { volumeName: 'v' },
        status: { phase },
      });
      assert.deepEqual(plan(one, { named }), { kind: 'bind', volume: named });
    });

  it('is misbound in any status if the volume belongs to another claim', () => {
    const named = volume('v', { spec: { claimRef: referenceTo('c', 'another') } });
    const one = claim('c', { metadata: { annotations: completed }, spec: { volumeName: 'v' } });
    const step = plan(one, { named });
    assert.equal(step.kind === 'lost' && step.event.reason, 'ClaimMisbound');
  });

  it('keeps its volume although its status does not name it', () => {
    const named = volume('v', { spec: { storageClassName: 'gold', claimRef: referenceTo('c') } });
    const one = claim('c', { metadata: { annotations: completed }, spec: { volumeName: 'v' } });
    assert.deepEqual(plan(one, { named }), { kind: 'bind', volume: named });
  });
});

describe('a claim that names its volume', () => {
  const naming = (annotations: Record<string, string> = {}) =>
    claim('c', { metadata: { annotations }, spec: { volumeName: 'v' } });

  it('gets the volume that is reserved for it', () => {
    const named = volume('v', { spec: { claimRef: referenceTo('c', '') } });
    assert.deepEqual(plan(naming(), { named }), { kind: 'bind', volume: named });
  });

  it('waits while the old content of the volume is removed', () => {
    const named = volume('v', {
      metadata: { labels: { 'minik8s.io/node': 'n1' } },
      spec: { persistentVolumeReclaimPolicy: 'Recycle' },
      status: { phase: 'Released' },
    });
    assert.deepEqual(plan(naming(), { named }), { kind: 'pending' });
  });

  it('gets the binding completed if this server had begun to bind it', () => {
    const named = volume('v', { spec: { claimRef: referenceTo('d') } });
    assert.deepEqual(plan(naming({ 'pv.kubernetes.io/bound-by-controller': 'yes' }), { named }), {
      kind: 'pending',
      event: {
        type: 'Warning',
        reason: 'FailedBinding',
        message: 'invalid binding of claim "default/c" to volume "v": volume already claimed by "default/d"',
      },
    });
  });
});

describe('a claim whose class waits for pods', () => {
  it('has an event with all pods that wait for it', () => {
    const step = plan(ofLate(), { storageClass: late, waitingPods: ['a', 'b'] });
    assert.deepEqual(step, {
      kind: 'pending',
      event: {
        type: 'Normal',
        reason: 'WaitForPodScheduled',
        message: 'waiting for pods a,b to be scheduled',
      },
    });
  });

  it('is provisioned once its node is chosen', () => {
    const chosen = ofLate({ 'volume.kubernetes.io/selected-node': 'n1' });
    const step = plan(chosen, { storageClass: late });
    assert.deepEqual(step.kind === 'provision' && step.provisioner, 'example.com/disks');
  });

  it('has an event if no provisioner serves its class', () => {
    const chosen = ofLate({ 'volume.kubernetes.io/selected-node': 'n1' });
    const none = storageClass('late', { provisioner: 'kubernetes.io/no-provisioner' });
    assert.deepEqual(plan(chosen, { storageClass: none }), {
      kind: 'pending',
      event: {
        type: 'Warning',
        reason: 'ProvisioningFailed',
        message: 'no volume plugin matched name: kubernetes.io/no-provisioner',
      },
    });
  });
});
