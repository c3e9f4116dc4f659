/** Reads the version and the settings of the Docker engine. */
import { existsSync } from 'node:fs';
import { answerWithin } from '../../base/answer-within.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { dockerClient } from '../../docker/client.ts';
import { isProgram } from '../../installation/machine-facts.ts';
import type { Exec } from '../../os/exec.ts';
import type { DockerFacts, EngineFacts } from '../checks/docker.ts';
import type { Sources } from './sources.ts';
import { textOf } from './text-file.ts';

const answerTimeoutMs = 10_000;

export async function readDocker({ exec, clock, situation }: Sources): Promise<DockerFacts | undefined> {
  if (!situation.hasNode) return undefined;
  const [engine, isInstalled, daemonJson, hasFirewallRules] = await Promise.all([
    readEngine(clock, situation.dockerSocket).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EACCES') throw error;
      return { problem: errorMessage(error) };
    }),
    isProgram(exec, 'dockerd'),
    textOf('/etc/docker/daemon.json'),
    hasChains(exec),
  ]);
  return { engine, isInstalled, daemonJson, hasFirewallRules, hasSystemd: existsSync('/run/systemd/system') };
}

/** Resolves to whether a chain of nftables has a name of Docker's, or the older iptables is in use. */
async function hasChains(exec: Exec): Promise<boolean> {
  if (/^nat$/m.test(await textOf('/proc/net/ip_tables_names'))) return true;
  // Another subject reports that nft does not run.
  const chains = await exec('nft', ['list', 'chains']).catch(() => undefined);
  return chains === undefined || /docker/i.test(chains.stdout);
}

interface Info {
  readonly CgroupDriver: string;
  readonly CgroupVersion?: string;
  readonly LiveRestoreEnabled: boolean;
  readonly LoggingDriver: string;
  readonly Driver: string;
  readonly DockerRootDir: string;
  readonly SecurityOptions?: readonly string[] | null;
  /** Absent before Docker 28.2. */
  readonly FirewallBackend?: { readonly Driver?: string } | null;
}

/** Rejects if the engine does not answer in time. */
async function readEngine(clock: Clock, socket: string): Promise<EngineFacts> {
  const docker = dockerClient(socket);
  const answers = Promise.all([docker.version(), docker.info() as Promise<Info>]);
  const [version, info] = (await answerWithin(clock, answerTimeoutMs, answers)) ?? [];
  if (!version || !info) throw new Error(`no answer within ${answerTimeoutMs / 1000} s`);
  return {
    version: version.Version,
    apiVersion: version.ApiVersion,
    cgroupDriver: info.CgroupDriver,
    cgroupVersion: info.CgroupVersion ?? '1',
    isLiveRestore: info.LiveRestoreEnabled,
    logDriver: info.LoggingDriver,
    storageDriver: info.Driver,
    securityOptions: info.SecurityOptions ?? [],
    firewallBackend: info.FirewallBackend?.Driver ?? 'iptables',
  };
}

/** Resolves to the directory of the engine's images; to undefined if the engine does not answer. */
export async function imageDirectory(clock: Clock, socket: string): Promise<string | undefined> {
  const info: Promise<Info> = dockerClient(socket).info();
  // Another subject reports that the engine does not answer.
  const answer = await answerWithin(clock, answerTimeoutMs, info).catch(() => undefined);
  return answer?.DockerRootDir;
}
