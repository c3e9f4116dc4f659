/** How far processes of containers can be protected against the out-of-memory killer. */
import { readFile } from 'node:fs/promises';

/** Number of CAP_SYS_RESOURCE. */
const sysResource = 24n;

/**
 * Returns the lowest oom_score_adj that containers can get. A machine that is itself a container may lack the
 * right to protect processes better than it is protected itself; a container with a lower value would fail to
 * start. Docker runs with this process's rights, or more.
 */
export async function lowestOomScore(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8');
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  if ((effective >> sysResource) & 1n) return -1000;
  return Number(await readFile('/proc/self/oom_score_adj', 'utf8'));
}
