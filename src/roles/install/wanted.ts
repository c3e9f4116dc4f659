/** Request of a user of `minik8s install`: the role, its settings, and the text of its configuration file. */
import { readFile } from 'node:fs/promises';
import { UsageError } from '../../base/usage-error.ts';
import { configFileOf, type Role, usualDockerSocket } from '../../installation/plan/role.ts';
import { stopSecondsFor } from '../../installation/plan/systemd-unit.ts';
import type { SettingRows } from '../../settings/definition.ts';
import { masterRows } from '../master.ts';
import { withSettings } from '../settings/config-text.ts';
import { nodeRows, readNodeConfig } from '../settings/node-config.ts';
import { readSettings } from '../settings/settings.ts';
import { upRows } from '../up.ts';

export const rowsOf: Readonly<Record<Role, SettingRows>> = {
  up: upRows,
  master: masterRows,
  node: nodeRows,
};

export interface Wanted {
  readonly role: Role;
  readonly dataDir: string;
  readonly dockerSocket: string;
  /** Text of the configuration file with all settings that were given. */
  readonly config: string;
  /** Timeout of the service's stop in seconds. */
  readonly stopSeconds: number;
}

export interface WantedSources {
  /** Flags by name, in citty's form. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads and checks the settings. They are flags, variables of the environment and those of the configuration
 * file, which is the role's own or the one that `--config` names. Throws UsageError that names what is wrong.
 */
export async function readWanted(role: Role, { flags, environment }: WantedSources): Promise<Wanted> {
  const path = configFileOf[role];
  const named = flags.config ?? environment.MINIK8S_CONFIG;
  const from = typeof named === 'string' ? named : path;
  const given = givenSettings(role, { flags, environment });
  const checked = { flags: { ...given, ...(typeof named === 'string' && { config: named }) }, environment };
  const settings = role === 'node' ? checkedNode(checked) : checkedMaster(role, path, checked);
  const text = await readFile(from, 'utf8').catch((error: NodeJS.ErrnoException) => {
    // checkedNode and checkedMaster have reported a file of --config that cannot be read.
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return {
    role,
    dataDir: settings['data-dir'],
    dockerSocket: settings['docker-socket'],
    config: withSettings(text, given, from),
    stopSeconds: stopSecondsFor(settings['shutdown-grace-period']),
  };
}

/** Returns the settings that flags and environment give, as text by name. */
function givenSettings(role: Role, { flags, environment }: WantedSources): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name of Object.keys(rowsOf[role])) {
    const value = flags[name] ?? environment[`MINIK8S_${name.toUpperCase().replaceAll('-', '_')}`];
    if (typeof value === 'string') given[name] = value;
  }
  if (role === 'node' && typeof flags.join === 'string') {
    if (given.server !== undefined)
      throw new UsageError('--join and --server are the same: give one of them');
    given.server = flags.join;
  }
  return given;
}

function checkedNode(sources: WantedSources) {
  const settings = readNodeConfig({
    ...sources,
    warn: (message) => process.stderr.write(`warning: ${message}\n`),
  });
  if (settings.server !== undefined) return settings;
  throw new UsageError(
    'no cluster is given to join: run minik8s token create --print-install-command on a master, and its output here',
  );
}

/** A master without pods has no Docker socket; reset uses the usual one. */
function checkedMaster(role: 'up' | 'master', configFile: string, sources: WantedSources) {
  const command = `minik8s ${role}`;
  if (role === 'up') return readSettings(upRows, { ...sources, command, configFile });
  const settings = readSettings(masterRows, { ...sources, command, configFile });
  return { ...settings, 'docker-socket': usualDockerSocket, 'shutdown-grace-period': 0 };
}
