/** Cluster DNS of a node, from its settings. */
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { addressKind } from '../../base/addresses.ts';
import type { InformerFactory } from '../../client/informer.ts';
import { type ClusterDns, type ClusterDnsOptions, createClusterDns } from '../../cluster-dns/cluster-dns.ts';
import { parseResolvConf } from '../../formats/resolv-conf.ts';
import { clusterDnsIP } from '../../kube-apiserver/bootstrap.ts';
import { defaultNames } from '../../network/rules.ts';
import type { RuleKeeper } from '../../os/rule-watch.ts';
import type { NodeContext } from '../process-context.ts';
import type { Settings } from '../settings/setting-table.ts';

type DnsSettings = Settings<
  'cluster-dns' | 'cluster-domain' | 'dns-upstream' | 'service-cidr' | 'cluster-cidr'
>;

/** Returns the DNS settings that the node agent writes into the files of pods. */
export function podDns(settings: Settings<'cluster-dns' | 'cluster-domain' | 'service-cidr'>) {
  return {
    clusterDNS: settings['cluster-dns'] ?? clusterDnsIP(settings['service-cidr']),
    clusterDomain: settings['cluster-domain'],
    resolvConf: hostResolvConf(),
  };
}

/** Returns the node's DNS server. `informers` are not started yet. */
export function createNodeDns(
  { clock, random, log, exec, rules }: NodeContext & { readonly rules: RuleKeeper },
  settings: DnsSettings,
  informers: InformerFactory,
  { hostAddresses, furtherRanges }: Pick<ClusterDnsOptions, 'hostAddresses' | 'furtherRanges'>,
): ClusterDns {
  const { clusterDNS, clusterDomain, resolvConf } = podDns(settings);
  return createClusterDns({
    informers,
    exec,
    rules,
    clock,
    log: log.named('dns'),
    random: () => random.next(),
    messageId: () => randomInt(2 ** 16),
    domain: clusterDomain,
    address: clusterDNS,
    networks: [...settings['service-cidr'].split(','), ...settings['cluster-cidr'].split(',')],
    podLinks: `${defaultNames.linkPrefix}*`,
    resolvConf,
    upstream: settings['dns-upstream'] ?? [],
    hostAddresses,
    ...(furtherRanges && { furtherRanges }),
  });
}

const resolvedFile = '/run/systemd/resolve/resolv.conf';

/**
 * Returns the path of the resolver configuration whose servers pods can use. systemd-resolved writes a
 * loopback address into the usual file, and the upstream servers into another one; inside a pod, a loopback
 * address is the pod itself.
 */
export function hostResolvConf(): string {
  const usual = '/etc/resolv.conf';
  if (!existsSync(usual) || !existsSync(resolvedFile)) return usual;
  const { nameservers } = parseResolvConf(readFileSync(usual, 'utf8'));
  return nameservers.length > 0 && nameservers.every((one) => addressKind(one) === 'loopback')
    ? resolvedFile
    : usual;
}
