/** A workload's rollout as a page shows it: its state, and its pods by revision. Pure. */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../../../../../apimachinery/fields.ts';
import { type Revision, revisionsAmong } from '../../../../../views/revisions.ts';
import { type RolloutState, rolloutState } from '../../../../../views/rollout-state.ts';
import { isPaused } from '../../../../../views/workload-changes.ts';
import { type Replicas, replicasOf } from '../../../../../why/workload-facts.ts';
import { type PodHealth, podHealth, podPhase } from '../../../pods/plan/pod-phase.ts';
import { grouped } from '../../../pods/plan/remembered.ts';

export interface PodTile {
  readonly name: string;
  readonly node: string;
  readonly phase: string;
  readonly health: PodHealth;
}

export interface RevisionView {
  readonly isPresent: boolean;
  readonly images: readonly string[];
  readonly pods: readonly PodTile[];
  readonly revision: Revision;
}

export interface RolloutView {
  readonly state: RolloutState;
  readonly isPaused: boolean;
  readonly replicas: Replicas;
  /** The newest first. */
  readonly revisions: readonly RevisionView[];
  /** Pods whose revision is unknown. */
  readonly others: readonly PodTile[];
}

/** Returns the objects of each owner, by its uid. */
export const byOwner = (objects: readonly JsonObject[]) => grouped(objects, ownersOf);

/**
 * Returns the view of a workload, which must have its `kind`. `items` are objects of the resource that keeps
 * its revisions; pods of other owners are left out.
 */
export function rolloutView(
  workload: JsonObject,
  items: readonly JsonObject[],
  pods: readonly JsonObject[],
): RolloutView {
  const revisions = revisionsAmong(workload, items);
  const owners = new Set([metadataOf(workload).uid, ...revisions.map(({ item }) => metadataOf(item).uid)]);
  const own = pods.filter((pod) => ownersOf(pod).some((uid) => owners.has(uid)));
  const byRevision = Map.groupBy(own, (pod) => revisions.find((one) => isPodOf(pod, one)));
  const views = revisions.map((revision) => ({
    isPresent: revision === revisions.at(-1),
    images: recordsAt(revision.template, 'spec', 'containers').map((one) => textAt(one, 'image')),
    pods: tilesOf(byRevision.get(revision) ?? []),
    revision,
  }));
  return {
    state: rolloutState(workload),
    isPaused: isPaused(workload),
    replicas: replicasOf(workload),
    revisions: views.toReversed(),
    others: tilesOf(byRevision.get(undefined) ?? []),
  };
}

const ownersOf = (pod: JsonObject): readonly string[] =>
  recordsAt(pod, 'metadata', 'ownerReferences').map((owner) => textAt(owner, 'uid'));

/** Returns whether a pod is of a revision: by its ReplicaSet, or by its label with the revision's name. */
function isPodOf(pod: JsonObject, { item }: Revision): boolean {
  const { name, uid } = metadataOf(item);
  if (ownersOf(pod).includes(uid)) return true;
  const hash = metadataOf(pod).labels['controller-revision-hash'];
  // The label has the name of the revision, for pods of a DaemonSet without the name of the set.
  return hash !== undefined && (name === hash || name.endsWith(`-${hash}`));
}

const tilesOf = (pods: readonly JsonObject[]): readonly PodTile[] =>
  pods
    .map((pod) => ({
      name: metadataOf(pod).name,
      node: textAt(pod, 'spec', 'nodeName'),
      phase: podPhase(pod),
      health: podHealth(pod),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
