import { volumeSuitsNode } from '../../api/core/v1/node/selection.ts';
import { isOwnClaim } from '../../api/core/v1/pod/claims.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import { bindCompleted, boundVolume, rankVolumes, selectedNode } from '../../api/core/v1/volume/binding.ts';
import { className } from '../../api/core/v1/volume/columns.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/volume/persistent-volume-claim.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { changedNode } from '../cluster-events.ts';
import type { Cluster, Plugin, Rejection, Update } from '../framework.ts';
import type { NodeInfo } from '../node-info.ts';
import { podInfo } from '../pod-info.ts';
import { type Assignment, assignOn, type DelayedClaim, hopeless } from './delayed-claims.ts';

const name = 'VolumeBinding';

interface State {
  /** Bound volumes of the claims; undefined for a bound volume that does not exist. */
  readonly volumes: readonly (PersistentVolume | undefined)[];
  /** Claims that are bound after their pod has got a node. */
  readonly delayed: readonly DelayedClaim[];
}

/**
 * Restricts a pod to nodes where its volumes are available. Delayed claims get an existing or a newly
 * provisioned volume on the node before the pod is bound.
 */
export const volumeBinding: Plugin<State> = {
  name,
  preFilter: ({ pod, claims }, cluster) => {
    if (claims.length === 0) return 'skip';
    const looked = lookAt(pod, claims, cluster);
    return 'fault' in looked ? { refused: rejection(looked.fault) } : { state: looked };
  },

  filter(_pod, node, { volumes, delayed }) {
    if (volumes.includes(undefined))
      return [rejection('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)')];
    if (!volumes.every((volume) => volume && volumeSuitsNode(volume, node.node)))
      return [rejection('node(s) had volume node affinity conflict')];
    if (delayed.length === 0 || assignOn(node, delayed)) return [];
    const why = hopeless(delayed);
    const missing = "node(s) didn't find available persistent volumes to bind";
    return [rejection(why === undefined ? missing : `${missing} (${why})`)];
  },

  preBind({ pod, claims }, node, cluster) {
    if (claims.length === 0) return 'done';
    const looked = lookAt(pod, claims, cluster);
    if ('fault' in looked) return { refused: rejection(looked.fault) };
    const [why] = volumeBinding.filter?.(podInfo(pod), node, looked) ?? [];
    if (why) return { refused: why };
    if (looked.delayed.length === 0) {
      // The phase of the claim is written last, and the kubelet depends on it.
      const isBound = (one: string) => claimOf(pod, one, cluster)?.status?.phase === 'Bound';
      return claims.every(isBound) ? 'done' : { updates: [] };
    }
    return { updates: (assignOn(node, looked.delayed) ?? []).flatMap((one) => updateOf(one, node) ?? []) };
  },

  helps(event, { pod, claims }, cluster) {
    if (event.kind === 'storageChanged') return true;
    // A faulty claim is faulty on every node.
    const faulty = claims.some((name) => claimFault(claimOf(pod, name, cluster), name, pod, cluster));
    return !faulty && changedNode(event, 'labels') !== undefined;
  },
};

/** Returns the fault that excludes all nodes, or the volumes and claims that nodes are checked for. */
function lookAt(pod: Pod, claims: readonly string[], cluster: Cluster): State | { readonly fault: string } {
  const volumes: (PersistentVolume | undefined)[] = [];
  const delayed: DelayedClaim[] = [];
  for (const claimName of claims) {
    const claim = claimOf(pod, claimName, cluster);
    const fault = claimFault(claim, claimName, pod, cluster);
    if (fault) return { fault };
    const volume = claim && boundVolumeOf(claim);
    if (volume !== undefined) volumes.push(cluster.volumes.volume(volume));
    else if (claim)
      delayed.push({
        claim,
        storageClass: cluster.volumes.storageClass(className(claim)),
        volumes: rankVolumes(claim, cluster.volumes.volumesFor(claim)),
      });
  }
  return { volumes, delayed };
}

/** Returns the write that gives the claim its volume on the node, or undefined if only others have to act. */
function updateOf({ claim, ...one }: Assignment, { name: node }: NodeInfo): Update | undefined {
  if (one.volume) {
    const bound = one.isReserved ? undefined : boundVolume(one.volume, claim);
    return bound && { resource: persistentVolumeResource as ResourceRef, object: bound as KubeObject };
  }
  const { annotations } = claim.metadata;
  if (annotations?.[selectedNode] !== undefined) return undefined;
  const metadata = { ...claim.metadata, annotations: { ...annotations, [selectedNode]: node } };
  return {
    resource: persistentVolumeClaimResource as ResourceRef,
    object: { ...claim, metadata } as KubeObject,
  };
}

const claimOf = ({ metadata }: Pod, name: string, { volumes }: Cluster) =>
  volumes.claim(metadata.namespace ?? '', name);

const rejection = (text: string): Rejection => ({ plugin: name, text, unresolvable: true });

const boundVolumeOf = ({ metadata, spec, status }: PersistentVolumeClaim): string | undefined =>
  status?.phase === 'Bound' || metadata.annotations?.[bindCompleted]
    ? spec.volumeName || undefined
    : undefined;

function claimFault(
  claim: PersistentVolumeClaim | undefined,
  claimName: string,
  pod: Pod,
  { volumes }: Cluster,
): string | undefined {
  const text = `persistentvolumeclaim ${JSON.stringify(claimName)}`;
  if (!claim)
    return isEphemeral(pod, claimName)
      ? `waiting for ephemeral volume controller to create the ${text}`
      : `${text} not found`;
  if (claim.status?.phase === 'Lost')
    return `${text} bound to non-existent persistentvolume ${JSON.stringify(claim.spec.volumeName ?? '')}`;
  if (claim.metadata.deletionTimestamp) return `${text} is being deleted`;
  if (boundVolumeOf(claim) !== undefined) return undefined;
  if (isEphemeral(pod, claimName) && !isOwnClaim(pod, claim))
    return `PVC ${claim.metadata.namespace}/${claimName} was not created for pod ${claim.metadata.namespace}/${pod.metadata.name} (pod is not owner)`;
  return waitsForPod(claim, volumes) ? undefined : 'pod has unbound immediate PersistentVolumeClaims';
}

function waitsForPod(claim: PersistentVolumeClaim, volumes: Cluster['volumes']): boolean {
  const wanted = className(claim);
  return wanted !== '' && volumes.storageClass(wanted)?.volumeBindingMode === 'WaitForFirstConsumer';
}

const isEphemeral = ({ metadata, spec }: Pod, claimName: string) =>
  (spec.volumes ?? []).some((volume) => volume.ephemeral && `${metadata.name}-${volume.name}` === claimName);
