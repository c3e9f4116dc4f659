/** Names of kernel parameters, and their namespaces (upstream: component-helpers node/util/sysctl). */

export type SysctlNamespace = 'Net' | 'IPC';

const ofIPC = new Set([
  ...[
    'kernel.sem',
    'kernel.shm',
    'kernel.shmall',
    'kernel.shmmax',
    'kernel.shmmni',
    'kernel.shm_rmid_forced',
  ],
  ...['kernel.msg', 'kernel.msgmax', 'kernel.msgmnb', 'kernel.msgmni'],
]);

/**
 * Returns undefined for a parameter of the machine, or of an unknown namespace. `name` has dots, and may end
 * in `*`.
 */
export function sysctlNamespace(name: string): SysctlNamespace | undefined {
  const [start = ''] = name.split('*', 1);
  if (ofIPC.has(start) || start.startsWith('fs.mqueue.')) return 'IPC';
  return start.startsWith('net.') ? 'Net' : undefined;
}

/**
 * Returns the name with dots, as sysctl(8) reads names: if the first separator is a slash, slashes separate
 * and dots are part of a name.
 */
export function dottedSysctl(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
