/**
 * Recycles volumes with reclaim policy Recycle: assigns a node to empty them after their claims are deleted,
 * and makes them available again (upstream uses pods for this). Keys are volumes.
 */

import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { isPodTerminal } from '../../api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import { claimKeyOf } from '../../api/core/v1/volume/binding.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/volume/persistent-volume-claim.ts';
import { isToBeEmptied } from '../../api/core/v1/volume/recycling.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { objectKey } from '../../apimachinery/meta.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import type { ResourceClient } from '../../client/client.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { indexVolumes, type VolumeIndex } from '../../controller-runtime/volume-index.ts';
import { assigned, withoutOutcome } from './chore-state.ts';
import { claimKeysOf, podsByClaim } from './pods-by-claim.ts';
import { planRecycle, type RecycleStep } from './recycle-plan.ts';

export const volumeRecyclerRights: AccountRights = {
  kubernetes: [
    ['get list watch update', 'core', 'persistentvolumes'],
    ['update', 'core', 'persistentvolumes/status'],
    [read, 'core', 'persistentvolumeclaims'],
    [read, 'core', 'pods'],
    ['list watch', 'core', 'nodes'],
    writeEvents,
  ],
};

const toBeEmptied = 'volumes to be emptied';

export const volumeRecycler = (context: ControllerContext): ControllerDefinition =>
  new VolumeRecycler(context).definition();

class VolumeRecycler {
  readonly #context: ControllerContext;
  readonly #volumes: Lister<PersistentVolume>;
  readonly #pods: Lister<Pod>;
  readonly #claims: Lister<PersistentVolumeClaim>;
  readonly #nodes: Lister<Node>;
  readonly #index: VolumeIndex;
  readonly #resource: ResourceClient<PersistentVolume>;

  constructor(context: ControllerContext) {
    const { informers, client } = context;
    this.#context = context;
    const volumeInformer = informers.informerFor(persistentVolumeResource);
    const podInformer = informers.informerFor(podResource);
    this.#volumes = volumeInformer.lister;
    this.#pods = podInformer.lister;
    this.#claims = informers.informerFor(persistentVolumeClaimResource).lister;
    this.#nodes = informers.informerFor(nodeResource).lister;
    this.#index = indexVolumes(volumeInformer);
    volumeInformer.addIndex(toBeEmptied, (volume) => (isToBeEmptied(volume) ? [''] : []));
    podInformer.addIndex(podsByClaim, claimKeysOf);
    this.#resource = client.resource(persistentVolumeResource);
  }

  definition(): ControllerDefinition {
    return {
      name: 'volume-recycler',
      watches: [
        watched(persistentVolumeResource, (volume) => (isToBeEmptied(volume) ? [objectKey(volume)] : [])),
        watched(podResource, (pod) => this.#ofPod(pod).map(objectKey)),
        watched(nodeResource, (_: Node) => this.#waiting()),
      ],
      reconcile: async (name) => {
        const volume = this.#volumes.get(name);
        if (!volume) return undefined;
        const step = planRecycle(volume, { nodes: this.#nodes.list(), users: this.#usersOf(volume) });
        await ifPresent(tolerate(this.#carryOut(volume, step), isConflict));
        return undefined;
      },
    };
  }

  /**
   * Returns the pods that use the volume. Returns none if a new claim has the name, because the pods belong
   * to that claim.
   */
  #usersOf(volume: PersistentVolume): readonly string[] {
    const key = claimKeyOf(volume) ?? '';
    if (this.#claims.get(key)) return [];
    return this.#pods
      .byIndex(podsByClaim, key)
      .filter((pod) => !isPodTerminal(pod))
      .map(objectKey)
      .sort();
  }

  async #carryOut(volume: PersistentVolume, step: RecycleStep): Promise<void> {
    const { events, log } = this.#context;
    switch (step.kind) {
      case 'none':
        return;
      case 'wait':
        return events.event(volume, 'Normal', 'VolumeFailedRecycle', step.message);
      case 'assign':
        // The outcome of another node is removed first: if the process ends here, that node is assigned
        // again.
        await this.#resource.update(assigned(await this.#cleared(volume), step.node));
        return;
      case 'fail': {
        const { reason: _, ...status } = { ...volume.status, phase: 'Failed', message: step.message };
        await this.#resource.updateStatus({ ...volume, status });
        events.event(volume, 'Warning', 'VolumeFailedRecycle', step.message);
        return;
      }
      case 'free':
        await this.#resource.update(step.volume);
        log.info('a volume is empty, and free again', { volume: volume.metadata.name });
        events.event(volume, 'Normal', 'VolumeRecycled', 'Volume recycled');
    }
  }

  async #cleared(volume: PersistentVolume) {
    const next = withoutOutcome(volume);
    return next ? this.#resource.updateStatus(next) : volume;
  }

  #waiting() {
    return this.#volumes.byIndex(toBeEmptied, '').map(objectKey);
  }

  #ofPod(pod: Pod) {
    return claimKeysOf(pod).flatMap((key) => this.#index.ofClaim(key).filter(isToBeEmptied));
  }
}
