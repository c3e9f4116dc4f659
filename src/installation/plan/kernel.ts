/** Kernel modules and parameters of a node, kept over a reboot. */

/** Modules: file systems of containers, links between nodes, rules of Services. */
export const modules = ['overlay', 'vxlan', 'nf_tables'] as const;

export const modulesFile = {
  path: '/etc/modules-load.d/minik8s.conf',
  content: `# Written by minik8s install: kernel modules of a node.\n${modules.join('\n')}\n`,
};

/**
 * Minimum values of kernel parameters. Without forwarding no packet leaves a pod; the kernel's 128 instances
 * of inotify for all programs of root are used up by some dozens of containers that watch files.
 */
export const sysctls: Readonly<Record<string, number>> = {
  'net.ipv4.ip_forward': 1,
  'fs.inotify.max_user_instances': 1024,
};

/**
 * Returns true for a parameter that uninstall sets back. Forwarding stays: Docker needs it, and switches it
 * on only at its own start.
 */
export const isRestored = (name: string): boolean => name !== 'net.ipv4.ip_forward';

/** The name begins with a low number, so that other files of the administrator take precedence. */
export const sysctlFile = {
  path: '/etc/sysctl.d/10-minik8s.conf',
  content: `# Written by minik8s install: kernel parameters of a node.\n${Object.entries(sysctls)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('')}`,
};

/** Directories of the files; a system without systemd may lack them. */
export const kernelDirectories: readonly string[] = ['/etc/modules-load.d', '/etc/sysctl.d'];

/** Returns the parameters that are lower than needed, with the value to set. */
export function lowSysctls(
  current: ReadonlyMap<string, string>,
): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(sysctls)
    .filter(([name, least]) => Number(current.get(name) ?? Number.NaN) < least)
    .map(([name, least]) => ({ name, value: String(least) }));
}
