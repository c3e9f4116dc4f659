/** How far the processes of containers can be protected from being killed for memory. */
import { readFile } from 'node:fs/promises';

/** Number of CAP_SYS_RESOURCE. */
const sysResource = 24n;

/**
 * A machine that is a container itself may not be allowed to protect processes more than it is protected: the
 * container would fail to start. Docker runs with this process's rights, or more.
 */
export async function lowestOomScore(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8');
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  if ((effective >> sysResource) & 1n) return -1000;
  return Number(await readFile('/proc/self/oom_score_adj', 'utf8'));
}
