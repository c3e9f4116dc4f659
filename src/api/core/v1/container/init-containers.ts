/** The containers of a pod by type: init containers, sidecars and those that serve. */
import type { Container, PodSpec } from '../types.gen.ts';

export const initContainersOf = ({ initContainers = [] }: PodSpec): readonly Container[] => initContainers;

/**
 * Returns true for an init container that continues beside the other containers, which start after it has
 * started.
 */
export const isSidecar = ({ restartPolicy }: Pick<Container, 'restartPolicy'>) => restartPolicy === 'Always';

export const sidecarsOf = (spec: PodSpec): readonly Container[] => initContainersOf(spec).filter(isSidecar);

/** Returns the containers that run for the whole life of the pod; each has its own ports. */
export const servingContainers = (spec: PodSpec): readonly Container[] => [
  ...spec.containers,
  ...sidecarsOf(spec),
];
