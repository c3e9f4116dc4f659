/** The endpoints of a Service's port that get requests. Pure. */

import type { EndpointSlice } from '../../../../api/discovery/v1/endpoint-slice.ts';
import { addressKind } from '../../../../base/addresses.ts';

/** Returns addresses with ports: of the ready endpoints, or of those that end if no other is left; sorted. */
export function usableEndpoints(slices: readonly EndpointSlice[], portName: string): readonly string[] {
  const ready = new Set<string>();
  const ending = new Set<string>();
  for (const { addressType, endpoints, ports } of slices) {
    const port = ports?.find(({ name, protocol }) => (name ?? '') === portName && protocol !== 'UDP')?.port;
    if (port === undefined || addressType === 'FQDN') continue;
    for (const { addresses, conditions } of endpoints) {
      const wanted =
        conditions?.ready !== false
          ? ready
          : conditions.serving && conditions.terminating
            ? ending
            : undefined;
      // Others lead to the node itself: the web server runs in the machine's own network.
      for (const address of addresses)
        if (addressKind(address) === 'unicast') wanted?.add(withPort(address, port));
    }
  }
  return [...(ready.size > 0 ? ready : ending)].sort();
}

export const withPort = (address: string, port: number) =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
