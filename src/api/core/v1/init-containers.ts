/** The containers of a pod by their part: what runs before the others, what runs beside them. */
import type { Container, PodSpec } from './types.gen.ts';

export const initContainersOf = ({ initContainers = [] }: PodSpec): readonly Container[] => initContainers;

/** An init container that goes on beside the others, which start once it has. */
export const isSidecar = ({ restartPolicy }: Pick<Container, 'restartPolicy'>) => restartPolicy === 'Always';

export const sidecarsOf = (spec: PodSpec): readonly Container[] => initContainersOf(spec).filter(isSidecar);

/** Those that serve others as long as the pod runs: each has its ports. */
export const servingContainers = (spec: PodSpec): readonly Container[] => [
  ...spec.containers,
  ...sidecarsOf(spec),
];
