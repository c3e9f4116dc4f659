/** Names of kernel parameters, and of whose namespace each is (upstream: component-helpers node/util/sysctl). */

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

/** Undefined for one that is the machine's, or of which it is not known. `name` has dots, and may end in `*`. */
export function sysctlNamespace(name: string): SysctlNamespace | undefined {
  const [start = ''] = name.split('*', 1);
  if (ofIPC.has(start) || start.startsWith('fs.mqueue.')) return 'IPC';
  return start.startsWith('net.') ? 'Net' : undefined;
}

/** As sysctl(8) reads names: where the first separator is a slash, slashes separate and dots belong to a name. */
export function dottedSysctl(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
