/** What a container's status says beside its state: its user and its mounts. */
import type { Container, ContainerStatus } from '../../../api/core/v1/types.gen.ts';
import type { ContainerState } from '../../runtime/runtime.ts';

/** Of one that nothing is left of: as it was told when it had ended. */
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

/** The engine tells it while the container runs. */
export function userOf(
  { id, user }: ContainerState,
  previous: ContainerStatus | undefined,
): Pick<ContainerStatus, 'user'> {
  if (user) return { user: { linux: { ...user, supplementalGroups: [...user.supplementalGroups] } } };
  const known = previous?.containerID === `docker://${id}` ? previous.user : undefined;
  return known ? { user: known } : {};
}

/** `canBeRecursive`: what is mounted below a read-only volume can be read-only with it. */
export function volumeMounts(
  wanted: Pick<Container, 'volumeMounts'>,
  canBeRecursive = false,
): Pick<ContainerStatus, 'volumeMounts'> {
  const told = (wanted.volumeMounts ?? []).map(({ name, mountPath, readOnly, recursiveReadOnly }) => {
    const asks = recursiveReadOnly === 'Enabled' || recursiveReadOnly === 'IfPossible';
    const mode = { readOnly, recursiveReadOnly: asks && canBeRecursive ? 'Enabled' : 'Disabled' };
    return { name, mountPath, ...(readOnly && mode) };
  });
  return told.length > 0 ? { volumeMounts: told } : {};
}
