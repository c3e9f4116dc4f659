/** Volumes that minik8s provisions itself: directories on nodes, and directories of an NFS share. Pure. */
import type { PersistentVolume, PersistentVolumeClaim } from '../types.gen.ts';
import { provisionedBy } from './binding.ts';

export const localProvisioner = 'minik8s.io/local';
export const nfsProvisioner = 'minik8s.io/nfs';

export const isOwnProvisioner = (name: string | undefined) =>
  name === localProvisioner || name === nfsProvisioner;

export const localNeedsNode = 'a StorageClass of local volumes needs volumeBindingMode: WaitForFirstConsumer';

/**
 * Returns the reason why no volume can be provisioned for the claim on any node; undefined if there is none,
 * or for another provisioner.
 */
export function provisionFault(
  { spec }: PersistentVolumeClaim,
  provisioner: string | undefined,
): string | undefined {
  if (!isOwnProvisioner(provisioner)) return undefined;
  if (spec.selector) return 'claim.spec.selector is not supported';
  if (spec.dataSource || spec.dataSourceRef) return 'claim.spec.dataSource is not supported';
  if (spec.volumeMode === 'Block') return 'volumeMode Block is not supported';
  const shared = (spec.accessModes ?? []).filter((mode) => mode.endsWith('Many'));
  if (provisioner !== localProvisioner || shared.length === 0) return undefined;
  return `access mode ${shared.join(', ')} is not supported: a local volume is on one node`;
}

/** Annotation of a Node: the directory in which its agent keeps local volumes. */
export const localVolumesAnnotation = 'minik8s.io/local-volumes';

/**
 * Returns the share whose directory was created for the volume and has its name; undefined for a volume that
 * is a whole share.
 */
export function folderOfShare({
  metadata,
  spec: { nfs },
}: PersistentVolume): { readonly server: string; readonly path: string } | undefined {
  const end = `/${metadata.name}`;
  if (metadata.annotations?.[provisionedBy] !== nfsProvisioner || !nfs?.path.endsWith(end)) return undefined;
  return { server: nfs.server, path: nfs.path.slice(0, -end.length) || '/' };
}
