/** Reads which sockets of this machine listen. */
import { existsSync, readFileSync } from 'node:fs';
import { answerWithin } from '../../base/answer-within.ts';
import type { Clock } from '../../base/clock.ts';
import { dockerClient } from '../../docker/client.ts';
import { webServerPrefix } from '../../docker/web-server-name.ts';
import { defaultNames } from '../../network/rules.ts';
import type { Exec } from '../../os/exec.ts';
import { homeIn, type Listener, listenersIn, type ProcessHome } from '../../os/listeners.ts';
import type { PortFacts } from '../checks/ports.ts';
import type { Sources } from './sources.ts';

const answerTimeoutMs = 5_000;

export async function readPorts({ exec, clock, situation }: Sources): Promise<PortFacts> {
  const [listeners, webServers] = await Promise.all([
    readListeners(exec),
    situation.hasNode ? webServersOf(clock, situation.dockerSocket) : [],
  ]);
  return {
    ...{ listeners, webServers },
    hasOverlayLink: existsSync(`/sys/class/net/${defaultNames.vxlanLink}`),
  };
}

export async function readListeners(exec: Exec): Promise<readonly Listener[]> {
  const { stdout } = await exec('ss', ['-Hlntup']);
  return listenersIn(stdout, homeOf);
}

/** Resolves to the ids of the containers; to none if the engine does not answer. */
async function webServersOf(clock: Clock, socket: string): Promise<readonly string[]> {
  const asked = dockerClient(socket).listContainers({ filters: { name: [webServerPrefix] } });
  const found = await answerWithin(clock, answerTimeoutMs, asked).catch(() => undefined);
  return (found ?? []).map(({ Id }) => Id);
}

function homeOf(pid: number): ProcessHome {
  try {
    return homeIn(readFileSync(`/proc/${pid}/cgroup`, 'utf8'));
  } catch {
    // The process has ended.
    return {};
  }
}
