/** Facts about a minik8s that does not run here: its last run, its data, and the command that starts it. */
import { errorMessage } from '../../base/log.ts';
import { readInstalled } from '../../installation/machine-facts.ts';
import { type Service, serviceCommand } from '../../installation/plan/service-manager.ts';
import { controlHere, serviceHere } from '../../installation/services.ts';
import { systemExec } from '../../os/exec.ts';
import { settingTable } from '../settings/setting-table.ts';
import type { OwnProcess } from './processes.ts';
import { type RunRecord, readRunRecord } from './run-record.ts';
import { commandFor, otherRoleText, type Target } from './targets.ts';

export interface Absence {
  readonly target: Target;
  readonly dataDir: string;
  readonly hasData: boolean;
  /** Service that an installation has made for the directory. */
  readonly service?: Service;
  readonly lastRun?: RunRecord;
  /** Error with which the service has ended. */
  readonly lastError?: string;
  /** Reason why this user cannot see the data. */
  readonly problem?: string;
}

/** Reads the data directory that the flags name, else that of the installation, else the default one. */
export async function readAbsence(target: Target, exists: (path: string) => boolean): Promise<Absence> {
  const installed = await readInstalled().catch(() => undefined);
  const dataDir =
    target.dataDir ??
    installed?.dataDir ??
    (process.env.MINIK8S_DATA_DIR || settingTable['data-dir'].default);
  const service = installed?.dataDir === dataDir ? serviceHere() : undefined;
  const lastError =
    service &&
    (await controlHere()
      .lastError(systemExec)
      .catch(() => undefined));
  const base = {
    ...{ target, dataDir, hasData: exists(dataDir), ...(service && { service }) },
    ...(lastError !== undefined && { lastError }),
  };
  try {
    const lastRun = await readRunRecord(dataDir);
    return { ...base, ...(lastRun && { lastRun }) };
  } catch (error) {
    return { ...base, problem: errorMessage(error) };
  }
}

/**
 * Returns the report about a minik8s that does not run, with the command that starts it. `others` run in
 * another role than the wanted one; the report then has the command that shows each of them instead.
 */
export function noneText(absence: Absence, others: readonly OwnProcess[] = []): string {
  const { target, dataDir, hasData, service, lastRun } = absence;
  const as = target.role === undefined ? 'minik8s' : `minik8s ${target.role}`;
  const role = target.role ?? lastRun?.role ?? 'up';
  const own = dataDir === settingTable['data-dir'].default ? '' : ` --data-dir ${dataDir}`;
  const data = hasData
    ? `${dataDir} holds a cluster's data`
    : `${dataDir} does not exist: nothing was started yet`;
  const lines = [
    `${as}: not running`,
    `  data       ${data}`,
    ...(lastRun
      ? [`  last run   ${lastRun.role}, version ${lastRun.version}, from ${lastRun.startedAt}`]
      : []),
    ...troublesOf(absence),
    ...others.map((one) => `  runs here  ${otherRoleText(one, role)}`),
    'next:',
    ...(others.length > 0
      ? others.map((one) => `  ${commandFor('status', one)}`)
      : [service ? `  ${serviceCommand(service, 'start')}` : `  minik8s ${role}${own}`]),
    ...(lastRun ? [`  minik8s logs${own} --tail 50`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

const troublesOf = ({ lastError, problem }: Absence): readonly string[] => [
  ...(lastError === undefined ? [] : [`  last error ${lastError}`]),
  ...(problem === undefined ? [] : [`  unknown    its last run (${problem}): sudo minik8s status`]),
];
