/** Fields of a container's status beside its state: its user and its mounts. */
import type { Container, ContainerStatus } from '../../../api/core/v1/types.gen.ts';
import type { ContainerState } from '../../runtime/runtime.ts';

/** Returns the details of a container that is gone, as they were reported at its end. */
export function endOf(
  previous: ContainerStatus | undefined,
): Pick<ContainerStatus, 'resources' | 'allocatedResources' | 'user'> {
  if (!previous?.state?.terminated) return {};
  const { resources, allocatedResources, user } = previous;
  return {
    ...(resources && { resources }),
    ...(allocatedResources && { allocatedResources }),
    ...(user && { user }),
  };
}

/**
 * Returns the container's user. The engine reports it only while the container runs, so it is later taken
 * from the previous status.
 */
export function userOf(
  { id, user }: ContainerState,
  previous: ContainerStatus | undefined,
): Pick<ContainerStatus, 'user'> {
  if (user) return { user: { linux: { ...user, supplementalGroups: [...user.supplementalGroups] } } };
  const known = previous?.containerID === `docker://${id}` ? previous.user : undefined;
  return known ? { user: known } : {};
}

/** Returns the mounts' modes. `canBeRecursive`: mounts below a read-only volume can be made read-only too. */
export function volumeMounts(
  wanted: Pick<Container, 'volumeMounts'>,
  canBeRecursive = false,
): Pick<ContainerStatus, 'volumeMounts'> {
  const mounts = (wanted.volumeMounts ?? []).map(({ name, mountPath, readOnly, recursiveReadOnly }) => {
    const isRequested = recursiveReadOnly === 'Enabled' || recursiveReadOnly === 'IfPossible';
    const mode = { readOnly, recursiveReadOnly: isRequested && canBeRecursive ? 'Enabled' : 'Disabled' };
    return { name, mountPath, ...(readOnly && mode) };
  });
  return mounts.length > 0 ? { volumeMounts: mounts } : {};
}
