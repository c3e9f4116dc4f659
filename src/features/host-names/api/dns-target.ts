/** The target of a path of a Dns, for the controller that reports it and for the nodes that route to it. */
import type { Service } from '../../../api/core/v1/service/service.ts';
import type { DnsPath } from './dns.ts';

/** Returns true for names in the cluster's domain, which cluster DNS resolves, never a Dns object. */
export const isOwnName = (host: string, clusterDomain: string) =>
  host === clusterDomain || host.endsWith(`.${clusterDomain}`);

export type DnsTarget =
  | { readonly address: string; readonly port: number }
  | { readonly reason: 'ServiceNotFound' | 'PortNotFound' | 'NoClusterIP'; readonly message: string };

/** Returns the target. `service` is the Service that the path names; undefined if it does not exist. */
export function dnsTarget(
  { path, serviceName, servicePort }: DnsPath,
  service: Service | undefined,
): DnsTarget {
  const what = `path ${path}: service ${JSON.stringify(serviceName)}`;
  if (!service) return { reason: 'ServiceNotFound', message: `${what} not found` };
  const { clusterIP, type, ports = [] } = service.spec;
  if (type === 'ExternalName' || !clusterIP || clusterIP === 'None') {
    return { reason: 'NoClusterIP', message: `${what} has no cluster IP` };
  }
  if (!ports.some(({ port, protocol }) => port === servicePort && protocol === 'TCP')) {
    return { reason: 'PortNotFound', message: `${what} has no TCP port ${servicePort}` };
  }
  return { address: clusterIP, port: servicePort };
}
