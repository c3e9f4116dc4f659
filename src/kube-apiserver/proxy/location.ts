/**
 * What a request for /proxy leads to: `https:web:8443` and the objects it names as a port of a pod or a node (upstream's
 * ResourceLocation of pods, services and nodes).
 */
import type { Node } from '../../api/core/v1/node.ts';
import type { Pod } from '../../api/core/v1/pod.ts';
import type { Service } from '../../api/core/v1/service.ts';
import type { Endpoint, EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts';
import { isGlobalUnicast } from '../../api/ip.ts';
import { newBadRequest, newStatusError } from '../../apimachinery/status-error.ts';
import { canonicalAddress, sameAddress } from '../../base/addresses.ts';

type Scheme = 'http' | 'https';

/** `[SCHEME:]NAME[:PORT]`, where the name of an object stands in other requests. */
export interface ProxyName {
  readonly scheme: Scheme;
  readonly name: string;
  /** As it was written; '' when there is none. */
  readonly port: string;
}

export interface PodLocation {
  readonly scheme: Scheme;
  readonly pod: Pod;
  readonly address: string;
  readonly port: number;
}

export type NodeLocation =
  /** The node's agent, which speaks HTTPS whatever was asked for. */
  'agent' | { readonly scheme: Scheme; readonly address: string; readonly port: number };

const schemes: Readonly<Record<string, Scheme>> = { '': 'http', http: 'http', https: 'https' };
const defaultPorts = { http: 80, https: 443 } as const;

/** Throws a 400 for what cannot be meant; `kind` is `pod`, `service` or `node`. */
export function parseProxyName(id: string, kind: string): ProxyName {
  const parts = id.split(':');
  const [prefix = '', name = '', port = ''] = parts.length < 3 ? ['', ...parts] : parts;
  const scheme = Object.hasOwn(schemes, prefix) ? schemes[prefix] : undefined;
  if (parts.length <= 3 && name && scheme) return { scheme, name, port };
  throw newBadRequest(`invalid ${kind} request ${JSON.stringify(id)}`);
}

/** The port that was asked for, else the first one its containers name, else the scheme's own. Throws a 400. */
export function podLocation(pod: Pod, { scheme, port: wanted }: ProxyName): PodLocation {
  const named = pod.spec.containers.flatMap(({ ports = [] }) =>
    ports.map(({ containerPort }) => containerPort),
  );
  const port = wanted ? portNumber(wanted) : (named[0] ?? defaultPorts[scheme]);
  return { scheme, pod, address: allowed(pod.status?.podIP), port };
}

/**
 * A ready endpoint of the port at random: of the service's only port if it has no name, else of the one whose name or
 * number was asked for. Only pods of the service's namespace count: endpoints that somebody wrote by hand would let their
 * author reach what only the server reaches. `drawn` is in [0, 1). Throws a 503 when there is none.
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

/** Throws a 400 for a port or an address that may not be asked. */
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

function podBehind(
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

/** Addresses that only the server can reach, such as loopback and link-local ones, are refused. */
function allowed(address: string | undefined): string {
  const canonical = canonicalAddress(address ?? '');
  if (canonical && isGlobalUnicast(canonical)) return canonical;
  throw newBadRequest('address not allowed');
}

export const unavailable = (message: string) => newStatusError('ServiceUnavailable', message);
