/** Request of a user of `minik8s install`: the role, its settings, and the text of its configuration file. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import { configFileOf, type Role, usualDockerSocket } from '../../installation/plan/role.ts';
import { stopSecondsFor } from '../../installation/plan/systemd-unit.ts';
import { troubleAt } from '../../os/file-trouble.ts';
import type { SettingRows } from '../../settings/definition.ts';
import { masterRows } from '../master.ts';
import { readConfigText } from '../settings/config-file.ts';
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
  /** Names of the settings that come from environment variables. */
  readonly fromEnvironment: readonly string[];
  /** Timeout of the service's stop in seconds. */
  readonly stopSeconds: number;
  /** True if the settings name a log file. */
  readonly hasLogFile: boolean;
  /** The cluster that a node joins, and its name there. */
  readonly joins?: { readonly hash: string | undefined; readonly nodeName: string };
}

export interface WantedSources {
  /** Flags by name, in citty's form. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Directory that relative paths start from; the service runs in another one. */
  readonly directory: string;
  readonly warn: (message: string) => void;
}

/**
 * Reads and checks the settings. They come from flags, variables of the environment and a configuration file:
 * the file that `--config` names, or else the role's own file. The new configuration file is checked as well,
 * in the way in which the service will read it. Throws UsageError that names what is wrong.
 */
export async function readWanted(role: Role, sources: WantedSources): Promise<Wanted> {
  const { environment, flags, warn } = sources;
  const named = flags.config ?? environment.MINIK8S_CONFIG;
  const path = typeof named === 'string' ? named : configFileOf[role];
  const given = givenSettings(role, sources);
  // A file such as /dev/stdin can be read only once.
  const text = readConfigText(path, typeof named === 'string');
  await checked(role, { text, path }, { flags: given.flags, environment, warn }).catch((error) => {
    throw typeof flags.join === 'string' ? asJoin(error) : error;
  });
  const config = withSettings(text, { ...given.variables, ...given.flags }, path);
  const settings = await checked(
    role,
    { text: config, path },
    { flags: {}, environment: {}, warn: () => undefined },
  );
  const { 'docker-socket': dockerSocket } = settings;
  if (!dockerSocket.startsWith('/'))
    throw new UsageError(`${path}: docker-socket: expected a path from the root`);
  return {
    role,
    dataDir: settings['data-dir'],
    dockerSocket,
    config,
    fromEnvironment: Object.keys(given.variables),
    stopSeconds: stopSecondsFor(settings['shutdown-grace-period']),
    hasLogFile: settings['log-file'] !== undefined,
    ...('joins' in settings && { joins: settings.joins }),
  };
}

interface GivenSettings {
  /** Settings that come from flags, as text by name. */
  readonly flags: Readonly<Record<string, string>>;
  /** Settings that come from environment variables, since no flag gives them. */
  readonly variables: Readonly<Record<string, string>>;
}

function givenSettings(role: Role, { flags, environment, directory }: WantedSources): GivenSettings {
  const named = role === 'node' ? withJoin(flags) : flags;
  const given = { flags: {} as Record<string, string>, variables: {} as Record<string, string> };
  for (const [name, { hint, secret }] of Object.entries(rowsOf[role])) {
    const whole = (value: string) => (hint === 'FILE' && value !== '' ? resolve(directory, value) : value);
    const flag = secret ? undefined : named[name];
    const variable = environment[`MINIK8S_${name.toUpperCase().replaceAll('-', '_')}`];
    if (typeof flag === 'string') given.flags[name] = whole(flag);
    else if (variable !== undefined) given.variables[name] = whole(variable);
  }
  return given;
}

/** Returns the flags with `--join` as `--server`. */
function withJoin({ join: joined, ...others }: WantedSources['flags']): WantedSources['flags'] {
  if (typeof joined !== 'string') return others;
  if (others.server === undefined) return { ...others, server: joined };
  throw new UsageError('--join and --server are the same: give one of them');
}

/** Returns an error that names the flag as it was given. */
const asJoin = (error: unknown): unknown =>
  error instanceof UsageError ? new UsageError(error.message.replace(/^--server\b/, '--join')) : error;

type CheckSources = Omit<WantedSources, 'directory'>;

/**
 * Reads the settings with a configuration file of that text. Errors and warnings name the path, where the
 * file is or will be.
 */
async function checked(
  role: Role,
  { text, path }: { readonly text: string; readonly path: string },
  { flags, warn, ...sources }: CheckSources,
) {
  const folder = await mkdtemp(join(tmpdir(), 'minik8s-install-')).catch((error) => {
    throw troubleAt(tmpdir(), error);
  });
  const draft = join(folder, 'settings.yaml');
  const named = (message: string) => message.replaceAll(draft, path);
  try {
    await writeFile(draft, text, { mode: 0o600 }).catch((error) => {
      throw troubleAt(draft, error);
    });
    const all = {
      ...sources,
      flags: { ...flags, config: draft },
      warn: (message: string) => warn(named(message)),
    };
    return role === 'node' ? checkedNode(all) : checkedMaster(role, all);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(named(error.message));
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function checkedNode(sources: CheckSources) {
  const settings = readNodeConfig(sources);
  const joins = {
    hash: settings['ca-cert-hash'],
    nodeName: settings['node-name'] ?? hostname().toLowerCase(),
  };
  if (settings.server !== undefined) return { ...settings, joins };
  throw new UsageError(
    'no cluster is given to join: run minik8s token create --print-install-command on a master, and its output here',
  );
}

/** A master without pods has no Docker socket, and its stop waits for no pods. */
function checkedMaster(role: 'up' | 'master', { flags, environment }: CheckSources) {
  const sources = { flags, environment, command: `minik8s ${role}`, configFile: configFileOf[role] };
  if (role === 'up') return readSettings(upRows, sources);
  const settings = readSettings(masterRows, sources);
  return { ...settings, 'docker-socket': usualDockerSocket, 'shutdown-grace-period': 0 };
}
