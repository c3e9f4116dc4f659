/**
 * Environment variables of Services (upstream: pkg/kubelet/envvars, getServiceEnvVarMap): the Services of the
 * pod's namespace, and always the API server's, because clients in pods need its variables to find it.
 */
import type { Service } from '../../../api/core/v1/service/service.ts';

/** The fields of a Service that the variables use. */
export type NamedService = {
  readonly metadata: Pick<Service['metadata'], 'name' | 'namespace'>;
  readonly spec: Pick<Service['spec'], 'clusterIP' | 'ports'>;
};

const apiServer = { name: 'kubernetes', namespace: 'default' };

/** Returns the variables, sorted by Service. `links` is the pod's enableServiceLinks. */
export function serviceVariables(
  services: readonly NamedService[],
  namespace: string,
  links: boolean,
): ReadonlyMap<string, string> {
  const byName = new Map<string, ReachedService>();
  for (const { metadata, spec } of services) {
    const { clusterIP, ports } = spec;
    if (!clusterIP || clusterIP === 'None' || !ports) continue;
    const { name } = metadata;
    const own = links && metadata.namespace === namespace;
    const api = name === apiServer.name && metadata.namespace === apiServer.namespace;
    // A Service named kubernetes in the pod's own namespace hides the API server's.
    if (own || (api && !byName.has(name))) byName.set(name, { name, clusterIP, ports });
  }
  const sorted = [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return new Map(sorted.flatMap(variablesOf));
}

interface ReachedService {
  readonly name: string;
  readonly clusterIP: string;
  readonly ports: NonNullable<Service['spec']['ports']>;
}

function variablesOf({ name, clusterIP, ports }: ReachedService): readonly (readonly [string, string])[] {
  const prefix = variableName(name);
  const host = clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP;
  return ports.flatMap(({ name: portName, port, protocol }, index) => {
    const scheme = protocol.toLowerCase();
    const url = `${scheme}://${host}:${port}`;
    const link = `${prefix}_PORT_${port}_${protocol}`;
    return [
      ...(index === 0 ? firstOf(prefix, clusterIP, port, url) : []),
      ...(portName ? [[`${prefix}_SERVICE_PORT_${variableName(portName)}`, String(port)] as const] : []),
      [link, url],
      [`${link}_PROTO`, scheme],
      [`${link}_PORT`, String(port)],
      [`${link}_ADDR`, clusterIP],
    ] as const;
  });
}

/** Returns the variables of a Service's first port, which have no number in their names. */
const firstOf = (prefix: string, clusterIP: string, port: number, url: string) =>
  [
    [`${prefix}_SERVICE_HOST`, clusterIP],
    [`${prefix}_SERVICE_PORT`, String(port)],
    [`${prefix}_PORT`, url],
  ] as const;

const variableName = (name: string) => name.toUpperCase().replaceAll('-', '_');
