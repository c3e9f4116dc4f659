/** The EndpointSlices that one controller keeps for Services: how they are told from others'. Pure. */
import type { Service } from '../../api/core/v1/service.ts';
import {
  type EndpointPort,
  type EndpointSlice,
  managedByLabel,
  serviceNameLabel,
} from '../../api/discovery/v1/endpoint-slice.ts';
import type { Draft, ObjectKey } from '../../apimachinery/meta.ts';

export interface SlicePlan {
  readonly create: readonly Draft<EndpointSlice>[];
  readonly update: readonly EndpointSlice[];
  readonly remove: readonly EndpointSlice[];
}

export interface ManagedSlices {
  /** What the label managed-by says of them. */
  readonly manager: string;
  /** The Service of such a slice; none for a slice of somebody else. */
  readonly serviceOf: (slice: EndpointSlice) => readonly ObjectKey[];
}

export const slicesManagedBy = (manager: string): ManagedSlices => ({
  manager,
  serviceOf({ metadata: { namespace, labels = {} } }) {
    const service = labels[serviceNameLabel];
    return service && labels[managedByLabel] === manager ? [`${namespace}/${service}`] : [];
  },
});

/** A Service without a selector is left alone: someone else writes its endpoints. */
export function hasSelector(service: Service): boolean {
  return Object.keys(service.spec.selector ?? {}).length > 0;
}

/** Slices with the same key serve the same ports. */
export const portsKey = (ports: readonly EndpointPort[]) =>
  ports
    .map(({ name, protocol, port, appProtocol }) => JSON.stringify([name, protocol, port, appProtocol]))
    .sort()
    .join();
