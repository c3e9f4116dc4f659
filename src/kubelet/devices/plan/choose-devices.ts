/** Which devices a container gets (pkg/kubelet/cm/devicemanager: devicesToAllocate). */

import { findContainer } from '../../../api/core/v1/ephemeral-containers.ts';
import { isSidecar } from '../../../api/core/v1/init-containers.ts';
import type { Pod } from '../../../api/core/v1/pod.ts';
import { containerRequests } from '../../../api/core/v1/pod-requests.ts';
import { type Device, DeviceError } from './device.ts';

/** The devices of one resource that one container has, or had. */
export interface Holding {
  readonly uid: string;
  readonly container: string;
  readonly resource: string;
  readonly ids: readonly string[];
}

/** How many of each resource that devices are of a container asks for. */
export function deviceRequests(
  { spec }: Pick<Pod, 'spec'>,
  container: string,
  resources: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const wanted = findContainer(spec, container);
  if (!wanted) return new Map();
  return new Map([...containerRequests(wanted)].filter(([name, count]) => resources.has(name) && count > 0));
}

export interface Choice {
  /** Those that it has to get: what it had before, and what containers of the pod had that have ended. */
  readonly first: readonly string[];
  /** What else is free and healthy. */
  readonly free: readonly string[];
  readonly count: number;
}

/**
 * Between which devices of a resource there is a choice. Init containers of a pod run one after the other and before the rest,
 * so that what they had is the rest's; sidecars go on running. Throws DeviceError when there are too few.
 */
export function choiceFor(
  pod: Pick<Pod, 'spec' | 'metadata'>,
  container: string,
  resource: string,
  count: number,
  devices: readonly Device[],
  /** Of this pod, and of others that still have theirs. */
  holdings: readonly Holding[],
): Choice {
  const { uid } = pod.metadata;
  const healthy = devices.filter(({ healthy: is }) => is).map(({ id }) => id);
  const inits = new Set(pod.spec.initContainers?.filter((one) => !isSidecar(one)).map(({ name }) => name));
  const sidecars = new Set(pod.spec.initContainers?.filter(isSidecar).map(({ name }) => name));
  const isInit = inits.has(container);
  const of = holdings.filter((holding) => holding.resource === resource);
  const own = of.filter((holding) => holding.uid === uid);
  /** Containers of the pod that run while this one does. */
  const beside = own.filter(
    ({ container: other }) => other !== container && (isInit ? sidecars.has(other) : !inits.has(other)),
  );
  const others = of.filter((holding) => holding.uid !== uid);
  const taken = new Set([...others, ...beside].flatMap(({ ids }) => ids));
  const usable = healthy.filter((id) => !taken.has(id));
  if (usable.length < count)
    throw new DeviceError(
      `requested number of devices unavailable for ${resource}. Requested: ${count}, Available: ${usable.length}`,
    );
  const before = own.filter(({ container: other }) => other === container).flatMap(({ ids }) => ids);
  const left = own
    .filter(({ container: other }) => other !== container && !beside.some((one) => one.container === other))
    .flatMap(({ ids }) => ids);
  const first = [...new Set([...before, ...left])].filter((id) => usable.includes(id)).slice(0, count);
  const free = usable.filter((id) => !first.includes(id));
  return { first, free, count };
}

/** `preferred`: what a device plugin would rather have; what is not free, or too much of it, is not followed. */
export function chosen({ first, free, count }: Choice, preferred: readonly string[] = []): readonly string[] {
  const wanted = preferred.filter((id) => free.includes(id));
  return [...new Set([...first, ...wanted, ...free])].slice(0, count);
}
