/**
 * Storage of a PersistentVolume, as this node prepares it: a path of this machine, or a share that is
 * mounted.
 */
import { lstat, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { volumeSuitsNode } from '../../../api/core/v1/node/selection.ts';
import type { LocalVolumeSource, PersistentVolume } from '../../../api/core/v1/types.gen.ts';
import { volumeModeOf } from '../../../api/core/v1/volume/binding.ts';
import { mountDevice } from '../mount-device.ts';
import { VolumeError } from '../plan/volume-error.ts';
import { prepareHostPath } from './host-path.ts';
import { ownGroup } from './own-group.ts';
import type { PodVolume, VolumePlace, VolumeTools } from './volume-kind.ts';

const placeAt = (path: string, readOnly = false): VolumePlace => ({ path, readOnly, isAtomic: false });

/** Returns the mount point, for this pod alone, of a source that must be mounted. */
const mountPlace = ({ mountsOf }: VolumeTools, { pod, volume }: PodVolume) =>
  join(mountsOf(pod.metadata.uid), volume.name);

/**
 * Volumes that are known to be block devices to be mounted; an entry lasts as long as the object is
 * referenced.
 */
const devices = new WeakSet<PersistentVolume>();

/** Returns where the volume is. Rejects with VolumeError for a source that is not supported. */
export async function placeOfSource(
  tools: VolumeTools,
  of: PodVolume,
  found: PersistentVolume,
): Promise<VolumePlace> {
  if (found.spec.local && (await isToBeMounted(found))) devices.add(found);
  return knownPlaceOfSource(tools, of, found);
}

/** Returns the same place from the facts that are already known, without reading the disk. */
function knownPlaceOfSource(tools: VolumeTools, of: PodVolume, found: PersistentVolume): VolumePlace {
  const { hostPath, local, nfs } = found.spec;
  if (hostPath) return placeAt(hostPath.path);
  if (local) return placeAt(devices.has(found) ? mountPlace(tools, of) : local.path);
  if (nfs) return placeAt(mountPlace(tools, of), nfs.readOnly);
  throw new VolumeError(
    `no volume plugin matched for persistentvolume ${JSON.stringify(found.metadata.name)}`,
  );
}

/** Returns the path whose size is reported; undefined for a path of the machine and for a block device. */
export function measuredPathOfSource(tools: VolumeTools, of: PodVolume, found: PersistentVolume) {
  if (found.spec.hostPath || volumeModeOf(found) === 'Block') return undefined;
  return knownPlaceOfSource(tools, of, found).path;
}

/** Returns true for a block device whose user requests a file system. */
async function isToBeMounted(found: PersistentVolume): Promise<boolean> {
  if (volumeModeOf(found) === 'Block') return false;
  return (await missing(stat(found.spec.local?.path ?? '')))?.isBlockDevice() ?? false;
}

/** Prepares the volume; has no effect where it is already prepared. */
export async function prepareSource(
  tools: VolumeTools,
  of: PodVolume,
  found: PersistentVolume,
): Promise<void> {
  const node = tools.node();
  if (node && !volumeSuitsNode(found, node))
    throw new VolumeError(`node affinity check failed for volume ${JSON.stringify(found.metadata.name)}`);
  const { hostPath, local, nfs } = found.spec;
  const { path } = await placeOfSource(tools, of, found);
  if (!isAbsolute(path)) throw new VolumeError(`path ${JSON.stringify(path)} is not absolute`);
  if (volumeModeOf(found) === 'Block') return requireDevice(path);
  if (hostPath) return prepareHostPath(path, hostPath.type ?? '');
  if (nfs) return tools.shares.mountVolume(found, path);
  if (!local) return;
  await prepareLocal(tools, found, local, path);
  await giveToGroup(tools, of, found, path);
}

async function prepareLocal(
  tools: VolumeTools,
  found: PersistentVolume,
  local: LocalVolumeSource,
  path: string,
): Promise<void> {
  const { mountOptions: options = [] } = found.spec;
  if (tools.localVolumes.isOwn(found)) await tools.localVolumes.make(found);
  if (path === local.path) await requireDirectory(path);
  else await mountDevice({ device: local.path, target: path, fsType: local.fsType, options }, tools.exec);
}

/** Gives the files of a volume that the pod may write, and that no other pod uses, to the pod's fsGroup. */
async function giveToGroup(tools: VolumeTools, of: PodVolume, found: PersistentVolume, path: string) {
  const { fsGroup, fsGroupChangePolicy } = of.pod.spec.securityContext;
  const isOwn = !of.place.readOnly && !tools.claims.isShared(found.metadata.name, of.pod.metadata.uid);
  if (fsGroup !== undefined && isOwn) await ownGroup(tools.exec, path, fsGroup, fsGroupChangePolicy);
}

async function requireDirectory(path: string): Promise<void> {
  const found = await missing(lstat(path));
  if (!found) throw new VolumeError(`path ${JSON.stringify(path)} does not exist`);
  if (!(await stat(path)).isDirectory())
    throw new VolumeError(`path ${JSON.stringify(path)} is not a directory`);
}

async function requireDevice(path: string): Promise<void> {
  const found = await missing(stat(path));
  if (!found?.isBlockDevice()) throw new VolumeError(`${JSON.stringify(path)} is not a block device`);
}

const missing = <T>(looked: Promise<T>): Promise<T | undefined> =>
  looked.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
