/** Functions to inspect pods that the node agent runs on Docker. */
import assert from 'node:assert/strict';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { systemExec } from '../../../src/os/exec.ts';
import type { NodeHarness } from './node-harness.ts';

/** Returns the container `main` of a pod that runs a script. */
export const shellContainer = ({ images }: NodeHarness, script: string, more: object = {}) => ({
  name: 'main',
  image: images.busybox,
  imagePullPolicy: 'IfNotPresent',
  command: ['sh', '-c', script],
  ...more,
});

/** Returns Docker's id of a container of the pod. */
export const containerId = (pod: Pod, name = 'main') =>
  pod.status?.containerStatuses
    ?.find((status) => status.name === name)
    ?.containerID?.replace('docker://', '') ?? assert.fail('no container');

/** Returns the output of a command in the container `main`. */
export const inside = async (pod: Pod, ...command: string[]) =>
  (await systemExec('docker', ['exec', containerId(pod), ...command], { timeoutMs: 60_000 })).stdout.trim();

/** Returns everything that the container has printed. */
export async function outputOf({ runtime }: NodeHarness, id: string): Promise<string> {
  const options = { follow: false, timestamps: false, tailLines: undefined, since: undefined };
  let text = '';
  for await (const chunk of await runtime.logs(id, options, AbortSignal.timeout(120_000))) {
    text += Buffer.from(chunk).toString();
  }
  return text;
}
