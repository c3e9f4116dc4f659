/** The files by which a pod resolves names: /etc/hosts and /etc/resolv.conf (pkg/kubelet/network/dns). */
import type { Pod } from '../../api/core/v1/pod.ts';

export interface DnsFacts {
  /** Address of the cluster's DNS; undefined when the cluster has none. */
  readonly clusterDNS: string | undefined;
  /** Such as `cluster.local`. */
  readonly clusterDomain: string;
  /** The machine's own resolv.conf. */
  readonly hostResolvConf: string;
}

/** At most 63 characters, as the kernel and Kubernetes take it. */
export function podHostname(pod: Pod): string {
  return (pod.spec.hostname || pod.metadata.name).slice(0, 63).replace(/[-.]+$/, '');
}

export function renderHosts(pod: Pod, podIP: string): string {
  const lines = [
    '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::0\tip6-localnet',
    'fe00::0\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
    `${podIP}\t${podHostname(pod)}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** `ClusterFirst` in the host's network means `Default`, as in Kubernetes. */
export function renderResolvConf(pod: Pod, { clusterDNS, clusterDomain, hostResolvConf }: DnsFacts): string {
  const { dnsPolicy, hostNetwork } = pod.spec;
  const usesCluster =
    dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork);
  if (dnsPolicy === 'None') return '';
  if (!usesCluster || clusterDNS === undefined) return hostResolvConf;
  const own = [`${pod.metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  const search = [...own, ...hostSearch(hostResolvConf).filter((domain) => !own.includes(domain))];
  return `search ${search.join(' ')}\nnameserver ${clusterDNS}\noptions ndots:5\n`;
}

function hostSearch(resolvConf: string): readonly string[] {
  const last = resolvConf
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .findLast(([keyword]) => keyword === 'search' || keyword === 'domain');
  return last?.slice(1).filter((domain) => domain !== '.') ?? [];
}
