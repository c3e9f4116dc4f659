/** Identifies the EndpointSlices that one controller maintains for Services. Pure. */
import type { Service } from '../../api/core/v1/service/service.ts';
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
  /** Value of the label managed-by. */
  readonly manager: string;
  /** Returns the Service of such a slice, or nothing for a slice of another manager. */
  readonly serviceOf: (slice: EndpointSlice) => readonly ObjectKey[];
}

export const slicesManagedBy = (manager: string): ManagedSlices => ({
  manager,
  serviceOf({ metadata: { namespace, labels = {} } }) {
    const service = labels[serviceNameLabel];
    return service && labels[managedByLabel] === manager ? [`${namespace}/${service}`] : [];
  },
});

/**
 * Returns true if the Service has a selector. Without one it is ignored, because others write its endpoints.
 */
export function hasSelector(service: Service): boolean {
  return Object.keys(service.spec.selector ?? {}).length > 0;
}

/** Returns the same key for slices that serve the same ports. */
export const portsKey = (ports: readonly EndpointPort[]) =>
  ports
    .map(({ name, protocol, port, appProtocol }) => JSON.stringify([name, protocol, port, appProtocol]))
    .sort()
    .join();
