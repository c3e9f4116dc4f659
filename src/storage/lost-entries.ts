/**
 * Entries that a write-ahead log has lost. etcd cuts the log at the first record that is torn, as a power
 * failure leaves one, and goes on. If the damage is further ahead, the database has more entries than the
 * log: etcd then applies no write, waits for a leader or for itself, and never ends.
 */
import { readFile, watch } from 'node:fs/promises';
import { errorMessage } from '../base/log.ts';
import { type Exec, ExecError } from '../os/exec.ts';
import { type EtcdEnd, firstWords, readEtcdOutput } from './etcd-output.ts';

/** Resolves to true once the log of a running etcd says that it waits; to false when the signal aborts. */
export async function untilWaiting(logFile: string, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const _ of watch(logFile, { signal }))
      if (readEtcdOutput(await readFile(logFile, 'utf8')).trouble === 'waiting') return true;
    return false;
  } catch {
    // Without a watch, such as beyond the limit of inotify, the start ends at its own time limit.
    return false;
  }
}

export interface LogEnd {
  /** Index of the last entry in the write-ahead log, and of the last one that is in the database. */
  readonly log: number;
  readonly database: number;
}

/**
 * Explains the end of an etcd that waited. Resolves to `end` without trouble if its log is complete, as on a
 * slow disk. etcd must have ended; `data` is its data directory.
 */
export async function explainWaiting(
  end: EtcdEnd,
  { binary, data, exec }: { readonly binary: string; readonly data: string; readonly exec: Exec },
): Promise<EtcdEnd> {
  if (end.trouble !== 'waiting') return end;
  try {
    const { stdout } = await exec(binary, ['log-end', data], { env: {}, lengthy: true });
    return endOfWaiting(end, JSON.parse(stdout));
  } catch (error) {
    const line = error instanceof ExecError ? firstWords(error.failure.stderr) : '';
    return { line: line || errorMessage(error), trouble: 'damaged' };
  }
}

/** Returns damage if the log ends before the database. */
export const endOfWaiting = ({ line }: EtcdEnd, { log, database }: LogEnd): EtcdEnd =>
  log < database
    ? {
        line: `the write-ahead log ends at entry ${log}, and the database at entry ${database}`,
        trouble: 'damaged',
      }
    : { line };
