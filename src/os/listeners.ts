/** Sockets that listen, in the output of `ss -Hlntup`. Pure. */

/** A socket that listens. */
export interface Listener {
  readonly protocol: 'tcp' | 'udp';
  readonly address: string;
  readonly port: number;
  /** Absent for a socket of the kernel, and without root for one of another user. */
  readonly process?: { readonly pid: number; readonly program: string; readonly unit?: string };
}

/** Returns the sockets. `unitOf` returns the systemd unit of a process. */
export function listenersIn(text: string, unitOf: (pid: number) => string | undefined): readonly Listener[] {
  return text.split('\n').flatMap((line) => {
    const [protocol, , , , local = '', , users = ''] = line.trim().split(/\s+/);
    if (protocol !== 'tcp' && protocol !== 'udp') return [];
    const colon = local.lastIndexOf(':');
    const [, program, pid] = /\(\("([^"]*)",pid=(\d+)/.exec(users) ?? [];
    // A link may follow the address: 10.0.0.1%eth0.
    const address = local.slice(0, colon).replace(/%.*$/, '');
    const unit = pid === undefined ? undefined : unitOf(Number(pid));
    const process = program !== undefined && {
      process: { pid: Number(pid), program, ...(unit !== undefined && { unit }) },
    };
    return [{ protocol, address, port: Number(local.slice(colon + 1)), ...process }];
  });
}

/** Returns the systemd service of a process from /proc/PID/cgroup; undefined for one of no service. */
export function unitIn(cgroup: string): string | undefined {
  const [, unit] = /\/system\.slice\/(?:\S*\/)?([^/\s]+\.service)(?:\/|$)/m.exec(cgroup) ?? [];
  return unit;
}
