/** Finds the log of the minik8s that the flags select: of the running process, or else of the last run. */
import { existsSync } from 'node:fs';
import { readAbsence } from '../running/absence.ts';
import { ownProcesses } from '../running/processes.ts';
import { type LogPlace, readRunRecord } from '../running/run-record.ts';
import { onlyOne, type Target } from '../running/targets.ts';

/** Rejects with an Error of one line if the log was not kept or cannot be found. */
export async function findLog(target: Target): Promise<Exclude<LogPlace, { kind: 'elsewhere' }>> {
  const found = onlyOne(ownProcesses(), target, 'logs');
  if (found !== undefined && found.dataDir === undefined)
    throw new Error(`only root may see where process ${found.pid} keeps its log: run sudo minik8s logs`);
  const absence = await readAbsence(
    found?.dataDir === undefined ? target : { dataDir: found.dataDir },
    existsSync,
  );
  if (absence.problem !== undefined) throw new Error(`${absence.problem}: run sudo minik8s logs`);
  const record = found?.dataDir === undefined ? absence.lastRun : await readRunRecord(found.dataDir);
  if (record === undefined)
    throw new Error(
      `${absence.dataDir} has no record of a run: minik8s did not run there, or was started by an older version; name another with --data-dir`,
    );
  return kept(record.log, found?.pid);
}

function kept(log: LogPlace, pid: number | undefined): Exclude<LogPlace, { kind: 'elsewhere' }> {
  if (log.kind !== 'elsewhere') return log;
  const whose = pid === undefined ? 'the last minik8s here' : `process ${pid}`;
  throw new Error(
    `the log of ${whose} goes to ${log.what}; start minik8s with --log-file /var/log/minik8s.log to keep it`,
  );
}
