/** The choice of the minik8s that a command means, by --role and --data-dir. */
import { UsageError } from '../../base/usage-error.ts';
import type { Flags, FlagTable } from '../../cli/flags/flags.ts';
import { type Role, roles } from '../../installation/plan/role.ts';
import { machineFlags } from '../settings/machine-flags.ts';
import type { OwnProcess } from './processes.ts';

export const targetFlags = {
  role: {
    type: 'string',
    hint: 'up|master|node',
    about: 'only the minik8s with this role',
    values: roles,
  },
  'data-dir': {
    ...machineFlags['data-dir'],
    about: 'only the minik8s with this data directory',
    usual: 'any',
  },
} as const satisfies FlagTable;

export interface Target {
  readonly role?: Role;
  readonly dataDir?: string;
}

/** Throws UsageError for a role that does not exist. */
export function targetOf(flags: Flags): Target {
  const role = flags.oneOf('role', roles);
  const dataDir = flags.text('data-dir');
  if (dataDir !== undefined && !dataDir.startsWith('/'))
    throw new UsageError('--data-dir: expected a path from the root, such as /var/lib/minik8s');
  return {
    ...(role !== undefined && { role }),
    ...(dataDir !== undefined && { dataDir: dataDir.replace(/(?<=.)\/+$/, '') }),
  };
}

/** Returns the processes that the flags select; all of them without flags. */
export const selected = (
  processes: readonly OwnProcess[],
  { role, dataDir }: Target,
): readonly OwnProcess[] =>
  processes.filter(
    (one) => (role === undefined || one.role === role) && (dataDir === undefined || one.dataDir === dataDir),
  );

/**
 * Returns the processes that the flags leave out only because of their role. For the roles master and node
 * these include an `up`, which holds both roles.
 */
export const ofOtherRoles = (
  processes: readonly OwnProcess[],
  { role, dataDir }: Target,
): readonly OwnProcess[] =>
  selected(processes, dataDir === undefined ? {} : { dataDir }).filter((one) => one.role !== role);

/** Returns one line that names a process and says whether it holds the requested role. */
export function otherRoleText({ role, pid, dataDir }: OwnProcess, wanted: Role): string {
  const place = dataDir === undefined ? '' : ` in ${dataDir}`;
  const held = role === 'up' ? `, which holds the role ${wanted}` : '';
  return `minik8s ${role} (process ${pid})${place}${held}`;
}

/** Returns the command for exactly this process. */
export const commandFor = (command: string, { role, dataDir }: OwnProcess): string =>
  `minik8s ${command} ${dataDir === undefined ? `--role ${role}` : `--data-dir ${dataDir}`}`;

/**
 * Returns the only process that the flags select; undefined if there is none. Throws UsageError with the
 * exact command for each if there are several.
 */
export function onlyOne(
  processes: readonly OwnProcess[],
  target: Target,
  command: string,
): OwnProcess | undefined {
  const found = selected(processes, target);
  if (found.length <= 1) return found[0];
  const choices = found.map((one) =>
    one.dataDir === undefined
      ? `minik8s ${one.role} in (a directory that only root may see)`
      : commandFor(command, one),
  );
  throw new UsageError(`${found.length} minik8s run on this machine; say which: ${choices.join(', or ')}`);
}
