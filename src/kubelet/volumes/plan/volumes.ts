/** Places of a pod's volumes on this machine, and the mounts that a container gets. */
import { ephemeralContainersOf } from '../../../api/core/v1/container/ephemeral-containers.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { amounts } from '../../../api/core/v1/pod/requests.ts';
import type { Container, Volume, VolumeMount } from '../../../api/core/v1/types.gen.ts';
import { parseQuantity, quantityValue } from '../../../apimachinery/quantity.ts';
import { ContainerConfigError } from '../../environment/plan/container-config-error.ts';
import { expand } from '../../environment/plan/expand.ts';
import type { ImageMount, Mount } from '../../runtime/container-config.ts';

/** Returns the path of a volume that belongs to the pod alone. */
export const ownPlace = (podDirectory: string, volume: string) => `${ownPlaces(podDirectory)}/${volume}`;

/** Returns the directory of the pod's own volumes; mounts of parts of volumes (subPath) are elsewhere. */
export const ownPlaces = (podDirectory: string) => `${podDirectory}/volumes`;

const containersOf = ({ spec }: Pod): readonly Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
  ...ephemeralContainersOf(spec),
];

/** Returns the names of the volumes that a container of the pod mounts as a file system. */
export const mountsOf = (pod: Pod): ReadonlySet<string> =>
  new Set(containersOf(pod).flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)));

/** Returns the names of the volumes that a container of the pod uses as a device. */
export const devicesOf = (pod: Pod): ReadonlySet<string> =>
  new Set(containersOf(pod).flatMap(({ volumeDevices = [] }) => volumeDevices.map(({ name }) => name)));

/** Returns the names of the volumes that a container of the pod uses: no other is made, as upstream. */
export const mountedVolumes = (pod: Pod): ReadonlySet<string> => mountsOf(pod).union(devicesOf(pod));

/**
 * Returns the maximum bytes of a volume in memory: the sum of the containers' memory limits, and at most the
 * volume's own sizeLimit and the node's allocatable memory (upstream: calculateEmptyDirMemorySize). The sum
 * does not count when a container of the pod has no limit.
 */
export function memoryVolumeBytes(pod: Pod, sizeLimit: string | undefined, allocatableBytes: number): number {
  const { containers } = pod.spec;
  const limits = containers.flatMap(({ resources }) => amounts(resources.limits).get('memory') || []);
  const together =
    limits.length < containers.length ? Infinity : limits.reduce((sum, limit) => sum + limit, 0);
  const own = sizeLimit === undefined ? Infinity : bytesOf(sizeLimit);
  return Math.min(allocatableBytes, together, own);
}

/** Returns the limit in bytes. A limit of zero counts as no limit. */
const bytesOf = (sizeLimit: string) => quantityValue(parseQuantity(sizeLimit)) || Infinity;

export interface LimitedVolume {
  readonly name: string;
  readonly path: string;
  readonly sizeLimit: string;
  readonly limitBytes: number;
}

/** Returns the pod's emptyDirs on disk that have a size limit. */
export function limitedVolumes(pod: Pod, podDirectory: string): readonly LimitedVolume[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const { sizeLimit, medium } = volume.emptyDir ?? {};
    if (sizeLimit === undefined || medium) return [];
    const limitBytes = bytesOf(sizeLimit);
    const path = ownPlace(podDirectory, volume.name);
    return Number.isFinite(limitBytes) ? [{ name: volume.name, path, sizeLimit, limitBytes }] : [];
  });
}

/**
 * A mount; with `part`, its source is a part of a volume that must still be found, and created where it is
 * missing.
 */
export interface PlannedMount extends Mount {
  readonly part?: {
    readonly volume: string;
    /** True when the files are behind a symbolic link (atomic-files.ts). */
    readonly isAtomic: boolean;
    readonly subPath: string;
    /** Index among the container's mounts. */
    readonly index: number;
  };
}

/** Returns where a volume is on this machine, as its kind determines it. */
export type PlaceOf = (volume: Volume) => {
  readonly path: string;
  readonly readOnly: boolean;
  readonly isAtomic: boolean;
};

/**
 * Returns the container's mounts except mounts of images; `env` is its environment. Throws
 * ContainerConfigError for a mount of a volume that the pod does not have, and for an invalid subPath.
 */
export function containerMounts(
  pod: Pod,
  container: Container,
  placeOf: PlaceOf,
  env: ReadonlyMap<string, string>,
): readonly PlannedMount[] {
  const volumes = new Map((pod.spec.volumes ?? []).map((volume) => [volume.name, volume]));
  return (container.volumeMounts ?? []).flatMap((mount, index) => {
    const { name, mountPath, readOnly = false } = mount;
    const volume = volumes.get(name);
    if (!volume)
      throw new ContainerConfigError(
        `container ${container.name} mounts volume "${name}", but the pod has no volume of that name`,
      );
    if (volume.image) return [];
    const place = placeOf(volume);
    const subPath = subPathOf(mount, env);
    const whole: PlannedMount = {
      source: place.path,
      // The API also accepts the path without the leading slash.
      target: mountPath.startsWith('/') ? mountPath : `/${mountPath}`,
      readOnly: readOnly || place.readOnly,
      ...othersOf(mount),
    };
    return subPath === ''
      ? whole
      : { ...whole, part: { volume: name, isAtomic: place.isAtomic, subPath, index } };
  });
}

/**
 * Returns the container's mounts of images; `images` has the images by the name of their volume. Throws
 * ContainerConfigError as `containerMounts`.
 */
export function containerImageMounts(
  { volumeMounts = [] }: Pick<Container, 'volumeMounts'>,
  images: ReadonlyMap<string, { readonly id: string }>,
  env: ReadonlyMap<string, string>,
): readonly ImageMount[] {
  return volumeMounts.flatMap((mount) => {
    const image = images.get(mount.name);
    return image ? [{ imageId: image.id, target: mount.mountPath, subPath: subPathOf(mount, env) }] : [];
  });
}

const othersOf = ({ mountPropagation, recursiveReadOnly }: VolumeMount): Partial<PlannedMount> => ({
  ...(mountPropagation && mountPropagation !== 'None' && { propagation: mountPropagation }),
  ...((recursiveReadOnly === 'Enabled' || recursiveReadOnly === 'IfPossible') && { recursiveReadOnly }),
});

/**
 * Returns the subPath; '' for none (pkg/kubelet: makeMounts, ExpandContainerVolumeMounts). Throws
 * ContainerConfigError.
 */
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
