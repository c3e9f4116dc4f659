/** Rollouts as a page shows them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { recordAt } from '../../../../src/apimachinery/fields.ts';
import { rolloutView } from '../../../../src/dashboard/app/pages/rollouts/plan/rollout-view.ts';
import { condition, object, pod } from '../../why/why-objects.ts';

const ownedBy = (kind: string, name: string) => ({
  ownerReferences: [{ kind, name, uid: `uid-of-${kind}-${name}`, controller: true }],
});
const template = (image: string) => ({ spec: { containers: [{ name: 'main', image }] } });
const podOf = (kind: string, owner: string, name: string, more: JsonObject = {}) =>
  pod(name, { ...more, metadata: { ...ownedBy(kind, owner), ...recordAt(more, 'metadata') } });
const ready = { status: { phase: 'Running', conditions: [condition('Ready', 'True')] } };

describe('the rollout of a Deployment', () => {
  const replicaSet = (name: string, revision: string, image: string) =>
    object('ReplicaSet', name, {
      metadata: {
        ...ownedBy('Deployment', 'web'),
        annotations: { 'deployment.kubernetes.io/revision': revision },
      },
      spec: { template: template(image) },
    });
  const web = object('Deployment', 'web', {
    spec: { replicas: 2, paused: true },
    status: { replicas: 3, updatedReplicas: 1, availableReplicas: 2 },
  });
  const view = rolloutView(
    web,
    [
      replicaSet('web-1', '1', 'shop:1'),
      replicaSet('web-2', '2', 'shop:2'),
      replicaSet('web-9', '10', 'shop:3'),
    ],
    [
      podOf('ReplicaSet', 'web-9', 'web-9-a'),
      podOf('ReplicaSet', 'web-2', 'web-2-b', ready),
      podOf('ReplicaSet', 'web-2', 'web-2-a', {
        ...ready,
        metadata: { deletionTimestamp: '2026-01-02T00:00:00Z' },
      }),
      podOf('ReplicaSet', 'other', 'other-1', ready),
    ],
  );

  it('has the revisions, the newest first, with their images and pods', () => {
    assert.deepEqual(
      view.revisions.map(({ revision, isPresent, images, pods }) => ({
        ...{ number: Number(revision.number), isPresent, images },
        pods: pods.map(({ name, health }) => `${name} ${health}`),
      })),
      [
        { number: 10, isPresent: true, images: ['shop:3'], pods: ['web-9-a waiting'] },
        { number: 2, isPresent: false, images: ['shop:2'], pods: ['web-2-a ending', 'web-2-b good'] },
        { number: 1, isPresent: false, images: ['shop:1'], pods: [] },
      ],
    );
  });

  it('has the state in the words of ctl rollout status, and whether the rollout is paused', () => {
    assert.equal(view.state.outcome, 'waiting');
    assert.match(view.state.message, /1 out of 2 new replicas have been updated/);
    assert.equal(view.isPaused, true);
  });

  it('leaves out the pods of other workloads', () => {
    assert.deepEqual(view.others, []);
  });
});

describe('the rollout of a set', () => {
  const controllerRevision = (kind: string, name: string, revision: number, image: string) =>
    object('ControllerRevision', name, {
      ...{ metadata: ownedBy(kind, 'db'), revision },
      data: { spec: { template: template(image) } },
    });
  const labelled = (kind: string, hash: string, name: string) =>
    podOf(kind, 'db', name, { metadata: { labels: { 'controller-revision-hash': hash } } });

  it('finds the pods of a StatefulSet by the name of the revision', () => {
    const set = object('StatefulSet', 'db', { spec: { updateStrategy: { type: 'RollingUpdate' } } });
    const { revisions } = rolloutView(
      set,
      [
        controllerRevision('StatefulSet', 'db-a', 1, 'db:1'),
        controllerRevision('StatefulSet', 'db-b', 2, 'db:2'),
      ],
      [labelled('StatefulSet', 'db-a', 'db-0'), labelled('StatefulSet', 'db-b', 'db-1')],
    );
    assert.deepEqual(
      revisions.map(({ pods }) => pods.map(({ name }) => name)),
      [['db-1'], ['db-0']],
    );
  });

  it('finds the pods of a DaemonSet by the hash in the name of the revision', () => {
    const set = object('DaemonSet', 'db', { spec: { updateStrategy: { type: 'RollingUpdate' } } });
    const view = rolloutView(
      set,
      [controllerRevision('DaemonSet', 'db-7f', 1, 'db:1')],
      [labelled('DaemonSet', '7f', 'db-x'), labelled('DaemonSet', '99', 'db-y')],
    );
    assert.deepEqual(
      view.revisions[0]?.pods.map(({ name }) => name),
      ['db-x'],
    );
    assert.deepEqual(
      view.others.map(({ name }) => name),
      ['db-y'],
    );
  });
});
