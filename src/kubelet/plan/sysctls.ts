/** Kernel parameters of a pod's own namespaces (upstream: pkg/kubelet/sysctl). */
import type { Pod } from '../../api/core/v1/pod.ts';

type Namespace = 'Net' | 'IPC';

/**
 * Those that cannot harm other pods or the node, which upstream allows by default. All are of a namespace
 * since Linux 4.15.
 */
const safe: ReadonlyMap<string, Namespace> = new Map([
  ['kernel.shm_rmid_forced', 'IPC'],
  ['net.ipv4.ip_local_port_range', 'Net'],
  ['net.ipv4.ip_local_reserved_ports', 'Net'],
  ['net.ipv4.ip_unprivileged_port_start', 'Net'],
  ['net.ipv4.ping_group_range', 'Net'],
  ['net.ipv4.tcp_fin_timeout', 'Net'],
  ['net.ipv4.tcp_keepalive_intvl', 'Net'],
  ['net.ipv4.tcp_keepalive_probes', 'Net'],
  ['net.ipv4.tcp_keepalive_time', 'Net'],
  ['net.ipv4.tcp_rmem', 'Net'],
  ['net.ipv4.tcp_syncookies', 'Net'],
  ['net.ipv4.tcp_wmem', 'Net'],
]);

/** By their names with dots. */
export function sysctlsOf({ spec }: Pod): Readonly<Record<string, string>> {
  const sysctls = spec.securityContext.sysctls ?? [];
  return Object.fromEntries(sysctls.map(({ name, value }) => [dotted(name), value]));
}

/** Why the pod is rejected; undefined when each of its sysctls is safe and belongs to a namespace of the pod's own. */
export function forbiddenSysctl(pod: Pod): string | undefined {
  for (const name of Object.keys(sysctlsOf(pod))) {
    const namespace = safe.get(name);
    if (!namespace) return `forbidden sysctl: ${JSON.stringify(name)} not allowlisted`;
    const shared = namespace === 'Net' ? pod.spec.hostNetwork : pod.spec.hostIPC;
    if (shared) {
      return `forbidden sysctl: ${JSON.stringify(name)} not allowed with host ${namespace} enabled`;
    }
  }
  return undefined;
}

/** As sysctl(8) reads names: where the first separator is a slash, slashes separate and dots belong to a name. */
function dotted(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
