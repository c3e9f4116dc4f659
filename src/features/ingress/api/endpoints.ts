/** The endpoints of a Service's port that get requests. Pure. */

import type { EndpointSlice } from '../../../api/discovery/v1/endpoint-slice.ts';
import { addressKind } from '../../../base/addresses.ts';

/**
 * Returns addresses with ports, sorted: of ready endpoints; without any, of terminating ones that still
 * serve.
 */
export function usableEndpoints(slices: readonly EndpointSlice[], portName: string): readonly string[] {
  const all = slices.flatMap((slice) => endpointsOf(slice, portName));
  const ready = all.filter(({ conditions }) => conditions?.ready !== false);
  const ending = all.filter(({ conditions }) => conditions?.serving && conditions.terminating);
  const used = ready.length > 0 ? ready : ending;
  return [...new Set(used.flatMap(({ places }) => places))].sort();
}

/** Returns the endpoints of a slice with their addresses and the port. */
function endpointsOf({ addressType, endpoints, ports }: EndpointSlice, portName: string) {
  const port = ports?.find(({ name, protocol }) => (name ?? '') === portName && protocol !== 'UDP')?.port;
  if (port === undefined || addressType === 'FQDN') return [];
  return endpoints.map(({ addresses, conditions }) => ({
    conditions,
    // Addresses of other kinds lead to the node itself: the web server runs in the machine's own network.
    places: addresses.filter((one) => addressKind(one) === 'unicast').map((one) => withPort(one, port)),
  }));
}

export const withPort = (address: string, port: number) =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
