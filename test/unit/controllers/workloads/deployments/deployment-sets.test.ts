/** ReplicaSets of a Deployment: their annotations, their order, and the removal of old ones. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Deployment } from '../../../../../src/api/apps/v1/deployment.ts';
import type { ReplicaSet } from '../../../../../src/api/apps/v1/replica-set.ts';
import { deepCopy } from '../../../../../src/apimachinery/equality.ts';
import {
  type DeploymentAction,
  planDeployment,
} from '../../../../../src/controllers/workloads/deployments/deployment-plan.ts';
import { container, deployment, ownedBy, pod, replicaSet, start } from '../../objects.ts';

const revision = 'deployment.kubernetes.io/revision';
const history = 'deployment.kubernetes.io/revision-history';
const desired = 'deployment.kubernetes.io/desired-replicas';
const most = 'deployment.kubernetes.io/max-replicas';

const actionsOf = (
  one: Deployment,
  sets: readonly ReplicaSet[] = [],
  pods: Parameters<typeof planDeployment>[2] = [],
) => planDeployment(one, sets, pods, start).actions;
const only = (actions: readonly DeploymentAction[]): DeploymentAction => {
  assert.equal(actions.length, 1);
  const [action] = actions;
  assert.ok(action);
  return action;
};

/**
 * Deployment whose pods all exist, with these annotations, and with all fields that its ReplicaSet copies.
 */
function settled(
  replicas: number,
  own: Record<string, string> = {},
  theirs: Record<string, string> = {},
): { one: Deployment; set: ReplicaSet } {
  const one = deployment(replicas, { minReadySeconds: 5 });
  one.metadata.annotations = { [revision]: '3', ...own };
  const made = actionsOf(one)[0];
  assert.ok(made?.type === 'createReplicaSet');
  const set = {
    ...(made.draft as ReplicaSet),
    metadata: {
      ...replicaSet(made.draft.metadata.name ?? '', replicas).metadata,
      ...made.draft.metadata,
      annotations: { ...made.draft.metadata.annotations, [revision]: '3', ...theirs },
    },
    status: { replicas, readyReplicas: replicas, availableReplicas: replicas, observedGeneration: 1 },
  };
  return { one, set };
}

/** ReplicaSet of another template. */
function ofOther(set: ReplicaSet): ReplicaSet {
  const template = {
    ...set.spec.template,
    spec: { ...set.spec.template.spec, containers: [container({ image: 'app:0' })] },
  };
  return { ...set, spec: { ...set.spec, template } };
}

/** Old ReplicaSet without pods. */
const oldSet = (name: string, of: string, over: Partial<ReplicaSet> = {}) => {
  const set = ofOther(replicaSet(name, 0, { status: { replicas: 0, observedGeneration: 1 }, ...over }));
  return { ...set, metadata: { ...set.metadata, annotations: { [revision]: of } } };
};

describe('a new ReplicaSet', () => {
  it('has the template, its labels, and the annotations of the Deployment', () => {
    const one = deployment(4, { minReadySeconds: 5 });
    one.metadata.annotations = {
      note: 'kept',
      [revision]: '9',
      [history]: '1,2',
      [desired]: '77',
      [most]: '78',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      'deprecated.deployment.rollback.to': '1',
    };
    one.spec.selector.matchExpressions = [{ key: 'app', operator: 'Exists' }];
    one.spec.template.metadata = { ...one.spec.template.metadata, annotations: { pod: 'yes' } };
    const [made, noted] = actionsOf(one, [oldSet('old', '4')]);
    assert.ok(made?.type === 'createReplicaSet');
    const { draft, message } = made;
    const hash = draft.metadata.labels?.['pod-template-hash'] ?? '';
    const labels = { app: 'web', 'pod-template-hash': hash };
    assert.match(hash, /^[a-z0-9]+$/);
    assert.deepEqual(draft, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `web-${hash}`,
        namespace: 'default',
        labels,
        annotations: { note: 'kept', [revision]: '5', [desired]: '4', [most]: '5' },
      },
      spec: {
        replicas: 4,
        minReadySeconds: 5,
        selector: { matchLabels: labels, matchExpressions: [{ key: 'app', operator: 'Exists' }] },
        template: deepCopy({ ...one.spec.template, metadata: { ...one.spec.template.metadata, labels } }),
      },
    });
    assert.equal(message, `Scaled up replica set web-${hash} from 0 to 4`);
    assert.deepEqual(noted, { type: 'setRevision', revision: '5' });
    one.metadata.annotations[revision] = '5';
    assert.deepEqual(
      actionsOf(one, [oldSet('old', '4')]).map(({ type }) => type),
      ['createReplicaSet'],
    );
  });

  it('has another name after a collision', () => {
    const nameAfter = (collisionCount?: number) => {
      const one = deployment(1);
      const made = actionsOf({ ...one, status: { ...one.status, collisionCount } })[0];
      assert.ok(made?.type === 'createReplicaSet');
      return made.draft.metadata.name;
    };
    assert.equal(nameAfter(), nameAfter(0));
    assert.notEqual(nameAfter(1), nameAfter(0));
  });
});

describe('the newest ReplicaSet', () => {
  it('is not written when nothing differs', () => {
    const { one, set } = settled(2);
    assert.deepEqual(actionsOf(one, [set]), []);
  });

  it('takes over annotations and minReadySeconds', () => {
    const { one, set } = settled(2);
    one.metadata.annotations = { ...one.metadata.annotations, note: 'new' };
    one.spec.minReadySeconds = 9;
    const action = only(actionsOf(one, [set]));
    assert.ok(action.type === 'updateReplicaSet');
    assert.equal(action.set.metadata.annotations?.note, 'new');
    assert.equal(action.set.spec.minReadySeconds, 9);
    assert.equal(action.message, undefined);
  });

  it('of a rollback gets the highest revision, and keeps its former ones in an annotation', () => {
    const { one, set } = settled(2, {}, { [revision]: '1' });
    const [update, noted] = actionsOf(one, [set, oldSet('old', '3')]);
    assert.ok(update?.type === 'updateReplicaSet');
    assert.deepEqual(
      [update.set.metadata.annotations?.[revision], update.set.metadata.annotations?.[history]],
      ['4', '1'],
    );
    assert.deepEqual(noted, { type: 'setRevision', revision: '4' });
    const again = settled(2, {}, { [revision]: '4', [history]: '1' });
    const [second] = actionsOf(again.one, [again.set, oldSet('old', '6')]);
    assert.ok(second?.type === 'updateReplicaSet');
    assert.equal(second.set.metadata.annotations?.[history], '1,4');
  });

  it('without a revision gets one, and no empty history', () => {
    const { one, set } = settled(2, {}, { [revision]: '' });
    const [update] = actionsOf(one, [set]);
    assert.ok(update?.type === 'updateReplicaSet');
    assert.equal(update.set.metadata.annotations?.[revision], '1');
    assert.ok(!(history in (update.set.metadata.annotations ?? {})));
  });

  it('is scaled with a message and its desired size, in one update', () => {
    for (const [replicas, way] of [
      [5, 'up'],
      [1, 'down'],
    ] as const) {
      const { one, set } = settled(2);
      one.spec.replicas = replicas;
      const action = only(actionsOf(one, [set]));
      assert.ok(action.type === 'updateReplicaSet');
      assert.equal(action.set.spec.replicas, replicas);
      assert.equal(action.message, `Scaled ${way} replica set ${set.metadata.name} from 2 to ${replicas}`);
      assert.equal(action.set.metadata.annotations?.[desired], String(replicas));
    }
  });
});

describe('Recreate', () => {
  const recreating = deployment(2, { strategy: { type: 'Recreate' } });
  const running = ofOther(replicaSet('old', 2, { status: { replicas: 2, observedGeneration: 1 } }));
  const empty = oldSet('old', '1');
  const podOf = (name: string, phase: 'Running' | 'Failed' = 'Running') =>
    pod('p', { phase, metadata: { ownerReferences: [ownedBy('ReplicaSet', name)] } });

  it('first deletes all old pods', () => {
    const actions = actionsOf(recreating, [running, oldSet('older', '1')]);
    assert.deepEqual(
      actions.map((action) => [
        action.type,
        'set' in action && action.set.metadata.name,
        'set' in action && action.set.spec.replicas,
      ]),
      [['updateReplicaSet', 'old', 0]],
    );
  });

  it('waits only for the last old pod', () => {
    const typesWith = (...pods: ReturnType<typeof podOf>[]) =>
      actionsOf(recreating, [empty], pods).map(({ type }) => type);
    assert.deepEqual(typesWith(podOf('old')), []);
    assert.deepEqual(typesWith(podOf('other'), podOf('old')), []);
    assert.deepEqual(typesWith(podOf('old', 'Failed')), ['createReplicaSet', 'setRevision']);
    assert.deepEqual(typesWith(podOf('other')), ['createReplicaSet', 'setRevision']);
    assert.deepEqual(typesWith(pod('alone')), ['createReplicaSet', 'setRevision']);
  });
});

describe('ReplicaSets beyond the history limit', () => {
  function forgotten(limit: number, old: readonly ReplicaSet[], paused = false): string[] {
    const { one, set } = settled(2, { [revision]: '30' }, { [revision]: '30' });
    one.spec.revisionHistoryLimit = limit;
    one.spec.paused = paused;
    one.status = planDeployment(one, [set, ...old], [], start).status;
    return actionsOf(one, [set, ...old]).map((action) => {
      assert.ok(action.type === 'deleteReplicaSet');
      return action.set.metadata.name;
    });
  }
  const sets = [oldSet('ten', '10'), oldSet('nine', '9'), oldSet('eight', '8')];

  it('are deleted, the lowest revision first', () => {
    assert.deepEqual(forgotten(1, sets), ['eight', 'nine']);
    assert.deepEqual(forgotten(3, sets), []);
    assert.deepEqual(forgotten(0, sets), ['eight', 'nine', 'ten']);
  });

  it('are kept if they have pods, an unobserved generation, or a deletion timestamp', () => {
    const behind = oldSet('eight', '8', { status: { replicas: 0, observedGeneration: 0 } });
    const leftover = oldSet('nine', '9', { status: { replicas: 1, observedGeneration: 1 } });
    assert.deepEqual(forgotten(0, [behind, oldSet('ten', '10')]), ['ten']);
    // A Deployment with pods of an old ReplicaSet is at rest only while it is paused.
    assert.deepEqual(forgotten(0, [leftover, oldSet('ten', '10')], true), ['ten']);
    const unseen = oldSet('eight', '8', { status: undefined });
    assert.deepEqual(forgotten(0, [unseen]), []);
    const [, , eight] = sets;
    assert.ok(eight);
    const going = { ...eight, metadata: { ...eight.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    assert.deepEqual(forgotten(1, [oldSet('ten', '10'), oldSet('nine', '9'), going]), ['nine']);
  });
});
