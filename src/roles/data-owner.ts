/** The kind of cluster member whose data a directory holds: a master and a node must not share one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '../installation/plan/role.ts';

/**
 * Throws if a machine of the other kind has used the directory: pods and credentials of its cluster would be
 * lost when this role starts.
 */
export function requireOwnData(dataDir: string, role: Role): void {
  const has = (...path: readonly string[]) => existsSync(join(dataDir, ...path));
  const other =
    role === 'node'
      ? has('pki') && 'this machine has been a master'
      : has('node', 'client.pem') && 'this machine has joined a cluster as a node';
  if (other === false) return;
  throw new Error(
    `${dataDir} shows that ${other}: run minik8s reset, which removes its pods and its data, or give another --data-dir`,
  );
}
