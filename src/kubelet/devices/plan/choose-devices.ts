/** Selects the devices of a container (pkg/kubelet/cm/devicemanager: devicesToAllocate). */

import { findContainer } from '../../../api/core/v1/container/ephemeral-containers.ts';
import { isSidecar } from '../../../api/core/v1/container/init-containers.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { containerRequests } from '../../../api/core/v1/pod/requests.ts';
import { type Device, DeviceError } from './device.ts';

/** The devices of one resource that a container has, or had. */
export interface Holding {
  readonly uid: string;
  readonly container: string;
  readonly resource: string;
  readonly ids: readonly string[];
}

/** Returns the number of devices of each resource that a container requests. */
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
  /**
   * Devices that the container must get: its own earlier devices, and the devices of the pod's ended
   * containers.
   */
  readonly first: readonly string[];
  /** Other devices that are free and healthy. */
  readonly free: readonly string[];
  readonly count: number;
}

/**
 * Returns the devices to choose from. Init containers of a pod run one after the other and before the rest,
 * so the rest can use their devices; sidecars continue to run. Throws DeviceError when there are too few.
 */
export function choiceFor(
  pod: Pick<Pod, 'spec' | 'metadata'>,
  container: string,
  resource: string,
  count: number,
  devices: readonly Device[],
  /** Allocations of this pod, and those that other pods still hold. */
  holdings: readonly Holding[],
): Choice {
  const { uid } = pod.metadata;
  const healthy = devices.filter(({ healthy: is }) => is).map(({ id }) => id);
  const inits = new Set(pod.spec.initContainers?.filter((one) => !isSidecar(one)).map(({ name }) => name));
  const sidecars = new Set(pod.spec.initContainers?.filter(isSidecar).map(({ name }) => name));
  const isInit = inits.has(container);
  const of = holdings.filter((holding) => holding.resource === resource);
  const own = of.filter((holding) => holding.uid === uid);
  /** Containers of the pod that run at the same time as this one. */
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
  const first = [...new Set([...before, ...own.flatMap(({ ids }) => ids)])]
    .filter((id) => usable.includes(id))
    .slice(0, count);
  const free = usable.filter((id) => !first.includes(id));
  return { first, free, count };
}

/**
 * Returns the chosen devices. `preferred` is the preference of a device plugin; devices in it that are not
 * free, or too many, are ignored.
 */
export function chosen({ first, free, count }: Choice, preferred: readonly string[] = []): readonly string[] {
  const wanted = preferred.filter((id) => free.includes(id));
  return [...new Set([...first, ...wanted, ...free])].slice(0, count);
}
