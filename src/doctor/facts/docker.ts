/** Reads the version and the settings of the Docker engine. */
import { existsSync } from 'node:fs';
import { unlessAborted } from '../../base/abort.ts';
import { errorMessage } from '../../base/log.ts';
import { dockerClient } from '../../docker/client.ts';
import { isProgram } from '../../installation/machine-facts.ts';
import type { DockerFacts, EngineFacts } from '../checks/docker.ts';
import type { Sources } from './sources.ts';
import { textOf } from './text-file.ts';

const answerTimeoutMs = 10_000;

export async function readDocker({ exec, situation }: Sources): Promise<DockerFacts | undefined> {
  if (!situation.hasNode) return undefined;
  const [engine, isInstalled, daemonJson] = await Promise.all([
    readEngine(situation.dockerSocket).catch((error) => ({ problem: errorMessage(error) })),
    isProgram(exec, 'dockerd'),
    textOf('/etc/docker/daemon.json'),
  ]);
  return { engine, isInstalled, daemonJson, hasSystemd: existsSync('/run/systemd/system') };
}

interface Info {
  readonly CgroupDriver: string;
  readonly CgroupVersion?: string;
  readonly LiveRestoreEnabled: boolean;
  readonly LoggingDriver: string;
  readonly Driver: string;
  readonly SecurityOptions?: readonly string[] | null;
}

/** Rejects if the engine does not answer in time. */
async function readEngine(socket: string): Promise<EngineFacts> {
  const docker = dockerClient(socket);
  const late = AbortSignal.timeout(answerTimeoutMs);
  const { Version, ApiVersion } = await unlessAborted(late, docker.version());
  const info: Info = await unlessAborted(late, docker.info());
  return {
    version: Version,
    apiVersion: ApiVersion,
    cgroupDriver: info.CgroupDriver,
    cgroupVersion: info.CgroupVersion ?? '1',
    isLiveRestore: info.LiveRestoreEnabled,
    logDriver: info.LoggingDriver,
    storageDriver: info.Driver,
    securityOptions: info.SecurityOptions ?? [],
  };
}

/** Resolves to the directory of the engine's images; to undefined if the engine does not answer. */
export async function imageDirectory(socket: string): Promise<string | undefined> {
  try {
    const info = await unlessAborted(AbortSignal.timeout(answerTimeoutMs), dockerClient(socket).info());
    return typeof info.DockerRootDir === 'string' ? info.DockerRootDir : undefined;
  } catch {
    // Another subject reports that the engine does not answer.
    return undefined;
  }
}
