/**
 * The variables by which a container finds Services (upstream: pkg/kubelet/envvars, getServiceEnvVarMap): those of its
 * namespace, and always the API server's, without which no client in a pod finds it.
 */
import type { Service } from '../../api/core/v1/service.ts';

/** What the variables say of a Service. */
export type NamedService = {
  readonly metadata: Pick<Service['metadata'], 'name' | 'namespace'>;
  readonly spec: Pick<Service['spec'], 'clusterIP' | 'ports'>;
};

const apiServer = { name: 'kubernetes', namespace: 'default' };

/** Sorted by Service. `links`: the pod's enableServiceLinks. */
export function serviceVariables(
  services: readonly NamedService[],
  namespace: string,
  links: boolean,
): ReadonlyMap<string, string> {
  const byName = new Map<string, NamedService>();
  for (const service of services) {
    const { clusterIP = '', ports = [] } = service.spec;
    if (clusterIP === '' || clusterIP === 'None' || ports.length === 0) continue;
    const { name } = service.metadata;
    const own = links && service.metadata.namespace === namespace;
    const api = name === apiServer.name && service.metadata.namespace === apiServer.namespace;
    // A Service named kubernetes in the pod's own namespace hides the API server's.
    if (own || (api && !byName.has(name))) byName.set(name, service);
  }
  const sorted = [...byName.values()].toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return new Map(sorted.flatMap(variablesOf));
}

function variablesOf({ metadata, spec }: NamedService): [string, string][] {
  const { clusterIP = '', ports = [] } = spec;
  const [first] = ports;
  const prefix = variableName(metadata.name);
  const host = clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP;
  const url = ({ protocol, port }: { protocol: string; port: number }) =>
    `${protocol.toLowerCase()}://${host}:${port}`;
  const variables: [string, string][] = [[`${prefix}_SERVICE_HOST`, clusterIP]];
  if (first) {
    variables.push([`${prefix}_SERVICE_PORT`, String(first.port)], [`${prefix}_PORT`, url(first)]);
  }
  for (const { name, port, protocol } of ports) {
    if (name) variables.push([`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port)]);
    const link = `${prefix}_PORT_${port}_${protocol}`;
    variables.push(
      [link, url({ protocol, port })],
      [`${link}_PROTO`, protocol.toLowerCase()],
      [`${link}_PORT`, String(port)],
      [`${link}_ADDR`, clusterIP],
    );
  }
  return variables;
}

const variableName = (name: string) => name.toUpperCase().replaceAll('-', '_');
