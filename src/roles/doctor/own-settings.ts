/** The settings and the situation of this machine: of the minik8s that runs, or as it is configured. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Situation } from '../../doctor/situation.ts';
import { packageManagerOf, readInstalled } from '../../installation/machine-facts.ts';
import { configFileOf, type Role, roles, runsPods } from '../../installation/plan/role.ts';
import { unitName } from '../../installation/plan/systemd-unit.ts';
import { clusterDnsIP } from '../../kube-apiserver/bootstrap.ts';
import type { Exec } from '../../os/exec.ts';
import { quoted } from '../../os/quoted.ts';
import { holderOf } from '../data-directory.ts';
import { hostAddress } from '../host-address.ts';
import { settingTable } from '../settings/setting-table.ts';
import { readSettings } from '../settings/settings.ts';

/** Settings that decide what is expected of a machine. */
const names = [
  ...(['data-dir', 'docker-socket', 'port', 'bind-address', 'kubelet-port', 'overlay'] as const),
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
}

/** Reads the situation; `given` are the settings among the flags of the doctor, which take precedence. */
export async function readOwnMachine(
  given: Readonly<Record<string, string>>,
  exec: Exec,
  now: number,
): Promise<OwnMachine> {
  const installed = await readInstalled().catch(withoutRights);
  const configured = settingsOf(installed?.role, given);
  const pid = runningIn(configured['data-dir']);
  const words = pid === undefined ? [] : wordsOf(pid);
  const role = roles.find((one) => words.includes(one)) ?? installed?.role;
  const settings = settingsOf(role, { ...flagsIn(words), ...given });
  const packageManager = await packageManagerOf(exec);
  const hasNode = role === undefined || runsPods(role);
  const isRunningNode = pid !== undefined && hasNode;
  return {
    ...(isRunningNode && { nodeName: settings['node-name'] ?? hostname().toLowerCase() }),
    situation: {
      ...situationOf(settings),
      ...{ hasMaster: role !== 'node', hasNode, now },
      ...(pid !== undefined && { pid }),
      ...(packageManager && { packageManager }),
      nodeIP: settings['node-ip'] ?? (await hostAddress()),
      restart: restartCommand(installed !== undefined, pid, words, role),
    },
  };
}

const situationOf = (settings: ReturnType<typeof settingsOf>) => ({
  dataDir: settings['data-dir'],
  dockerSocket: settings['docker-socket'],
  port: settings.port,
  kubeletPort: settings['kubelet-port'],
  bindAddress: settings['bind-address'],
  clusterCIDR: settings['cluster-cidr'],
  clusterDNS: settings['cluster-dns'] ?? clusterDnsIP(settings['service-cidr']),
  clusterDomain: settings['cluster-domain'],
  overlay: settings.overlay,
});

/**
 * Returns the settings of the role; other keys of its file are not read. Defaults take the place of a file
 * that this user may not read.
 */
function settingsOf(role: Role | undefined, flags: Readonly<Record<string, string>>) {
  const isNode = role === 'node' || (role === undefined && !existsSync(configFileOf.master));
  const file = isNode ? configFileOf.node : configFileOf.master;
  return readSettings(rows, {
    command: `minik8s ${role ?? 'up'}`,
    flags,
    environment: process.env,
    configFile: isReadable(file) ? file : '/dev/null',
    translate: (content) => ({
      ...(content.name !== undefined && { 'node-name': content.name }),
      ...Object.fromEntries(Object.entries(content).filter(([key]) => Object.hasOwn(rows, key))),
    }),
  });
}

/** Returns undefined for the error of a file that this user may not read; throws any other error. */
function withoutRights(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EACCES') throw error;
}

/** Returns the id of the minik8s that holds the directory; undefined without the rights to read it. */
function runningIn(dataDir: string): number | undefined {
  try {
    return holderOf(dataDir);
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

/** Returns the arguments of the process; none without the rights to read them. */
function wordsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch {
    return [];
  }
}

/** Returns the values of the flags in the table, and of --config: `--port 6443` or `--port=6443`. */
function flagsIn(words: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [index, word] of words.entries()) {
    const [, name = '', value = words[index + 1]] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (value === undefined) continue;
    if (Object.hasOwn(rows, name) || (name === 'config' && isReadable(value))) found[name] = value;
  }
  return found;
}

/** A service is started by systemd; any other process again as it was started. */
function restartCommand(
  isService: boolean,
  pid: number | undefined,
  words: readonly string[],
  role: Role | undefined,
): string {
  if (isService) return `systemctl restart ${unitName}`;
  if (pid === undefined || words.length === 0) return `minik8s ${role ?? 'up'}`;
  const start = words.map((word) => (/^[\w./:=,-]+$/.test(word) ? word : quoted(word))).join(' ');
  const wait = `while kill -0 ${pid} 2>/dev/null; do sleep 1; done`;
  return `kill ${pid}; ${wait}; (setsid ${start} >/var/log/minik8s.log 2>&1 </dev/null &)`;
}
