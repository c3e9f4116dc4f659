/**
 * Finds the user with which the engine started a container's first program, including the groups from the
 * image. The engine's API does not report it, and the program may have changed its user since. It is in the
 * configuration of the container's shim, in the directory beside the shim's own.
 */
import { readFile } from 'node:fs/promises';
import { isRecord } from '../../apimachinery/equality.ts';
import type { LinuxUser } from './runtime.ts';

/**
 * Returns undefined where it cannot be read: the container has ended meanwhile, or another kind of runtime
 * runs it.
 */
export async function readFirstUser(id: string, pid: number): Promise<LinuxUser | undefined> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const [, shim] = /^PPid:\s*(\d+)$/m.exec(status) ?? [];
    return userIn(JSON.parse(await readFile(`/proc/${shim}/cwd/../${id}/config.json`, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Returns the user of an OCI runtime specification; undefined when it has none or an invalid one. */
export function userIn(specification: unknown): LinuxUser | undefined {
  const process = isRecord(specification) ? specification.process : undefined;
  const user = isRecord(process) ? process.user : undefined;
  if (!isRecord(user)) return undefined;
  const { uid = 0, gid = 0, additionalGids = [] } = user;
  const isNumber = (value: unknown): value is number => typeof value === 'number';
  if (!isNumber(uid) || !isNumber(gid) || !Array.isArray(additionalGids) || !additionalGids.every(isNumber))
    return undefined;
  return { uid, gid, supplementalGroups: additionalGids };
}
