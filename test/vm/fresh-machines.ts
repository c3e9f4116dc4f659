/** Virtual machines on one network, with what the pages of docs begin with: Docker and the file. */
import { join } from 'node:path';
import { systemExec } from '../../src/os/exec.ts';
import { executable } from '../e2e/harness/cluster.ts';
import { copyImages } from './images.ts';
import { Machine } from './machine.ts';
import { Network } from './network.ts';

const root = join(import.meta.dirname, '../..');

const addressOf = (number: number) => `10.77.0.${number}`;

/**
 * Starts `vm1`, `vm2`, …, each with the built file as /root/minik8s, the sample `hello` and its image. Names
 * and addresses of all stand in /etc/hosts.
 */
export async function startFreshMachines(count: number): Promise<readonly Machine[]> {
  await systemExec(join(root, 'bin/make-images'), []);
  const network = new Network();
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const machines: Machine[] = [];
  for (const number of numbers) {
    const lan = { network, address: `${addressOf(number)}/24` };
    const machine = await Machine.start({ name: `vm${number}`, lan, cpus: 1 });
    machines.push(machine);
    const others = numbers.filter((other) => other !== number);
    const hosts = others.map((other) => `${addressOf(other)} vm${other}\n`).join('');
    await machine.output(`printf '${hosts}' >>/etc/hosts && mkdir hello /etc/minik8s`);
    // The machines have no default route, from which the address of a node usually follows.
    await machine.output(`echo 'node-ip: ${addressOf(number)} # of vm${number}' >/etc/minik8s/master.yaml`);
    await machine.copyIn(executable, '/root/minik8s');
    await copyImages(machine, 'minik8s/hello:1');
    for (const file of ['deployment.yaml', 'service.yaml'])
      await machine.copyIn(join(root, 'samples/hello', file), `/root/hello/${file}`);
  }
  return machines;
}

/** Returns the line that `minik8s install` printed for the next machine. */
export function printedLine(installed: string): string {
  const [line] = /^ {2}MINIK8S_TOKEN=.*$/m.exec(installed) ?? [];
  if (line === undefined) throw new Error(`no line for the next machine: ${installed}`);
  return line.trim();
}
