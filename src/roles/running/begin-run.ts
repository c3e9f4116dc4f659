/** The beginning and the end of a role's run, as `status`, `stop` and `logs` find them. */
import { systemClock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { rfc3339 } from '../../base/time.ts';
import { version } from '../../base/version.ts';
import type { Role } from '../../installation/plan/role.ts';
import { logPlaceOf } from '../log-file.ts';
import type { Settings } from '../settings/setting-table.ts';
import { writeRunRecord } from './run-record.ts';

export interface Run {
  readonly role: Role;
  readonly settings: Settings<'data-dir' | 'log-file'> & Partial<Settings<'docker-socket'>>;
  readonly configFile: string;
  readonly nodeName?: string;
  readonly servers?: readonly string[];
}

/**
 * Writes the record of this run. Must be called while this process holds the data directory. Resolves to the
 * problem if the record cannot be written, as on a full disk: the role runs without it.
 */
export async function beginRun(run: Run): Promise<string | undefined> {
  const { role, settings, configFile, nodeName, servers } = run;
  const record = {
    ...{ role, configFile, version: version(), startedAt: rfc3339(systemClock.now()) },
    ...(settings['docker-socket'] !== undefined && { dockerSocket: settings['docker-socket'] }),
    ...(nodeName !== undefined && { nodeName }),
    ...(servers !== undefined && { servers }),
    log: logPlaceOf(settings),
  };
  return writeRunRecord(settings['data-dir'], record).then(() => undefined, errorMessage);
}

/** Logs the problem of `beginRun`. */
export function logRunProblem(log: Logger, problem: string | undefined): void {
  if (problem !== undefined)
    log.warn('minik8s status and logs have no record of this run', { error: problem });
}

/**
 * Writes the error that ends the process to the file of --log-file, and returns it. Without a file, the error
 * is printed where the log is.
 */
export function loggedEnd(log: Logger, settings: Settings<'log-file'>, error: unknown): unknown {
  if (settings['log-file'] !== undefined) log.error('minik8s ends', { error: errorMessage(error) });
  return error;
}
