/** Sockets that listen, in the output of `ss -Hlntup`. Pure. */

/** A socket that listens. */
export interface Listener {
  readonly protocol: 'tcp' | 'udp';
  readonly address: string;
  readonly port: number;
  /** Absent for a socket of the kernel, and without root for one of another user. */
  readonly process?: { readonly pid: number; readonly program: string } & ProcessHome;
}

/** The service or the container of a process. */
export interface ProcessHome {
  /** Its systemd service. */
  readonly unit?: string;
  /** Id of its container. */
  readonly container?: string;
}

/** Returns the sockets. `homeOf` returns where a process runs. */
export function listenersIn(text: string, homeOf: (pid: number) => ProcessHome): readonly Listener[] {
  return text.split('\n').flatMap((line) => {
    const [protocol, , , , local = '', , users = ''] = line.trim().split(/\s+/);
    if (protocol !== 'tcp' && protocol !== 'udp') return [];
    const colon = local.lastIndexOf(':');
    const [, program, pid] = /\(\("([^"]*)",pid=(\d+)/.exec(users) ?? [];
    // A link may follow the address: 10.0.0.1%eth0.
    const address = local.slice(0, colon).replace(/%.*$/, '');
    const process = program !== undefined && {
      process: { pid: Number(pid), program, ...homeOf(Number(pid)) },
    };
    return [{ protocol, address, port: Number(local.slice(colon + 1)), ...process }];
  });
}

/** Returns where a process runs, from /proc/PID/cgroup. */
export function homeIn(cgroup: string): ProcessHome {
  const [, container] = /\/(?:docker-)?([0-9a-f]{64})(?:\.scope)?(?:\/|$)/m.exec(cgroup) ?? [];
  if (container !== undefined) return { container };
  const [, unit] = /\/system\.slice\/(?:\S*\/)?([^/\s]+\.service)(?:\/|$)/m.exec(cgroup) ?? [];
  return unit === undefined ? {} : { unit };
}
