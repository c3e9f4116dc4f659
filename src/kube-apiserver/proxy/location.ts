/**
 * Resolves the target of a request for /proxy: `https:web:8443` and the objects that it names, to a port of a
 * pod or a node (upstream's ResourceLocation of pods, services and nodes).
 */
import type { Node } from '../../api/core/v1/node/node.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import type { Endpoint, EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts';
import { isGlobalUnicast } from '../../api/ip.ts';
import { newBadRequest, newStatusError } from '../../apimachinery/status-error.ts';
import { canonicalAddress, sameAddress } from '../../base/addresses.ts';

type Scheme = 'http' | 'https';

/** `[SCHEME:]NAME[:PORT]`, in the place of an object's name. */
export interface ProxyName {
  readonly scheme: Scheme;
  readonly name: string;
  /** The port as written; '' if there is none. */
  readonly port: string;
}

export interface PodLocation {
  readonly scheme: Scheme;
  readonly pod: Pod;
  readonly address: string;
  readonly port: number;
}

export type NodeLocation =
  /** The kubelet, which always uses HTTPS. */
  'agent' | { readonly scheme: Scheme; readonly address: string; readonly port: number };

const schemes: Readonly<Record<string, Scheme>> = { '': 'http', http: 'http', https: 'https' };
const defaultPorts = { http: 80, https: 443 } as const;

/** Parses a name. Throws a 400 for an invalid one; `kind` is `pod`, `service` or `node`. */
export function parseProxyName(id: string, kind: string): ProxyName {
  const parts = id.split(':');
  const [prefix = '', name = '', port = ''] = parts.length < 3 ? ['', ...parts] : parts;
  const scheme = Object.hasOwn(schemes, prefix) ? schemes[prefix] : undefined;
  if (parts.length <= 3 && name && scheme) return { scheme, name, port };
  throw newBadRequest(`invalid ${kind} request ${JSON.stringify(id)}`);
}

/**
 * Returns the requested port, otherwise the first port of its containers, otherwise the scheme's default.
 * Throws a 400.
 */
export function podLocation(pod: Pod, { scheme, port: wanted }: ProxyName): PodLocation {
  const named = pod.spec.containers.flatMap(({ ports = [] }) =>
    ports.map(({ containerPort }) => containerPort),
  );
  const port = wanted ? portNumber(wanted) : (named[0] ?? defaultPorts[scheme]);
  return { scheme, pod, address: allowed(pod.status?.podIP), port };
}

/**
 * Returns a random ready endpoint of the requested port: of the port without a name if none is requested,
 * otherwise of the port with that name or number. Only pods of the service's namespace count: endpoints
 * written by a user would let the user reach addresses that only the server reaches. `drawn` is in [0, 1).
 * Throws a 503 if there is none.
 */
export function serviceLocation(
  service: Service,
  slices: readonly EndpointSlice[],
  podOf: (name: string) => Pod | undefined,
  { scheme, port: wanted }: ProxyName,
  drawn: number,
): PodLocation {
  const name = portName(service, wanted);
  const candidates = slices.flatMap(({ ports, endpoints }) => {
    const port = ports.find((one) => one.name === name)?.port;
    if (port === undefined) return [];
    return endpoints
      .filter(({ conditions }) => conditions.ready !== false)
      .map((endpoint) => ({ endpoint, port }));
  });
  const first = Math.floor(drawn * candidates.length);
  for (const { endpoint, port } of [...candidates.slice(first), ...candidates.slice(0, first)]) {
    const found = podBehind(endpoint, service.metadata.namespace, podOf);
    if (found && isGlobalUnicast(found.address)) return { scheme, ...found, port };
  }
  const asked = [service.metadata.name, ...(wanted ? [wanted] : [])].join(':');
  throw unavailable(`no endpoints available for service ${JSON.stringify(asked)}`);
}

/** Returns the target on a node. Throws a 400 for a port or an address that is not allowed. */
export function nodeLocation(node: Node, { scheme, port }: ProxyName): NodeLocation {
  const agent = node.status?.daemonEndpoints?.kubeletEndpoint?.Port;
  if (!port || portNumber(port) === agent) return 'agent';
  const address = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  return { scheme, address: allowed(address), port: portNumber(port) };
}

function portName({ metadata, spec }: Service, wanted: string): string {
  if (!/^\d+$/.test(wanted)) return wanted;
  const found = spec.ports?.find(({ port }) => port === Number(wanted));
  if (found) return found.name ?? '';
  throw unavailable(`no service port ${wanted} found for service ${JSON.stringify(metadata.name)}`);
}

/** Returns the pod of an endpoint, and its address; undefined if it is not of this namespace. */
export function podBehind(
  { targetRef, addresses }: Endpoint,
  namespace: string | undefined,
  podOf: (name: string) => Pod | undefined,
): Pick<PodLocation, 'pod' | 'address'> | undefined {
  if (targetRef?.kind !== 'Pod' || !targetRef.name || targetRef.namespace !== namespace) return undefined;
  const pod = podOf(targetRef.name);
  const address = pod?.status?.podIP;
  return address && addresses.some((one) => sameAddress(one, address)) ? { pod, address } : undefined;
}

function portNumber(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port > 0 && port <= 0xffff) return port;
  throw newBadRequest(`${JSON.stringify(text)} is not a port`);
}

/** Rejects addresses that only the server can reach, such as loopback and link-local ones. */
function allowed(address: string | undefined): string {
  const canonical = canonicalAddress(address ?? '');
  if (canonical && isGlobalUnicast(canonical)) return canonical;
  throw newBadRequest('address not allowed');
}

export const unavailable = (message: string) => newStatusError('ServiceUnavailable', message);
