/** Snapshots of the database of etcd, as files. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Exec } from '../os/exec.ts';
import type { MemberRpc } from '../storage/etcd-rpc.ts';
import type { WriteOptions } from './archive.ts';
import { withRoom } from './archive-limits.ts';
import type { Member } from './manifest.ts';

/** Number of bytes of the digest that etcd sends after the database. */
const digestBytes = 32;

/**
 * Writes a snapshot into a new file, readable by its owner alone. Rejects if the connection ends before the
 * digest, or the digest is not that of the database.
 */
export async function saveSnapshot(
  member: Pick<MemberRpc, 'snapshot'>,
  path: string,
  { signal, disk }: WriteOptions = {},
): Promise<Member> {
  const database = createHash('sha256');
  let size = 0;
  /** The last bytes so far: they may be the digest. */
  let held: Buffer = Buffer.alloc(0);
  async function* parts() {
    for await (const part of member.snapshot(signal)) {
      size += part.length;
      const late = part.length < digestBytes ? Buffer.concat([held, part]) : part;
      if (late === part) database.update(held);
      const end = Math.max(0, late.length - digestBytes);
      database.update(late.subarray(0, end));
      held = late.subarray(end);
      yield part;
    }
  }
  const stopped = signal ? { signal } : {};
  const source = disk ? withRoom(parts(), disk) : parts();
  await pipeline(source, createWriteStream(path, { flags: 'wx', mode: 0o600 }), stopped);
  const whole = database.copy().update(held);
  if (!database.digest().equals(held)) throw new Error('etcd sent an incomplete snapshot of its database');
  return { size, sha256: whole.digest('hex') };
}

export interface DatabaseStatus {
  readonly revision: number;
  /** Number of keys that exist at the revision. */
  readonly keys: number;
  /** Version of etcd that wrote it, such as 3.7.0; empty for a database that is only seconds old. */
  readonly version: string;
}

/**
 * Checks every page of a database, and resolves to its contents in numbers. `binary` is the embedded etcd.
 */
export async function databaseStatus(
  exec: Exec,
  binary: string,
  path: string,
  signal?: AbortSignal,
): Promise<DatabaseStatus> {
  const options = { env: {}, lengthy: true, ...(signal && { signal }) };
  const { stdout } = await exec(binary, ['database-status', path], options);
  return JSON.parse(stdout);
}
