import assert from 'node:assert/strict';
import type { Deployment } from '../../../../../src/api/apps/v1/deployment.ts';
import type { ReplicaSet } from '../../../../../src/api/apps/v1/replica-set.ts';
import { deepCopy } from '../../../../../src/apimachinery/equality.ts';
import {
  type DeploymentPlan,
  planDeployment,
  revisionAnnotation,
} from '../../../../../src/controllers/workloads/deployments/deployment-plan.ts';
import { findNewReplicaSet } from '../../../../../src/controllers/workloads/deployments/deployment-template.ts';
import { meta, type pod, start } from '../../objects.ts';

/**
 * A world in which plans are carried out: the ReplicaSets and the Deployment as the server would store them.
 */
export class World {
  sets: ReplicaSet[] = [];
  messages: string[] = [];
  deployment: Deployment;
  now = start;

  constructor(initial: Deployment) {
    this.deployment = initial;
  }

  plan(pods = [] as ReturnType<typeof pod>[]): DeploymentPlan {
    return planDeployment(this.deployment, this.sets, pods, this.now);
  }

  /** Carries out one plan; returns false if there was nothing to do. */
  step(): boolean {
    const { actions, status, statusChanged } = this.plan();
    for (const action of actions) {
      switch (action.type) {
        case 'createReplicaSet':
          if (action.message) this.messages.push(action.message);
          this.sets.push({
            ...(deepCopy(action.draft) as ReplicaSet),
            metadata: { ...meta(action.draft.metadata.name ?? ''), ...action.draft.metadata, generation: 1 },
            status: { replicas: 0 },
          });
          break;
        case 'updateReplicaSet':
          if (action.message) this.messages.push(action.message);
          this.sets = this.sets.map((set) =>
            set.metadata.uid === action.set.metadata.uid ? action.set : set,
          );
          break;
        case 'deleteReplicaSet':
          this.sets = this.sets.filter((set) => set.metadata.uid !== action.set.metadata.uid);
          break;
        case 'setRevision':
          this.deployment = deepCopy(this.deployment);
          this.deployment.metadata.annotations = {
            ...this.deployment.metadata.annotations,
            [revisionAnnotation]: action.revision,
          };
      }
    }
    if (statusChanged) this.deployment = { ...this.deployment, status };
    return actions.length > 0 || statusChanged;
  }

  /** Makes every wanted pod exist and be available. */
  ready(): void {
    this.sets = this.sets.map((set) => withPods(set, set.spec.replicas, set.spec.replicas));
  }

  settle(): void {
    for (let round = 0; round < 200; round++) {
      const moved = this.step();
      this.ready();
      if (!moved && !this.step()) return;
    }
    assert.fail('the deployment does not come to rest');
  }

  edit(change: (deployment: Deployment) => void): void {
    this.deployment = deepCopy(this.deployment);
    change(this.deployment);
    this.deployment.metadata.generation = (this.deployment.metadata.generation ?? 0) + 1;
  }

  get newest(): ReplicaSet | undefined {
    return findNewReplicaSet(this.deployment, this.sets);
  }

  sizes(): number[] {
    return this.sets.map((set) => set.spec.replicas);
  }
}

export const withPods = (set: ReplicaSet, replicas: number, available: number): ReplicaSet => ({
  ...set,
  status: {
    ...set.status,
    replicas,
    readyReplicas: available,
    availableReplicas: available,
    observedGeneration: set.metadata.generation,
  },
});

export const image = (name: string) => (target: Deployment) => {
  const first = target.spec.template.spec.containers[0];
  if (first) first.image = name;
};
