/** The command that starts a minik8s again as it was started. */
import { readFileSync } from 'node:fs';
import { quoted } from '../../base/shell-words.ts';
import { serviceCommand } from '../../installation/plan/service-manager.ts';
import type { SettingRows } from '../../settings/definition.ts';
import { settingTable } from '../settings/setting-table.ts';
import type { OwnProcess } from './processes.ts';
import type { LogPlace } from './run-record.ts';

/** Names of the variables that are settings, without secret ones. */
const shown: ReadonlySet<string> = new Set([
  'MINIK8S_CONFIG',
  ...Object.entries<SettingRows[string]>(settingTable).flatMap(([name, { secret }]) =>
    secret ? [] : [`MINIK8S_${name.toUpperCase().replaceAll('-', '_')}`],
  ),
]);

/** Returns the settings in the text of /proc/PID/environ, without secret ones. */
export const settingsIn = (environment: string): readonly string[] =>
  environment.split('\0').filter((one) => shown.has(one.slice(0, one.indexOf('='))));

/** Returns the settings in the environment of a process; none without the rights to read them. */
export function environmentOf(pid: number): readonly string[] {
  try {
    return settingsIn(readFileSync(`/proc/${pid}/environ`, 'utf8'));
  } catch {
    return [];
  }
}

/** Returns the assignment in a shell. Quotes the value only: a shell takes a quoted name for a program. */
function assignment(variable: string): string {
  const end = variable.indexOf('=') + 1;
  return `${variable.slice(0, end)}${word(variable.slice(end))}`;
}

const word = (text: string) => (/^[\w./:=,@%+-]+$/.test(text) ? text : quoted(text));

/** Returns the shell command that starts the process again: in the background, or by its service. */
export function startCommand(
  { service, words }: Pick<OwnProcess, 'service' | 'words'>,
  environment: readonly string[],
  log: LogPlace | undefined,
): string {
  if (service) return serviceCommand(service, 'start');
  const variables = environment.map((one) => `${assignment(one)} `).join('');
  const command = words.map((one) => word(one.replace(/ \(deleted\)$/, ''))).join(' ');
  if (log?.kind === 'elsewhere') return `${variables}${command}`;
  const output = log?.kind === 'file' ? `>>${word(log.path)}` : '>/dev/null';
  return `${variables}setsid ${command} ${output} 2>&1 </dev/null &`;
}
