/** The command line of the minik8s that runs: its role, its settings, and how it is started again. */

import { quoted } from '../../base/shell-words.ts';
import { type Role, roles } from '../../installation/plan/role.ts';
import { type Service, serviceCommand } from '../../installation/plan/service-manager.ts';

/**
 * Returns the role among the arguments of a process: the first role name, since flags come after the role.
 */
export function roleIn(words: readonly string[]): Role | undefined {
  for (const word of words) {
    const role = roles.find((one) => one === word);
    if (role !== undefined) return role;
  }
  return undefined;
}

/** Returns the values of the named flags, each in the form `--port 6443` or `--port=6443`. */
export function flagsIn(
  words: readonly string[],
  names: readonly string[],
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [index, word] of words.entries()) {
    const [, name = '', value = words[index + 1]] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (value !== undefined && names.includes(name)) found[name] = value;
  }
  return found;
}

export interface RunningProcess {
  readonly pid: number;
  /** Its program and its arguments; empty if they may not be read. */
  readonly words: readonly string[];
}

/**
 * Returns the command that restarts the service, or else the one that starts the process as it was started.
 */
export function restartCommand(
  service: Service | undefined,
  running: RunningProcess | undefined,
  role: Role | undefined,
): string {
  if (service) return serviceCommand(service, 'restart');
  if (!running || running.words.length === 0) return `minik8s ${role ?? 'up'}`;
  const { pid, words } = running;
  const start = words.map((word) => (/^[\w./:=,-]+$/.test(word) ? word : quoted(word))).join(' ');
  const wait = `while kill -0 ${pid} 2>/dev/null; do sleep 1; done`;
  return `kill ${pid}; ${wait}; (setsid ${start} >/var/log/minik8s.log 2>&1 </dev/null &)`;
}
