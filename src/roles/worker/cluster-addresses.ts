/**
 * Whether this machine was told the same addresses of Services as the masters. With others pods would ask a cluster DNS that
 * is not there, and packets to Services would find no rule, with no word about why.
 */
import { serviceResource } from '../../api/core/v1/service.ts';
import { apiService, apiServiceIP, clusterDnsIP, dnsService } from '../../apiserver/bootstrap.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { Settings } from '../settings/settings.ts';
import { answerWithin } from './patience.ts';

type AddressSettings = Settings<'service-cidr' | 'cluster-dns'>;

/** What the cluster's own Services have as clusterIP. */
export interface ClusterAddresses {
  readonly api: string | undefined;
  readonly dns: string | undefined;
}

/** One line that says what to write; undefined when the settings fit, or nothing speaks against them. */
export function addressProblem(
  settings: AddressSettings,
  { api, dns }: ClusterAddresses,
): string | undefined {
  const range = settings['service-cidr'];
  const first = apiServiceIP(range);
  if (api !== undefined && api !== first) {
    return `service-cidr ${range} is not the cluster's: the Service ${apiService.name} has ${api}, not ${first}; give this node the masters' service-cidr`;
  }
  const own = settings['cluster-dns'] ?? clusterDnsIP(range);
  if (dns !== undefined && dns !== own) {
    return `cluster-dns ${own} is not the cluster's: the Service ${dnsService.name} has ${dns}; give this node cluster-dns: ${dns}`;
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
  const addressOf = async ({ name, namespace }: typeof apiService) =>
    (await services.get(name, namespace)).spec.clusterIP;
  const read = Promise.all([addressOf(apiService), addressOf(dnsService)]).catch((error: unknown) => {
    log.debug('whether the addresses of Services are right can not be told', { error: errorMessage(error) });
  });
  const [api, dns] = (await answerWithin(clock, patienceMs, read)) ?? [];
  const problem = addressProblem(settings, { api, dns });
  if (problem !== undefined) throw new Error(problem);
}
