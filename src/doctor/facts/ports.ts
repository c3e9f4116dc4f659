/** Reads which sockets of this machine listen. */
import { existsSync, readFileSync } from 'node:fs';
import { defaultNames } from '../../network/rules.ts';
import { listenersIn, unitIn } from '../../os/listeners.ts';
import type { PortFacts } from '../checks/ports.ts';
import type { Sources } from './sources.ts';

export async function readPorts({ exec }: Sources): Promise<PortFacts> {
  const { stdout } = await exec('ss', ['-Hlntup']);
  return {
    listeners: listenersIn(stdout, unitOf),
    hasOverlayLink: existsSync(`/sys/class/net/${defaultNames.vxlanLink}`),
  };
}

function unitOf(pid: number): string | undefined {
  try {
    return unitIn(readFileSync(`/proc/${pid}/cgroup`, 'utf8'));
  } catch {
    // The process has ended.
    return undefined;
  }
}
