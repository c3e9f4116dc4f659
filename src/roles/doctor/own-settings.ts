/**
 * Settings and situation of this machine: those of the running minik8s, or those in its configuration file.
 */
import { accessSync, constants, existsSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { UsageError } from '../../base/usage-error.ts';
import type { Situation } from '../../doctor/situation.ts';
import { packageManagerOf, readInstalled } from '../../installation/machine-facts.ts';
import type { Installed } from '../../installation/plan/installed.ts';
import { configFileOf, type Role, runsPods } from '../../installation/plan/role.ts';
import { serviceHere } from '../../installation/services.ts';
import { clusterDnsIP } from '../../kube-apiserver/bootstrap.ts';
import type { Exec } from '../../os/exec.ts';
import { holderOf } from '../data-directory.ts';
import { hostAddress } from '../host-address.ts';
import { settingTable } from '../settings/setting-table.ts';
import { readSettings } from '../settings/settings.ts';
import { webPortsOf } from '../worker/web-ports.ts';
import { flagsIn, type RunningProcess, restartCommand, roleIn } from './running-command.ts';

/** Settings that decide what is expected of a machine. */
const names = [
  ...(['data-dir', 'docker-socket', 'port', 'bind-address', 'kubelet-port', 'overlay'] as const),
  ...(['http-port', 'https-port', 'serve-ingress'] as const),
  ...(['cluster-cidr', 'service-cidr', 'cluster-dns', 'cluster-domain', 'node-ip', 'node-name'] as const),
] as const;
type Name = (typeof names)[number];
const rows = Object.fromEntries(names.map((name) => [name, settingTable[name]])) as Pick<
  typeof settingTable,
  Name
>;

export interface OwnMachine {
  readonly situation: Situation;
  /** Name of the node that this machine is while minik8s runs here; absent otherwise. */
  readonly nodeName?: string;
  /** Fault of the configuration file; defaults are used instead of the file. */
  readonly problem?: string;
}

/** Reads the situation; `given` are the settings among the flags of the doctor, which take precedence. */
export async function readOwnMachine(
  given: Readonly<Record<string, string>>,
  exec: Exec,
  now: number,
): Promise<OwnMachine> {
  const installed = await readInstalled().catch(withoutRights);
  const configured = settingsOf(installed?.role, given);
  const running = runningIn(configured.settings['data-dir']);
  const role = roleIn(running?.words ?? []) ?? installed?.role;
  const flags = flagsIn(running?.words ?? [], [...names, 'config']);
  const { settings, problem } = settingsOf(role, { ...flags, ...given });
  const packageManager = await packageManagerOf(exec);
  const hasNode = role === undefined || runsPods(role);
  return {
    ...(running && hasNode && { nodeName: settings['node-name'] ?? hostname().toLowerCase() }),
    ...(problem !== undefined && { problem }),
    situation: {
      ...situationOf(settings),
      ...{ hasMaster: role !== 'node', hasNode, now },
      ...(running && { pid: running.pid }),
      ...(packageManager && { packageManager }),
      nodeIP: settings['node-ip'] ?? (await hostAddress()),
      restart: restartCommand(serviceOf(installed), running, role),
    },
  };
}

const serviceOf = (installed: Installed | undefined) => (installed ? serviceHere() : undefined);

const situationOf = (settings: Values) => ({
  dataDir: settings['data-dir'],
  dockerSocket: settings['docker-socket'],
  port: settings.port,
  kubeletPort: settings['kubelet-port'],
  bindAddress: settings['bind-address'],
  clusterCIDR: settings['cluster-cidr'],
  serviceCIDR: settings['service-cidr'],
  clusterDNS: settings['cluster-dns'] ?? clusterDnsIP(settings['service-cidr']),
  clusterDomain: settings['cluster-domain'],
  overlay: settings.overlay,
  webPorts: webPortsOf(settings),
});

type Values = ReturnType<typeof readFrom>;

/**
 * Returns the settings of the role; other keys of its file are not read. Defaults take the place of a file
 * that is damaged, or that this user may not read. Throws UsageError for a wrong flag or variable.
 */
function settingsOf(
  role: Role | undefined,
  flags: Readonly<Record<string, string>>,
): { readonly settings: Values; readonly problem?: string } {
  const isNode = role === 'node' || (role === undefined && !existsSync(configFileOf.master));
  const { config = isNode ? configFileOf.node : configFileOf.master, ...others } = flags;
  if (!isReadable(config)) return { settings: readFrom(noFile, others) };
  try {
    return { settings: readFrom(config, others) };
  } catch (error) {
    if (!(error instanceof UsageError) || !error.message.startsWith(`${config}:`)) throw error;
    return { settings: readFrom(noFile, others), problem: error.message };
  }
}

const noFile = '/dev/null';

const readFrom = (config: string, flags: Readonly<Record<string, string>>) =>
  readSettings(rows, {
    ...{ command: 'minik8s doctor', configFile: config, environment: process.env },
    flags: { ...flags, config },
    translate: (content) => ({
      ...(content.name !== undefined && { 'node-name': content.name }),
      ...Object.fromEntries(Object.entries(content).filter(([key]) => Object.hasOwn(rows, key))),
    }),
  });

/** Returns undefined for the error of a file that this user may not read; throws any other error. */
function withoutRights(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EACCES') throw error;
}

/** Returns the minik8s that holds the lock of the directory; undefined if this user may not read the lock. */
function runningIn(dataDir: string): RunningProcess | undefined {
  try {
    const pid = holderOf(dataDir);
    return pid === undefined ? undefined : { pid, words: wordsOf(pid) };
  } catch (error) {
    return withoutRights(error as NodeJS.ErrnoException);
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the program and the arguments of the process; an empty list if this user may not read them. */
function wordsOf(pid: number): readonly string[] {
  try {
    const [, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    return [readlinkSync(`/proc/${pid}/exe`), ...args];
  } catch {
    return [];
  }
}
