/** The target of a backend, for the controller that reports it and the nodes that route to it. Pure. */
import type { Service } from '../../../api/core/v1/service/service.ts';
import type { Backend } from './candidate.ts';
import type { Problem } from './problem.ts';

export type Target =
  /** The Service's own address: the service proxy of the node follows its endpoints. */
  | { readonly type: 'address'; readonly address: string; readonly port: number }
  /** The endpoints themselves, by the name of the Service's port. */
  | { readonly type: 'endpoints'; readonly service: string; readonly portName: string }
  | { readonly type: 'name'; readonly name: string; readonly port: number };

/**
 * Returns the target, or the problem. `service` is the Service that the backend names, in the namespace of
 * the Ingress; `needsEndpoints` is true if each client has to stay at one endpoint.
 */
export function targetOf(
  { service: named, resource }: Backend,
  service: Service | undefined,
  needsEndpoints: boolean,
): Target | Problem {
  if (resource || !named)
    return problem(
      'ResourceBackendNotSupported',
      `backend ${resource?.kind} ${JSON.stringify(resource?.name)}: only Services are supported as backends; its path answers 503`,
    );
  const what = `service ${JSON.stringify(named.name)}`;
  if (!service) return problem('BackendNotFound', `${what} not found; its path answers 503`);
  if (service.spec.type === 'ExternalName') return externalTarget(service, named.port?.number);
  const port = portOf(service, named.port ?? {});
  if (!port) {
    const wanted = named.port?.name || named.port?.number;
    return problem('BackendNotFound', `${what} has no TCP port ${wanted}; its path answers 503`);
  }
  return targetOfPort(service, port, needsEndpoints);
}

function targetOfPort({ metadata, spec }: Service, port: ServicePort, needsEndpoints: boolean): Target {
  const { clusterIP } = spec;
  const isHeadless = !clusterIP || clusterIP === 'None';
  if (!needsEndpoints && !isHeadless) return { type: 'address', address: clusterIP, port: port.port };
  return {
    type: 'endpoints',
    service: `${metadata.namespace}/${metadata.name}`,
    portName: port.name ?? '',
  };
}

type ServicePort = NonNullable<Service['spec']['ports']>[number];

/** Returns the TCP port of the Service with the name, or with the number. */
const portOf = (
  { spec }: Service,
  { name, number }: { name?: string | undefined; number?: number | undefined },
) => spec.ports?.find((one) => (name ? one.name === name : one.port === number) && isTcp(one.protocol));

function externalTarget({ metadata, spec }: Service, port: number | undefined): Target | Problem {
  if (port && spec.externalName) return { type: 'name', name: spec.externalName, port };
  const message = `service ${JSON.stringify(metadata.name)} of the type ExternalName needs a port by number; its path answers 503`;
  return problem('BackendNotFound', message);
}

const isTcp = (protocol: string | undefined) => protocol === undefined || protocol === 'TCP';

const problem = (reason: Problem['reason'], message: string): Problem => ({ reason, message });
