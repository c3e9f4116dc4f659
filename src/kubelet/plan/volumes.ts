/** Where a pod's volumes are on this machine and what a container sees of them. */
import type { Pod } from '../../api/core/v1/pod.ts';
import type { Container, Volume } from '../../api/core/v1/pod-spec.ts';
import type { Mount } from '../runtime/runtime.ts';

/** What a pod needs before its containers can start is not there; the message names the volume. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError';
}

export type VolumePlan =
  | { readonly type: 'directory'; readonly path: string }
  /** `sizeLimit`: a quantity, undefined for none. */
  | { readonly type: 'tmpfs'; readonly path: string; readonly sizeLimit: string | undefined }
  | { readonly type: 'hostPath'; readonly path: string; readonly check: HostPathType };

export type HostPathType =
  | ''
  | 'DirectoryOrCreate'
  | 'Directory'
  | 'FileOrCreate'
  | 'File'
  | 'Socket'
  | 'CharDevice'
  | 'BlockDevice';

const hostPathTypes: readonly HostPathType[] = [
  '',
  'DirectoryOrCreate',
  'Directory',
  'FileOrCreate',
  'File',
  'Socket',
  'CharDevice',
  'BlockDevice',
];

/** What must be made or checked on the machine; throws VolumeError for a source that is not supported. */
export function volumePlan(volume: Volume, podDirectory: string): VolumePlan {
  const path = `${podDirectory}/volumes/${volume.name}`;
  if (volume.hostPath) {
    const { type } = volume.hostPath;
    const check = hostPathTypes.find((known) => known === type);
    if (check === undefined)
      throw new VolumeError(`volume "${volume.name}": hostPath.type ${type} is unknown`);
    return { type: 'hostPath', path: volume.hostPath.path, check };
  }
  const others = Object.keys(volume).filter(
    (key) => key !== 'name' && key !== 'emptyDir' && key !== 'hostPath',
  );
  if (!volume.emptyDir && others.length > 0) {
    throw new VolumeError(
      `volume "${volume.name}": ${others.join(', ')} is not supported; use emptyDir or hostPath`,
    );
  }
  const { medium, sizeLimit } = volume.emptyDir ?? {};
  if (medium === 'Memory') return { type: 'tmpfs', path, sizeLimit };
  return { type: 'directory', path };
}

/** The container's mounts; throws VolumeError for a mount of a volume the pod does not have. */
export function containerMounts(pod: Pod, container: Container, podDirectory: string): readonly Mount[] {
  return (container.volumeMounts ?? []).map(({ name, mountPath, readOnly = false, subPath = '' }) => {
    const volume = pod.spec.volumes?.find((candidate) => candidate.name === name);
    if (!volume)
      throw new VolumeError(`container ${container.name} mounts volume "${name}", which the pod has not`);
    if (subPath.startsWith('/') || subPath.split('/').includes('..')) {
      throw new VolumeError(`container ${container.name}: subPath ${subPath} leads out of volume "${name}"`);
    }
    const { path } = volumePlan(volume, podDirectory);
    return { source: subPath === '' ? path : `${path}/${subPath}`, target: mountPath, readOnly };
  });
}
