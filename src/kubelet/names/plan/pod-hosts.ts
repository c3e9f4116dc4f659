/** What a pod is called, and its /etc/hosts (pkg/kubelet kubelet_pods.go, pkg/kubelet/util). Pure. */
import type { Pod } from '../../../api/core/v1/pod.ts';

/** What the kernel takes for a name in full. */
const maxFullNameLength = 64;

/** At most 63 characters, as the kernel and Kubernetes take it. */
export function podHostname(pod: Pod): string {
  return (pod.spec.hostname || pod.metadata.name).slice(0, 63).replace(/[-.]+$/, '');
}

/** The domain below which a subdomain puts the pod; undefined without one. */
function podDomain({ spec: { subdomain }, metadata: { namespace } }: Pod, clusterDomain: string) {
  return subdomain ? `${subdomain}.${namespace}.svc.${clusterDomain}` : undefined;
}

/**
 * What `hostname` says in the pod, unless it is in the host's network. Throws when it is to be the name in full and the
 * kernel does not take one so long.
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
  /** Undefined for a pod in the host's network. */
  readonly podIP: string | undefined;
  readonly clusterDomain: string;
  /** The machine's own /etc/hosts, which a pod in its network has too. */
  readonly hostHosts: string;
}

export function renderHosts(pod: Pod, { podIP, clusterDomain, hostHosts }: HostsFacts): string {
  const own = podIP === undefined ? `${hostHeader}${hostHosts}` : ownHosts(pod, podIP, clusterDomain);
  const aliases = (pod.spec.hostAliases ?? []).map(
    ({ ip, hostnames = [] }) => `${[ip, ...hostnames].join('\t')}\n`,
  );
  return aliases.length === 0 ? own : `${own}\n# Entries added by HostAliases.\n${aliases.join('')}`;
}

const hostHeader = '# Kubernetes-managed hosts file (host network).\n';

/** With its name in full when a subdomain gives it one. */
function ownHosts(pod: Pod, podIP: string, clusterDomain: string): string {
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
    [podIP, ...names].join('\t'),
  ];
  return `${lines.join('\n')}\n`;
}
