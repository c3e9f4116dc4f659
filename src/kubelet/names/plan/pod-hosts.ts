/** A pod's host name and its /etc/hosts (pkg/kubelet kubelet_pods.go, pkg/kubelet/util). Pure. */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';

/** Maximum length of a fully qualified host name in the kernel. */
const maxFullNameLength = 64;

/** Returns the host name: at most 63 characters, the limit of the kernel and Kubernetes. */
export function podHostname(pod: Pod): string {
  return (pod.spec.hostname || pod.metadata.name).slice(0, 63).replace(/[-.]+$/, '');
}

/** Returns the domain of a pod with a subdomain; undefined without one. */
function podDomain({ spec: { subdomain }, metadata: { namespace } }: Pod, clusterDomain: string) {
  return subdomain ? `${subdomain}.${namespace}.svc.${clusterDomain}` : undefined;
}

/**
 * Returns the kernel's host name in the pod, unless the pod is in the host's network. Throws when it must be
 * fully qualified and is longer than the kernel accepts.
 */
export function kernelHostname(pod: Pod, clusterDomain: string): string {
  const hostname = podHostname(pod);
  const domain = podDomain(pod, clusterDomain);
  const { setHostnameAsFQDN, hostNetwork } = pod.spec;
  if (domain === undefined || setHostnameAsFQDN !== true || hostNetwork === true) return hostname;
  const full = `${hostname}.${domain}`;
  if (full.length <= maxFullNameLength) return full;
  throw new Error(
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (${maxFullNameLength} characters is the max, ${full.length} characters requested)`,
  );
}

export interface HostsFacts {
  /** Addresses of the pod; empty for a pod in the host's network. */
  readonly podIPs: readonly string[];
  readonly clusterDomain: string;
  /** The machine's own /etc/hosts, which a pod in the host's network gets too. */
  readonly hostHosts: string;
}

export function renderHosts(pod: Pod, { podIPs, clusterDomain, hostHosts }: HostsFacts): string {
  const own = podIPs.length === 0 ? `${hostHeader}${hostHosts}` : ownHosts(pod, podIPs, clusterDomain);
  const aliases = (pod.spec.hostAliases ?? []).map(
    ({ ip, hostnames = [] }) => `${[ip, ...hostnames].join('\t')}\n`,
  );
  return aliases.length === 0 ? own : `${own}\n# Entries added by HostAliases.\n${aliases.join('')}`;
}

const hostHeader = '# Kubernetes-managed hosts file (host network).\n';

/** Returns the hosts file, with the fully qualified name when the pod has a subdomain. */
function ownHosts(pod: Pod, podIPs: readonly string[], clusterDomain: string): string {
  const hostname = podHostname(pod);
  const domain = podDomain(pod, clusterDomain);
  const names = domain === undefined ? [hostname] : [`${hostname}.${domain}`, hostname];
  const lines = [
    '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::0\tip6-localnet',
    'fe00::0\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
    ...podIPs.map((ip) => [ip, ...names].join('\t')),
  ];
  return `${lines.join('\n')}\n`;
}
