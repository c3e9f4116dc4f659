/** Where the backend of a path leads, for the controller that reports it and the nodes that route. Pure. */
import type { Service } from '../../../api/core/v1/service/service.ts';
import type { Backend } from './claims.ts';
import type { Problem } from './problem.ts';

export type Target =
  /** The Service's own address: the service proxy of the node follows its endpoints. */
  | { readonly type: 'address'; readonly address: string; readonly port: number }
  /** The endpoints themselves, by the name of the Service's port. */
  | { readonly type: 'endpoints'; readonly service: string; readonly portName: string }
  | { readonly type: 'name'; readonly name: string; readonly port: number };

/**
 * Returns the target, or the problem. `service` is the Service that the backend names, in the namespace of
 * the Ingress; `needsEndpoints`: a client is kept at one of them.
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
  const { type, externalName, clusterIP, ports = [] } = service.spec;
  const { number, name } = named.port ?? {};
  if (type === 'ExternalName') {
    if (!number || !externalName)
      return problem('BackendNotFound', `${what}: type ExternalName needs a port number`);
    return { type: 'name', name: externalName, port: number };
  }
  const port = ports.find((one) => (name ? one.name === name : one.port === number) && isTcp(one.protocol));
  if (!port)
    return problem('BackendNotFound', `${what} has no TCP port ${name || number}; its path answers 503`);
  const isHeadless = !clusterIP || clusterIP === 'None';
  return needsEndpoints || isHeadless
    ? {
        type: 'endpoints',
        service: `${service.metadata.namespace}/${service.metadata.name}`,
        portName: port.name ?? '',
      }
    : { type: 'address', address: clusterIP, port: port.port };
}

const isTcp = (protocol: string | undefined) => protocol === undefined || protocol === 'TCP';

const problem = (reason: Problem['reason'], message: string): Problem => ({ reason, message });
