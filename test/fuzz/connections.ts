/** Connections of this machine, from /proc. */
import { readFileSync } from 'node:fs';

/** States of connections that are established, or not yet closed by the server. */
const open = new Set(['01', '08']);

export function openConnections(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, at, , state]) => at?.endsWith(local) && open.has(state ?? '')).length;
}
