/** Where a pod's volumes are on this machine and what a container sees of them. */
import type { Pod } from '../../api/core/v1/pod.ts';
import { amounts } from '../../api/core/v1/pod-requests.ts';
import type { Container, ProjectedVolumeSource, Volume, VolumeMount } from '../../api/core/v1/types.gen.ts';
import { parseQuantity, quantityValue } from '../../apimachinery/quantity.ts';
import type { Mount } from '../runtime/runtime.ts';
import type { PodEnd } from './actions.ts';
import { ContainerConfigError } from './container-config-error.ts';
import { expand } from './env.ts';
import { isSecret, projectionOf } from './projection.ts';
import { VolumeError } from './volume-error.ts';

export type VolumePlan =
  | { readonly type: 'directory'; readonly path: string }
  /** `sizeLimit`: a quantity, undefined for what the pod may have of memory. */
  | { readonly type: 'tmpfs'; readonly path: string; readonly sizeLimit: string | undefined }
  /** Files from the API; in memory where they are secrets. */
  | {
      readonly type: 'projected';
      readonly path: string;
      readonly source: ProjectedVolumeSource;
      readonly inMemory: boolean;
    }
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
  const source = projectionOf(volume);
  if (source) return { type: 'projected', path, source, inMemory: isSecret(source) };
  const { name, emptyDir, ...others } = volume;
  const unknown = Object.keys(others);
  if (unknown.length > 0) {
    throw new VolumeError(
      `volume "${name}": ${unknown.join(', ')} is not supported; use emptyDir, hostPath, projected, configMap, secret or downwardAPI`,
    );
  }
  const { medium, sizeLimit } = emptyDir ?? {};
  if (medium === 'Memory') return { type: 'tmpfs', path, sizeLimit };
  if (medium) {
    throw new VolumeError(
      `volume "${volume.name}": emptyDir.medium ${medium} is not supported; use Memory or none`,
    );
  }
  return { type: 'directory', path };
}

/**
 * How many bytes a volume in memory may hold: what the pod's containers may use together, and no more than its own
 * limit
 * (upstream: calculateEmptyDirMemorySize). A pod in which somebody has no limit may use what pods may have of the node.
 */
export function memoryVolumeBytes(pod: Pod, sizeLimit: string | undefined, allocatableBytes: number): number {
  const { containers } = pod.spec;
  const limits = containers.flatMap(({ resources }) => amounts(resources.limits).get('memory') || []);
  const together =
    limits.length < containers.length ? Infinity : limits.reduce((sum, limit) => sum + limit, 0);
  const own = sizeLimit === undefined ? Infinity : bytesOf(sizeLimit);
  return Math.min(allocatableBytes, together, own);
}

/** A limit of zero counts as no limit. */
const bytesOf = (sizeLimit: string) => quantityValue(parseQuantity(sizeLimit)) || Infinity;

export interface LimitedVolume {
  readonly name: string;
  readonly path: string;
  readonly sizeLimit: string;
  readonly limitBytes: number;
}

/** The pod's emptyDirs on disk that may not grow beyond a size. */
export function limitedVolumes(pod: Pod, podDirectory: string): readonly LimitedVolume[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const { sizeLimit, medium } = volume.emptyDir ?? {};
    if (sizeLimit === undefined || medium) return [];
    const limitBytes = bytesOf(sizeLimit);
    const { path } = volumePlan(volume, podDirectory);
    return Number.isFinite(limitBytes) ? [{ name: volume.name, path, sizeLimit, limitBytes }] : [];
  });
}

/** How a pod ends when a volume exceeds its sizeLimit. */
export const sizeLimitExceeded = (volume: string, sizeLimit: string): PodEnd => ({
  reason: 'Evicted',
  message: `Usage of EmptyDir volume "${volume}" exceeds the limit "${sizeLimit}". `,
  gracePeriodSeconds: 1,
  disruption: false,
});

/** A mount whose source is a part of a volume has yet to be found, and perhaps made. */
export interface PlannedMount extends Mount {
  readonly part?: {
    readonly volume: string;
    /** The files lie behind a link (atomic-files.ts). */
    readonly isProjected: boolean;
    readonly subPath: string;
    /** Which of the container's mounts it is. */
    readonly index: number;
  };
}

/**
 * The container's mounts; `env` is its environment. Throws VolumeError for a mount of a volume the pod does not have,
 * ContainerConfigError for a subPath that cannot be one.
 */
export function containerMounts(
  pod: Pod,
  container: Container,
  podDirectory: string,
  env: ReadonlyMap<string, string>,
): readonly PlannedMount[] {
  return (container.volumeMounts ?? []).map((mount, index) => {
    const { name, mountPath, readOnly = false } = mount;
    const volume = pod.spec.volumes?.find((candidate) => candidate.name === name);
    if (!volume)
      throw new VolumeError(
        `container ${container.name} mounts volume "${name}", but the pod has no volume of that name`,
      );
    const { path, type } = volumePlan(volume, podDirectory);
    const subPath = subPathOf(mount, env);
    // What comes from the API is not the container's to write.
    const whole = { source: path, target: mountPath, readOnly: readOnly || type === 'projected' };
    return subPath === ''
      ? whole
      : { ...whole, part: { volume: name, isProjected: type === 'projected', subPath, index } };
  });
}

/** '' for none (pkg/kubelet: makeMounts, ExpandContainerVolumeMounts). Throws ContainerConfigError. */
function subPathOf(
  { subPath = '', subPathExpr = '' }: VolumeMount,
  env: ReadonlyMap<string, string>,
): string {
  const missing = new Set<string>();
  const lookUp = (name: string) => {
    const value = env.get(name) ?? '';
    if (value === '') missing.add(name);
    return value;
  };
  const wanted = subPathExpr === '' ? subPath : expand(subPathExpr, lookUp);
  if (missing.size > 0)
    throw new ContainerConfigError(`missing value for ${[...missing].toSorted().join(', ')}`);
  if (wanted.startsWith('/'))
    throw new ContainerConfigError(`error SubPath \`${wanted}\` must not be an absolute path`);
  if (wanted.split('/').includes('..'))
    throw new ContainerConfigError(`unable to provision SubPath \`${wanted}\`: must not contain '..'`);
  return wanted;
}
