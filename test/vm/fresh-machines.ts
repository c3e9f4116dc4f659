/**
 * Virtual machines as the pages of docs begin: with Docker, the single file, and the sample `hello` with its
 * image. What they get is an archive on a second disk, which is read much faster than the agent's port.
 */
import { copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { systemExec } from '../../src/os/exec.ts';
import { makeDirectory } from '../e2e/harness/belongings.ts';
import { executable } from '../e2e/harness/cluster.ts';
import { helloImage, makeImages } from '../e2e/harness/images.ts';
import { writeOtherVersion } from '../e2e/harness/other-version.ts';
import { dockerSocket } from '../fixtures/docker-socket.ts';
import { Machine } from './machine.ts';
import { Network } from './network.ts';

export const minutes = 60_000;

export interface FreshOptions {
  /** Processors of each machine; default: 1. */
  readonly cpus?: number;
  /** False leaves the machines without a default route; default: true. */
  readonly gateway?: boolean;
  /** True leaves AppArmor on; default: false. */
  readonly appArmor?: boolean;
  /** True adds `minik8s-new`, a file of another version. */
  readonly newVersion?: boolean;
}

export const addressOf = (number: number) => `10.77.0.${number}`;

/** Makes an archive with what a machine begins with, for /root; resolves to its path. */
async function makeArchive(newVersion: boolean): Promise<string> {
  await makeImages();
  const directory = makeDirectory('minik8s-vm-content-');
  const content = join(directory, 'content');
  mkdirSync(content);
  copyFileSync(executable, join(content, 'minik8s'));
  const written = join(directory, 'minik8s-samples');
  await systemExec(executable, ['samples', written]);
  renameSync(join(written, 'samples'), join(content, 'samples'));
  // bin/make-images of the samples makes the same image from it.
  copyFileSync('/bin/busybox', join(content, 'busybox'));
  const engine = ['-H', `unix://${dockerSocket}`];
  await systemExec('docker', [...engine, 'save', '-o', join(content, 'images.tar'), helloImage]);
  if (newVersion) await writeOtherVersion(join(content, 'minik8s-new'), 'x');
  const archive = join(directory, 'content.tar');
  await systemExec('tar', ['-c', '-f', archive, '-C', content, '--owner=0', '--group=0', '.']);
  return archive;
}

/** Starts `vm1`, `vm2`, … at 10.77.0.1, 10.77.0.2, … on one network; each knows the names of all. */
export async function startFreshMachines(
  count: number,
  { cpus = 1, gateway = true, appArmor = false, newVersion = false }: FreshOptions = {},
): Promise<readonly Machine[]> {
  const disk = await makeArchive(newVersion);
  const network = new Network();
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const start = async (number: number): Promise<Machine> => {
    const lan = { network, address: `${addressOf(number)}/24`, ...(gateway && { gateway: addressOf(254) }) };
    const machine = await Machine.start({ name: `vm${number}`, lan, cpus, disk, appArmor });
    const others = numbers.filter((other) => other !== number);
    const hosts = others.map((other) => `${addressOf(other)} vm${other}\\n`).join('');
    await machine.output(
      `set -e; printf '${hosts}' >>/etc/hosts; tar -x -C /root -f /dev/vdb
       docker load --quiet --input images.tar; rm images.tar; cp -r samples/hello hello; mv busybox /usr/bin`,
      { timeoutMs: 5 * minutes },
    );
    return machine;
  };
  const started = await Promise.allSettled(numbers.map(start));
  const machines = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failed = started.find((each) => each.status === 'rejected');
  if (failed) {
    for (const machine of machines) await machine.stop();
    throw failed.reason;
  }
  return machines;
}

/** Returns the line that `minik8s install` or `minik8s token create` printed for the next machine. */
export function printedLine(output: string): string {
  const [line] = /^ *MINIK8S_TOKEN=.*$/m.exec(output) ?? [];
  if (line === undefined) throw new Error(`no line for the next machine: ${output}`);
  return line.trim();
}
