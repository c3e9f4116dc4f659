/** Plans which volume is created for a claim, and when it is deleted. Pure. */

import type { Node } from '../../api/core/v1/node/node.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import {
  claimReference,
  provisionedBy,
  selectedNode,
  storageProvisioner,
} from '../../api/core/v1/volume/binding.ts';
import { folderFinalizer, isOwn, removedReason, stuckReason } from '../../api/core/v1/volume/chores.ts';
import { className } from '../../api/core/v1/volume/columns.ts';
import {
  folderOfShare,
  isOwnProvisioner,
  localNeedsNode,
  localVolumesAnnotation,
  nfsProvisioner,
  provisionFault,
} from '../../api/core/v1/volume/local-volumes.ts';
import { shareFault } from '../../api/core/v1/volume/nfs-share.ts';
import { nodeLabel, nodeOf } from '../../api/core/v1/volume/recycling.ts';
import type { StorageClass } from '../../api/storage/v1/types.gen.ts';
import { type Draft, isTerminating, type ObjectMeta } from '../../apimachinery/meta.ts';
import { choreNode, nextNode } from './chore-node.ts';

export type ProvisionStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'create'; readonly volume: Draft<PersistentVolume> }
  /** The scheduler must choose another node. */
  | { readonly kind: 'chooseAgain'; readonly why: string }
  | { readonly kind: 'fail'; readonly why: string };

export interface ProvisionWorld {
  readonly storageClass: StorageClass | undefined;
  /** True if an existing volume might fit. */
  readonly hasOther: boolean;
  /** Node that was chosen for the claim, if it exists. */
  readonly node: Node | undefined;
}

export function planProvision(
  claim: PersistentVolumeClaim,
  { storageClass, hasOther, node }: ProvisionWorld,
): ProvisionStep {
  const { annotations = {}, deletionTimestamp } = claim.metadata;
  if (deletionTimestamp || claim.spec.volumeName || !storageClass) return { kind: 'none' };
  const { provisioner } = storageClass;
  const fault = provisionFault(claim, provisioner);
  // The claim does not reach a provisioner if the scheduler detects the fault too.
  if (fault !== undefined) return hasOther ? { kind: 'none' } : { kind: 'fail', why: fault };
  if (!isOwnProvisioner(provisioner) || annotations[storageProvisioner] !== provisioner)
    return { kind: 'none' };
  return provisioner === nfsProvisioner
    ? planShare(claim, storageClass)
    : planFolder(claim, storageClass, node);
}

const volumeName = ({ metadata }: PersistentVolumeClaim) => `pvc-${metadata.uid}`;

function draft(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  more: Partial<ObjectMeta>,
  spec: Partial<PersistentVolume['spec']>,
): ProvisionStep {
  const { provisioner, reclaimPolicy, mountOptions } = storageClass;
  const metadata = {
    name: volumeName(claim),
    ...more,
    annotations: { [provisionedBy]: provisioner },
  };
  const volume = {
    ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata },
    spec: {
      capacity: { storage: claim.spec.resources.requests?.storage ?? '0' },
      accessModes: claim.spec.accessModes,
      persistentVolumeReclaimPolicy:
        reclaimPolicy as PersistentVolume['spec']['persistentVolumeReclaimPolicy'],
      storageClassName: className(claim),
      volumeMode: claim.spec.volumeMode,
      claimRef: claimReference(claim),
      ...(mountOptions && { mountOptions }),
      ...spec,
    },
  };
  return { kind: 'create', volume };
}

function planFolder(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  node: Node | undefined,
): ProvisionStep {
  const chosen = claim.metadata.annotations?.[selectedNode];
  if (chosen === undefined) {
    if (storageClass.volumeBindingMode === 'WaitForFirstConsumer') return { kind: 'none' };
    return { kind: 'fail', why: `no node was chosen for it; ${localNeedsNode}` };
  }
  if (!node) return { kind: 'chooseAgain', why: `node ${JSON.stringify(chosen)} does not exist` };
  const folder = node.metadata.annotations?.[localVolumesAnnotation];
  if (!folder) {
    const why = `node ${JSON.stringify(chosen)} does not report where its local volumes are`;
    return { kind: 'fail', why };
  }
  const hostname = node.metadata.labels?.['kubernetes.io/hostname'] ?? chosen;
  const here = { key: 'kubernetes.io/hostname', operator: 'In' as const, values: [hostname] };
  return draft(
    claim,
    storageClass,
    { labels: { [nodeLabel]: chosen }, finalizers: [folderFinalizer] },
    {
      local: { path: `${folder}/${volumeName(claim)}` },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } },
    },
  );
}

/**
 * Plans a volume on a share: a folder that the kubelets create and remove. For a read-only share the volume
 * is the whole share, which all claims of the class use together.
 */
function planShare(claim: PersistentVolumeClaim, storageClass: StorageClass): ProvisionStep {
  const { server = '', path = '', readOnly } = storageClass.parameters ?? {};
  const why = shareFault(server, path);
  if (why !== undefined) return { kind: 'fail', why: `the StorageClass is wrong: ${why}` };
  if (readOnly === 'true') return draft(claim, storageClass, {}, { nfs: { server, path, readOnly: true } });
  const folder = `${path === '/' ? '' : path}/${volumeName(claim)}`;
  return draft(claim, storageClass, { finalizers: [folderFinalizer] }, { nfs: { server, path: folder } });
}

export type RemovalStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'delete' }
  /** Nothing blocks the deletion of the object: the finalizer is removed. */
  | { readonly kind: 'lift' }
  /** The kubelet of that node must remove the folder. */
  | { readonly kind: 'assign'; readonly node: string }
  /** No node can remove the folder now. */
  | { readonly kind: 'stuck'; readonly why: string };

export interface RemovalWorld {
  /** True if the node that the volume names exists. */
  readonly hasNode: boolean;
  readonly nodes: readonly Node[];
}

export function planRemoval(volume: PersistentVolume, { hasNode, nodes }: RemovalWorld): RemovalStep {
  if (!isOwn(volume)) return { kind: 'none' };
  const deletes = volume.spec.persistentVolumeReclaimPolicy === 'Delete';
  if (!isTerminating(volume)) return { kind: deletes && isDone(volume) ? 'delete' : 'none' };
  const { metadata, status } = volume;
  if (!metadata.finalizers?.includes(folderFinalizer) || status?.phase === 'Bound') return { kind: 'none' };
  return !deletes || status?.reason === removedReason
    ? { kind: 'lift' }
    : planFolderRemoval(volume, { hasNode, nodes });
}

function planFolderRemoval(volume: PersistentVolume, { hasNode, nodes }: RemovalWorld): RemovalStep {
  // The disk of a node is gone with the node; a share is not.
  return folderOfShare(volume) ? planFolderOfShare(volume, nodes) : { kind: hasNode ? 'none' : 'lift' };
}

const isDone = ({ status }: PersistentVolume) => status?.phase === 'Released' || status?.phase === 'Failed';

function planFolderOfShare(volume: PersistentVolume, nodes: readonly Node[]): RemovalStep {
  const { status } = volume;
  const found = choreNode(volume, nodes);
  if ('why' in found) return status?.message === found.why ? { kind: 'none' } : { kind: 'stuck', ...found };
  if (found.node !== nodeOf(volume)) return { kind: 'assign', node: found.node };
  const next = status?.reason === stuckReason ? nextNode(volume, nodes) : undefined;
  return next === undefined ? { kind: 'none' } : { kind: 'assign', node: next };
}
