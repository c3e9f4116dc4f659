/** Chooses the endpoint of a Service to which a request for an extension server goes. Pure. */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import type { Endpoint, EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts';
import { isGlobalUnicast } from '../../api/ip.ts';
import { canonicalAddress } from '../../base/addresses.ts';
import { podBehind } from '../proxy/location.ts';

/** An endpoint: a pod, which its node reaches; or an address or a name, which this master reaches. */
export type Backend =
  | { readonly kind: 'pod'; readonly pod: Pod; readonly address: string; readonly port: number }
  | { readonly kind: 'address'; readonly address: string; readonly port: number }
  | { readonly kind: 'name'; readonly host: string; readonly port: number };

/** The Service as the cache has it, with what belongs to it. */
export interface ServedBehind {
  readonly service: Service | undefined;
  readonly slices: readonly EndpointSlice[];
  readonly podOf: (name: string) => Pod | undefined;
}

/**
 * Returns a random ready endpoint; undefined if there is none. Pods and addresses that only this machine
 * reaches, such as loopback, never count. `drawn` is in [0, 1).
 */
export function backendOf(
  { service, slices, podOf }: ServedBehind,
  port: number,
  drawn: number,
): Backend | undefined {
  if (!service) return undefined;
  const { type, externalName, ports = [] } = service.spec;
  if (type === 'ExternalName') return named(externalName, port);
  const served = ports.find((one) => one.port === port);
  if (!served) return undefined;
  const all = slices.flatMap((slice) => readyEndpoints(slice, served.name ?? ''));
  const first = Math.floor(drawn * all.length);
  for (const one of [...all.slice(first), ...all.slice(0, first)]) {
    const found = located(one.endpoint, one.port, service.metadata.namespace, podOf);
    if (found && isGlobalUnicast(found.address)) return found;
  }
  return undefined;
}

/**
 * Returns the backend of an external name. An address in its place is checked here, because it is never
 * looked up.
 */
function named(host: string | undefined, port: number): Backend | undefined {
  if (!host) return undefined;
  const address = canonicalAddress(host);
  if (address === undefined) return { kind: 'name', host, port };
  return isGlobalUnicast(address) ? { kind: 'address', address, port } : undefined;
}

function readyEndpoints({ ports, endpoints, addressType }: EndpointSlice, name: string) {
  const port = ports.find((one) => one.name === name)?.port;
  if (port === undefined || addressType === 'FQDN') return [];
  return endpoints
    .filter(({ conditions }) => conditions.ready !== false)
    .map((endpoint) => ({ endpoint, port }));
}

function located(
  endpoint: Endpoint,
  port: number,
  namespace: string | undefined,
  podOf: ServedBehind['podOf'],
): Exclude<Backend, { kind: 'name' }> | undefined {
  if (endpoint.targetRef?.kind === 'Pod') {
    const found = podBehind(endpoint, namespace, podOf);
    return found && { kind: 'pod', ...found, port };
  }
  const [address] = endpoint.addresses;
  return address === undefined ? undefined : { kind: 'address', address, port };
}
