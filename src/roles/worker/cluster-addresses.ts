/**
 * Compares this node's service-cidr, cluster-dns and cluster-domain with those of the masters. With different
 * values, pods would use a DNS server that does not exist and Services would be unreachable, without any
 * error message.
 */
import { serviceResource } from '../../api/core/v1/service/service.ts';
import {
  apiService,
  dnsService,
  domainAnnotation,
  rangeAnnotation,
} from '../../api/core/v1/system-objects.ts';
import { canonicalRange, familyRanges } from '../../base/address-families.ts';
import { answerWithin } from '../../base/answer-within.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import { apiServiceIP, clusterDnsIP } from '../../kube-apiserver/bootstrap.ts';
import type { Settings } from '../settings/setting-table.ts';

type AddressSettings = Settings<'service-cidr' | 'cluster-dns' | 'cluster-domain'>;

/** The clusterIPs of the Services kubernetes and kube-dns, and the domain. */
export interface ClusterAddresses {
  readonly api?: string | undefined;
  /** Range of IPv6 of the cluster's Services; absent in a cluster of IPv4 and from earlier versions. */
  readonly rangeIPv6?: string | undefined;
  readonly dns?: string | undefined;
  readonly domain?: string | undefined;
}

/**
 * Returns one line with the setting to change; undefined if the settings match or the Services could not be
 * read.
 */
export function addressProblem(
  settings: AddressSettings,
  { api, rangeIPv6, dns, domain }: ClusterAddresses,
): string | undefined {
  const range = settings['service-cidr'];
  const first = apiServiceIP(range);
  if (api !== undefined && api !== first) {
    return `service-cidr ${range} is not that of the cluster: the Service ${apiService.name} has address ${api}, not ${first}; give this node the service-cidr of the masters`;
  }
  const second = familyRanges(range).IPv6;
  // A node with ranges of IPv4 alone works in a cluster of two families, and reports it.
  if (
    rangeIPv6 !== undefined &&
    second !== undefined &&
    canonicalRange(second) !== canonicalRange(rangeIPv6)
  ) {
    return `service-cidr ${range} is not that of the cluster: the Service ${apiService.name} has the range ${rangeIPv6} in its annotation ${rangeAnnotation}; give this node the service-cidr of the masters`;
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

/** Timeout in milliseconds for reading the Services. */
const patienceMs = 5_000;

/**
 * Rejects with one line if the settings do not match. While no API server answers, the settings are accepted
 * unchecked.
 */
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
    rangeIPv6: api?.metadata.annotations?.[rangeAnnotation],
    dns: dns?.spec.clusterIP,
    domain: dns?.metadata.annotations?.[domainAnnotation],
  });
  if (problem !== undefined) throw new Error(problem);
}
