/** EndpointSlices and Endpoints. */
import { type Endpoints, endpointsResource } from '../../../api/core/v1/service/endpoints.ts';
import { type EndpointSlice, endpointSliceResource } from '../../../api/discovery/v1/endpoint-slice.ts';
import { fact, gauges, info, objectMetrics } from '../family.ts';
import { created, namespaced } from '../metadata-families.ts';

const labelOf = (value: boolean | undefined) => (value === undefined ? '' : String(value));

export const endpointSlices = objectMetrics<EndpointSlice>({
  ref: endpointSliceResource,
  labelsOf: ({ metadata }) => ({ endpointslice: metadata.name, namespace: metadata.namespace ?? '' }),
  families: [
    info('kube_endpointslice_info', 'Address type of the slice.', ({ addressType }) => ({
      addresstype: addressType,
    })),
    created('kube_endpointslice'),
    gauges('kube_endpointslice_endpoints', 'The endpoints of the slice.', ({ endpoints }) =>
      (endpoints ?? []).flatMap(({ addresses, conditions, hostname, targetRef, nodeName, zone }) =>
        addresses.map((address) =>
          fact({
            ready: labelOf(conditions?.ready),
            serving: labelOf(conditions?.serving),
            hostname: hostname ?? '',
            terminating: labelOf(conditions?.terminating),
            targetref_kind: targetRef?.kind ?? '',
            targetref_name: targetRef?.name ?? '',
            targetref_namespace: targetRef?.namespace ?? '',
            endpoint_nodename: nodeName ?? '',
            endpoint_zone: zone ?? '',
            address,
          }),
        ),
      ),
    ),
    gauges(
      'kube_endpointslice_endpoints_hints',
      'Topology hints of an endpoint: the zones that should use it.',
      ({ endpoints }) =>
        (endpoints ?? []).flatMap(({ addresses: [address], hints }) =>
          address === undefined
            ? []
            : (hints?.forZones ?? []).map(({ name }) => fact({ address, for_zone: name })),
        ),
    ),
    gauges('kube_endpointslice_ports', 'The ports of the slice.', ({ ports }) =>
      (ports ?? []).map(({ name, protocol, port }) =>
        fact({
          port_name: name ?? '',
          port_protocol: protocol ?? '',
          port_number: port === undefined ? '' : String(port),
        }),
      ),
    ),
  ],
});

/**
 * Maximum number of pairs of an address and a port of one object; their lines are made in one turn of the
 * event loop.
 */
const maxPairs = 16_000;
/**
 * Number of pairs that every object may have, and of additional pairs for each of its addresses and ports.
 */
const [freePairs, pairsPerEntry] = [256, 16];

/**
 * Returns the subsets. Throws if the number of pairs of addresses and ports is out of proportion to the size
 * of the object: users who may write Endpoints could otherwise create a page of gigabytes from a few
 * kilobytes.
 */
function boundedSubsets({ subsets = [] }: Endpoints): NonNullable<Endpoints['subsets']> {
  let [pairs, entries] = [0, 0];
  for (const { ports = [], addresses = [], notReadyAddresses = [] } of subsets) {
    const count = addresses.length + notReadyAddresses.length;
    pairs += ports.length * count;
    entries += ports.length + count;
  }
  const most = Math.min(maxPairs, freePairs + pairsPerEntry * entries);
  if (pairs > most) throw new Error(`it has ${pairs} pairs of an address and a port, and may have ${most}`);
  return subsets;
}

export const endpoints = objectMetrics<Endpoints>({
  ref: endpointsResource,
  labelsOf: namespaced('endpoint'),
  families: [
    info('kube_endpoint_info', 'Information about the Endpoints object.', () => ({})),
    created('kube_endpoint'),
    gauges('kube_endpoint_address', 'Addresses of the Endpoints, with port and readiness.', (object) =>
      boundedSubsets(object).flatMap(({ ports = [], addresses = [], notReadyAddresses = [] }) =>
        ports.flatMap(({ protocol, port, name }) => {
          const reached = { port_protocol: protocol, port_number: String(port), port_name: name ?? '' };
          return [
            ...addresses.map(({ ip }) => fact({ ...reached, ip, ready: 'true' })),
            ...notReadyAddresses.map(({ ip }) => fact({ ...reached, ip, ready: 'false' })),
          ];
        }),
      ),
    ),
    gauges('kube_endpoint_ports', 'Ports of the Endpoints.', ({ subsets }) =>
      (subsets ?? []).flatMap(({ ports = [] }) =>
        ports.map(({ name, protocol, port }) =>
          fact({ port_name: name ?? '', port_protocol: protocol, port_number: String(port) }),
        ),
      ),
    ),
  ],
});
