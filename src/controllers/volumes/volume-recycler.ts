/**
 * Recycles volumes with reclaim policy Recycle: has them emptied after their claims are deleted, and makes
 * them available again (upstream uses pods for this). Keys are volumes.
 */
import { type Node, nodeResource } from '../../api/core/v1/node.ts';
import { persistentVolumeResource } from '../../api/core/v1/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/persistent-volume-claim.ts';
import { type Pod, podResource } from '../../api/core/v1/pod.ts';
import { isPodTerminal } from '../../api/core/v1/pod-conditions.ts';
import type { PersistentVolume } from '../../api/core/v1/types.gen.ts';
import { claimKeyOf } from '../../api/core/v1/volume-binding.ts';
import { isToBeEmptied } from '../../api/core/v1/volume-recycling.ts';
import { objectKey } from '../../apimachinery/meta.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { indexVolumes } from '../../controller-runtime/volume-index.ts';
import { assigned, withoutOutcome } from './chore-state.ts';
import { claimKeysOf, podsByClaim } from './pods-by-claim.ts';
import { planRecycle, type RecycleStep } from './recycle-plan.ts';

const toBeEmptied = 'volumes to be emptied';

export function volumeRecycler({ client, events, informers, log }: ControllerContext): ControllerDefinition {
  const volumeInformer = informers.informerFor(persistentVolumeResource);
  const podInformer = informers.informerFor(podResource);
  const [volumes, pods] = [volumeInformer.lister, podInformer.lister];
  const claims = informers.informerFor(persistentVolumeClaimResource).lister;
  const nodes = informers.informerFor(nodeResource).lister;
  const index = indexVolumes(volumeInformer);
  volumeInformer.addIndex(toBeEmptied, (volume) => (isToBeEmptied(volume) ? [''] : []));
  podInformer.addIndex(podsByClaim, claimKeysOf);
  const resource = client.resource(persistentVolumeResource);

  /**
   * Returns the pods that use the volume. Returns none if a new claim has the name, because the pods belong
   * to that claim.
   */
  function usersOf(volume: PersistentVolume): readonly string[] {
    const key = claimKeyOf(volume) ?? '';
    if (claims.get(key)) return [];
    return pods
      .byIndex(podsByClaim, key)
      .filter((pod) => !isPodTerminal(pod))
      .map(objectKey)
      .sort();
  }

  async function carryOut(volume: PersistentVolume, step: RecycleStep): Promise<void> {
    switch (step.kind) {
      case 'none':
        return;
      case 'wait':
        return events.event(volume, 'Normal', 'VolumeFailedRecycle', step.message);
      case 'assign':
        // The outcome of another node is removed first: if the process ends here, that node is assigned
        // again.
        await resource.update(assigned(await cleared(volume), step.node));
        return;
      case 'fail': {
        const { reason: _, ...status } = { ...volume.status, phase: 'Failed', message: step.message };
        await resource.updateStatus({ ...volume, status });
        events.event(volume, 'Warning', 'VolumeFailedRecycle', step.message);
        return;
      }
      case 'free':
        await resource.update(step.volume);
        log.info('a volume is empty, and free again', { volume: volume.metadata.name });
        events.event(volume, 'Normal', 'VolumeRecycled', 'Volume recycled');
    }
  }

  const cleared = async (volume: PersistentVolume) => {
    const next = withoutOutcome(volume);
    return next ? resource.updateStatus(next) : volume;
  };

  const waiting = () => volumes.byIndex(toBeEmptied, '').map(objectKey);
  const ofPod = (pod: Pod) => claimKeysOf(pod).flatMap((key) => index.ofClaim(key).filter(isToBeEmptied));

  return {
    name: 'volume-recycler',
    watches: [
      watched(persistentVolumeResource, (volume) => (isToBeEmptied(volume) ? [objectKey(volume)] : [])),
      watched(podResource, (pod) => ofPod(pod).map(objectKey)),
      watched(nodeResource, (_: Node) => waiting()),
    ],
    async reconcile(name) {
      const volume = volumes.get(name);
      if (!volume) return undefined;
      const step = planRecycle(volume, { nodes: nodes.list(), users: usersOf(volume) });
      await ifPresent(tolerate(carryOut(volume, step), isConflict));
      return undefined;
    },
  };
}
