/** A virtual machine with a cluster of its own, installed by `minik8s install up`, for tests of pods. */
import { Readable } from 'node:stream';
import { type FreshOptions, minutes, startFreshMachines } from './fresh-machines.ts';
import type { Machine } from './machine.ts';

/** Options of commands that wait for something on an emulated processor. */
export const patient = { timeoutMs: 10 * minutes };

export async function startOneNode(options: FreshOptions = {}): Promise<Machine> {
  const [machine] = await startFreshMachines(1, { cpus: 2, ...options });
  if (!machine) throw new Error('no machine was started');
  try {
    await machine.output('./minik8s install up', patient);
  } catch (error) {
    await machine.stop();
    throw error;
  }
  return machine;
}

/** Applies objects. */
export async function apply(machine: Machine, ...objects: readonly object[]): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  await machine.output('minik8s ctl apply -f -', {
    ...patient,
    input: Readable.from([Buffer.from(JSON.stringify(list))]),
  });
}

/** Applies a pod of one container and waits until it is ready. */
export async function startPod(
  machine: Machine,
  name: string,
  container: object,
  spec: object = {},
): Promise<void> {
  await apply(machine, podOf(name, container, spec));
  await machine.output(`minik8s ctl wait pod/${name} --for=condition=Ready --timeout=300s`, patient);
}

/** Returns a pod that ends at once when it is deleted. */
export const podOf = (name: string, container: object, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'minik8s/hello:1', ...container }],
    ...spec,
  },
});
