/** A virtual machine of a test: Debian with systemd and Docker (root.ts) on a disk of its own. */
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, createReadStream, createWriteStream, openSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { quoted } from '../../src/base/shell-words.ts';
import { systemExec } from '../../src/os/exec.ts';
import { freePort } from '../fixtures/free-port.ts';
import { AgentLink, type CommandOptions, type CommandResult } from './agent-link.ts';
import type { Network } from './network.ts';
import { type Hardware, type QemuProcess, qemuArguments, startQemu } from './qemu.ts';
import { type MachineRoot, machineRoot } from './root.ts';

export interface MachineOptions {
  /** Host name, and the machine's name in its network; default: `vm`. */
  readonly name?: string;
  /** Processors; default: 2. */
  readonly cpus?: number;
  /** Memory in MiB; default: 2048. */
  readonly memoryMb?: number;
  /**
   * Network that the machine shares with others, and its address there, such as `10.77.0.2/24`. A `gateway`
   * gives it a default route; nothing has to answer there.
   */
  readonly lan?: { readonly network: Network; readonly address: string; readonly gateway?: string };
  /** File that the machine has as its disk /dev/vdb, read-only; it must be there as long as the machine. */
  readonly disk?: string;
  /** True to leave AppArmor on: loading a profile takes long on an emulated processor; default: false. */
  readonly appArmor?: boolean;
  /** TCP ports of the machine that loopback reaches by `port()`; nothing else of it is reachable. */
  readonly forward?: readonly number[];
}

/** Maximum duration of a boot; it takes about 20 seconds on two idle processors. */
const bootTimeoutMs = 480_000;
const consoleLength = 20_000;
/** Number of bytes in which files are copied. */
const chunkLength = 256 * 1024;

export class Machine implements AsyncDisposable {
  readonly name: string;
  readonly #root: MachineRoot;
  readonly #hardware: Hardware;
  readonly #network: Network | undefined;
  /** Disk of the machine: a file without a name, which goes with its last descriptor. */
  readonly #disk: number;
  #qemu: QemuProcess | undefined;
  #link: AgentLink | undefined;
  #console = '';

  private constructor(name: string, root: MachineRoot, hardware: Hardware, disk: number, network?: Network) {
    this.name = name;
    this.#root = root;
    this.#hardware = hardware;
    this.#disk = disk;
    this.#network = network;
  }

  /** Makes a machine with a new disk and boots it. Rejects if a unit of it fails. */
  static async start(options: MachineOptions = {}): Promise<Machine> {
    const { name = 'vm', cpus = 2, memoryMb = 2048, lan, forward = [], disk, appArmor = false } = options;
    const root = await machineRoot();
    const forwards = new Map<number, number>();
    for (const port of forward) forwards.set(await freePort(), port);
    const kernelWords = [
      `systemd.hostname=${name}`,
      `systemd.machine_id=${randomUUID().replaceAll('-', '')}`,
    ];
    if (lan) kernelWords.push(`vm.eth0=${lan.address}`);
    if (lan?.gateway !== undefined) kernelWords.push(`vm.gateway=${lan.gateway}`);
    if (forwards.size > 0) kernelWords.push(`vm.eth${lan ? 1 : 0}=10.0.2.15/24`);
    if (forwards.size > 0 && !lan) kernelWords.push('vm.gateway=10.0.2.2');
    const lanCard = lan && hardwareAddress(lan.address);
    const hardware = { cpus, memoryMb, kernelWords, lanCard, forwards, extraDisk: disk, appArmor };
    const machine = new Machine(name, root, hardware, await newDisk(root.image), lan?.network);
    try {
      await machine.powerOn();
    } catch (error) {
      await machine.stop();
      throw error;
    }
    return machine;
  }

  /** Boots the machine, which must be off, and resolves when all its units have started. */
  async powerOn(): Promise<void> {
    if (this.#qemu) throw new Error(`${this.name} is on`);
    this.#console = '';
    const qemu = startQemu(qemuArguments(this.#root, this.#hardware), this.#disk);
    qemu.console.on('data', (chunk: Buffer) => {
      this.#console = `${this.#console}${chunk.toString('latin1')}`.slice(-consoleLength);
    });
    this.#qemu = qemu;
    this.#link = new AgentLink(qemu.agent);
    this.#network?.connect(this.name, qemu.lan);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, bootTimeoutMs, `did not boot within ${bootTimeoutMs / 1000} s`);
    });
    const fault = await Promise.race([this.#booted(), late, qemu.ended.then((how) => `ended: ${how}`)]);
    clearTimeout(timer);
    if (fault !== undefined) throw new Error(`${this.name} ${fault}; its console:\n${this.#console}`);
  }

  /** Resolves to the fault of the boot, or to undefined. */
  async #booted(): Promise<string | undefined> {
    await this.#link?.ready;
    const { stdout } = await this.run('systemctl is-system-running --wait', { timeoutMs: bootTimeoutMs });
    if (stdout.trim() === 'running') return undefined;
    const failed = await this.run(
      'systemctl --failed --no-legend --plain; journalctl -b -p warning -n 40 --no-pager',
    );
    return `is ${stdout.trim()}: ${failed.stdout}`;
  }

  /** Runs a command by bash, as root, in /root. Rejects when the machine ends, or after the timeout. */
  async run(command: string, options?: CommandOptions): Promise<CommandResult> {
    if (!this.#link) throw new Error(`${this.name} is off`);
    return this.#link.run(command, options);
  }

  /** Runs a command that must succeed; resolves to its standard output. */
  async output(command: string, options?: CommandOptions): Promise<string> {
    const { status, stdout, stderr } = await this.run(command, options);
    if (status !== 0)
      throw new Error(`${command}: exit status ${status} in ${this.name}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Copies a file of the host into the machine, with its mode. */
  async copyIn(file: string, path: string): Promise<void> {
    const mode = (statSync(file).mode & 0o7777).toString(8);
    const to = quoted(path);
    const input = createReadStream(file, { highWaterMark: chunkLength });
    await this.output(`cat >${to} && chmod ${mode} ${to}`, { input, timeoutMs: bootTimeoutMs });
  }

  /** Copies a file of the machine to the host. */
  async copyOut(path: string, file: string): Promise<void> {
    const bytes = new PassThrough();
    const written = pipeline(bytes, createWriteStream(file));
    try {
      await this.output(`cat ${quoted(path)}`, {
        onOutput: (chunk) => bytes.write(chunk),
        timeoutMs: bootTimeoutMs,
      });
    } finally {
      bytes.end();
      await written;
    }
  }

  /** Returns the port of loopback that is forwarded to a port of the machine. */
  port(guest: number): number {
    const found = [...this.#hardware.forwards].find(([, to]) => to === guest);
    if (!found) throw new Error(`port ${guest} of ${this.name} is not forwarded`);
    return found[0];
  }

  /** Restarts the machine in an orderly way and resolves when it has booted. */
  async reboot(): Promise<void> {
    const qemu = this.#qemu;
    if (!qemu) throw new Error(`${this.name} is off`);
    // The agent may end before its answer.
    void this.run('systemctl reboot').catch(() => undefined);
    const how = await qemu.ended;
    this.#off();
    if (how !== 0) throw new Error(`${this.name} did not reboot: QEMU ended with ${how}`);
    await this.powerOn();
  }

  /** Cuts the power: what the machine had not written to its disk is lost. */
  async powerOff(): Promise<void> {
    this.#qemu?.kill();
    await this.#qemu?.ended;
    this.#off();
  }

  /** Ends the machine and removes its disk. */
  async stop(): Promise<void> {
    await this.powerOff();
    closeSync(this.#disk);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #off(): void {
    this.#qemu = undefined;
    this.#link = undefined;
  }
}

/** Makes a disk on top of the image. Its name is removed at once: nothing is left of a killed process. */
async function newDisk(image: string): Promise<number> {
  const path = join(tmpdir(), `minik8s-vm-${randomUUID()}.qcow2`);
  await systemExec('qemu-img', ['create', '-q', '-f', 'qcow2', '-b', image, '-F', 'raw', path]);
  const disk = openSync(path, 'r+');
  rmSync(path);
  return disk;
}

/** Returns an address that is the same for each start of a machine, and another one for each machine. */
function hardwareAddress(address: string): string {
  const hash = createHash('sha256').update(address).digest('hex');
  return `52:54:00:${hash.slice(0, 2)}:${hash.slice(2, 4)}:${hash.slice(4, 6)}`;
}
