/**
 * Whether this node has the same service-cidr, cluster-dns and cluster-domain as the masters. With others, pods would
 * ask a DNS server that does not exist and Services would not be reachable, without any error message.
 */
import { serviceResource } from '../../api/core/v1/service.ts';
import { apiService, dnsService, domainAnnotation } from '../../api/core/v1/system-objects.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import { apiServiceIP, clusterDnsIP } from '../../kube-apiserver/bootstrap.ts';
import type { Settings } from '../settings/settings.ts';
import { answerWithin } from './answer-within.ts';

type AddressSettings = Settings<'service-cidr' | 'cluster-dns' | 'cluster-domain'>;

/** What the Services kubernetes and kube-dns show: their clusterIPs, and the domain. */
export interface ClusterAddresses {
  readonly api?: string | undefined;
  readonly dns?: string | undefined;
  readonly domain?: string | undefined;
}

/** One line that says what to change; undefined when the settings match or the Services could not be read. */
export function addressProblem(
  settings: AddressSettings,
  { api, dns, domain }: ClusterAddresses,
): string | undefined {
  const range = settings['service-cidr'];
  const first = apiServiceIP(range);
  if (api !== undefined && api !== first) {
    return `service-cidr ${range} is not that of the cluster: the Service ${apiService.name} has address ${api}, not ${first}; give this node the service-cidr of the masters`;
  }
  const own = settings['cluster-dns'] ?? clusterDnsIP(range);
  if (dns !== undefined && dns !== own) {
    return `cluster-dns ${own} is not that of the cluster: the Service ${dnsService.name} has address ${dns}; give this node cluster-dns: ${dns}`;
  }
  const ownDomain = settings['cluster-domain'];
  if (domain !== undefined && domain !== ownDomain) {
    return `cluster-domain ${ownDomain} is not that of the cluster: the Service ${dnsService.name} has domain ${domain}; give this node cluster-domain: ${domain}`;
  }
  return undefined;
}

const patienceMs = 5_000;

/** Rejects in one line when the settings do not fit. While no API server answers they are taken as they are. */
export async function requireClusterAddresses(
  { client, clock, log }: { readonly client: Client; readonly clock: Clock; readonly log: Logger },
  settings: AddressSettings,
): Promise<void> {
  const services = client.resource(serviceResource);
  const read = Promise.all([
    services.get(apiService.name, apiService.namespace),
    services.get(dnsService.name, dnsService.namespace),
  ]).catch((error: unknown) => {
    log.debug('cannot compare the addresses of Services with the settings of this node', {
      error: errorMessage(error),
    });
  });
  const [api, dns] = (await answerWithin(clock, patienceMs, read)) ?? [];
  const problem = addressProblem(settings, {
    api: api?.spec.clusterIP,
    dns: dns?.spec.clusterIP,
    domain: dns?.metadata.annotations?.[domainAnnotation],
  });
  if (problem !== undefined) throw new Error(problem);
}
