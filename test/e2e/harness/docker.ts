/** Direct access to Docker, independent of minik8s. */
import { systemExec } from '../../../src/os/exec.ts';

export async function docker(...args: string[]): Promise<string> {
  return (await systemExec('docker', args, { timeoutMs: 60_000 })).stdout.trim();
}

/**
 * Returns the IDs of containers that carry every one of the labels, such as `io.kubernetes.pod.name=web-0`.
 */
export async function containersWith(labels: readonly string[], all = false): Promise<string[]> {
  const filters = labels.flatMap((label) => ['--filter', `label=${label}`]);
  const ids = await docker('ps', '--quiet', '--no-trunc', ...(all ? ['--all'] : []), ...filters);
  return ids === '' ? [] : ids.split('\n');
}

/** Returns the running container of a pod, by its name in the pod. */
export async function containerOf(pod: string, container: string): Promise<string> {
  const labels = [`io.kubernetes.pod.name=${pod}`, `io.kubernetes.container.name=${container}`];
  const [id] = await containersWith(labels);
  if (id === undefined) throw new Error(`pod ${pod} has no running container ${container}`);
  return id;
}
