/** Sysctls of a pod's own namespaces (upstream: pkg/kubelet/sysctl). */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import {
  dottedSysctl,
  type SysctlNamespace,
  sysctlNamespace,
} from '../../../api/core/v1/pod/sysctl-names.ts';

/**
 * Sysctls that cannot harm other pods or the node, which upstream allows by default. All of them are
 * namespaced since Linux 4.15.
 */
const safe: ReadonlyMap<string, SysctlNamespace> = new Map([
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

/** Returns the pod's sysctls by their names with dots. */
export function sysctlsOf({ spec }: Pod): Readonly<Record<string, string>> {
  const sysctls = spec.securityContext.sysctls ?? [];
  return Object.fromEntries(sysctls.map(({ name, value }) => [dottedSysctl(name), value]));
}

/**
 * Sysctls that an administrator allows in addition, at their own risk: one name, or all names with a prefix.
 */
export interface SysctlPattern {
  /** Name or prefix, with dots. */
  readonly start: string;
  readonly isPrefix: boolean;
  readonly namespace: SysctlNamespace;
}

const maxPatternLength = 253;
const segment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const pattern = new RegExp(`^(${segment}[\\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]$`);

/**
 * Parses a list such as `kernel.msg*,net.core.somaxconn`. Throws an Error for an invalid list, and for a
 * sysctl that is not namespaced.
 */
export function parseUnsafeSysctls(text: string): readonly SysctlPattern[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      if (part.length > maxPatternLength || !pattern.test(part))
        throw new Error(
          `sysctl ${JSON.stringify(part)}: expected a name, or the start of names with * after it`,
        );
      const name = dottedSysctl(part);
      const namespace = sysctlNamespace(name);
      if (!namespace)
        throw new Error(`sysctl ${JSON.stringify(part)}: not known to be of a pod's own namespace`);
      const isPrefix = name.endsWith('*');
      return { start: isPrefix ? name.slice(0, -1) : name, isPrefix, namespace };
    });
}

/**
 * Returns the reason why the pod is rejected; undefined when each of its sysctls is allowed and belongs to a
 * namespace of the pod's own.
 */
export function forbiddenSysctl(pod: Pod, unsafe: readonly SysctlPattern[] = []): string | undefined {
  for (const name of Object.keys(sysctlsOf(pod))) {
    const namespace = safe.get(name) ?? unsafe.find((allowed) => isAllowed(allowed, name))?.namespace;
    if (!namespace) return `forbidden sysctl: ${JSON.stringify(name)} not allowlisted`;
    const shared = namespace === 'Net' ? pod.spec.hostNetwork : pod.spec.hostIPC;
    if (shared) {
      return `forbidden sysctl: ${JSON.stringify(name)} not allowed with host ${namespace} enabled`;
    }
  }
  return undefined;
}

const isAllowed = ({ start, isPrefix }: SysctlPattern, name: string) =>
  isPrefix ? name.startsWith(start) : name === start;
