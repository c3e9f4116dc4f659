/**
 * Makes an etcd of one member from the data of one of several, whose others are lost. The data are restored
 * under a new cluster id, so that former members can neither join nor be joined, with revisions far above all
 * that the former cluster has acknowledged (extract.ts).
 *
 * - `recovered` beside the data is a copy in progress.
 * - The mark exists once `data.recovered` is complete and on disk. From then on the recovery is decided: if
 *   it is interrupted, the next start or the next recovery finishes it.
 */
import { cp, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Exec } from '../os/exec.ts';
import { replaceFile } from '../os/replace-file.ts';
import { memberName, peerUrl } from '../storage/etcd-process.ts';
import { dataOf, isThere } from '../storage/first-data.ts';
import { markFormat, serveOnce, syncTree } from '../storage/take-over.ts';
import { leastRevision } from './extract.ts';
import { type DatabaseStatus, databaseStatus } from './snapshot.ts';

export interface RecoveryOptions {
  /** Directory of the embedded etcd, whose master does not run. */
  readonly etcdDir: string;
  readonly etcdBinary: string;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const readyOf = (etcdDir: string) => join(etcdDir, 'data.recovered');
const markOf = (etcdDir: string) => join(etcdDir, 'recovering');
const databaseIn = (data: string) => join(data, 'member/snap/db');

/** Resolves to the content of the database, which may lack the last writes of a killed etcd. */
export const ownStatus = ({ etcdDir, etcdBinary, exec }: RecoveryOptions): Promise<DatabaseStatus> =>
  databaseStatus(exec, etcdBinary, databaseIn(dataOf(etcdDir)));

/** Recovers the data. The former data and the former member are kept beside them. */
export async function recover(options: RecoveryOptions): Promise<void> {
  const { etcdDir, etcdBinary, exec, clock, signal } = options;
  if (await finishRecovery(etcdDir, clock.now())) return;
  const [copy, ready] = [join(etcdDir, 'recovered'), readyOf(etcdDir)];
  for (const left of [copy, ready]) await rm(left, { recursive: true, force: true });
  await cp(dataOf(etcdDir), copy, { recursive: true });
  const directory = await open(etcdDir, 'r');
  try {
    // etcd applies the whole log, including entries that this member has not yet seen committed.
    const { revision } = await serveOnce(
      { dataDir: etcdDir, directory, clock, signal },
      etcdBinary,
      copy,
      true,
    );
    const least = String(leastRevision(Number(revision), clock.now()));
    const args = ['restore-backup', databaseIn(copy), ready, memberName, peerUrl, String(clock.now()), least];
    await exec(etcdBinary, args, { env: {}, lengthy: true, signal });
    await syncTree(ready);
    await rm(copy, { recursive: true, force: true });
    await directory.sync();
  } finally {
    await directory.close();
  }
  await replaceFile(markOf(etcdDir), 'minik8s recover has replaced the data\n', { mode: 0o600 });
  await finishRecovery(etcdDir, clock.now());
}

/**
 * Finishes a recovery that is decided; resolves to false if there is none. Each step may be the one that an
 * interruption repeats.
 */
export async function finishRecovery(etcdDir: string, now: number): Promise<boolean> {
  if (!(await isThere(markOf(etcdDir)))) return false;
  const [data, ready, peers] = [dataOf(etcdDir), readyOf(etcdDir), join(etcdDir, 'peers')];
  const aside = (path: string) => `${path}.before-recover-${now}`;
  if (await isThere(ready)) {
    if (await isThere(data)) await rename(data, aside(data));
    await markFormat(etcdDir, ready);
    await rename(ready, data);
  }
  if (await isThere(peers)) await rename(peers, aside(peers));
  await using directory = await open(etcdDir, 'r');
  await directory.sync();
  await rm(markOf(etcdDir));
  await directory.sync();
  return true;
}
