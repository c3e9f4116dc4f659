/** The command line of QEMU for a virtual machine, and its process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { MachineRoot } from './root.ts';

export interface Hardware {
  readonly cpus: number;
  readonly memoryMb: number;
  /** Words of the kernel's command line. */
  readonly kernelWords: readonly string[];
  /** Hardware address of the card in the machines' network; undefined without such a card. */
  readonly lanCard: string | undefined;
  /** File of a second disk, which the machine only reads; undefined without one. */
  readonly extraDisk: string | undefined;
  /** True to leave AppArmor on, which Docker then uses for each container. */
  readonly appArmor: boolean;
  /** Ports of the machine by those of loopback that are forwarded to them. */
  readonly forwards: ReadonlyMap<number, number>;
}

/** File descriptors of QEMU beyond the standard ones. */
const fd = { disk: 3, agent: 4, lan: 5 } as const;

/**
 * Returns QEMU's arguments. Only emulation is used (TCG), since hosts of tests may have no KVM. A reset ends
 * QEMU, so that a machine that boots again is a new process with a new connection to the agent.
 */
export function qemuArguments(root: MachineRoot, hardware: Hardware): string[] {
  const { cpus, memoryMb, kernelWords, lanCard, forwards, extraDisk, appArmor } = hardware;
  const ports = [...forwards].map(([host, guest]) => `,hostfwd=tcp:127.0.0.1:${host}-:${guest}`).join('');
  const words = [
    'root=/dev/vda',
    'console=ttyS0',
    'net.ifnames=0',
    'mitigations=off',
    ...(appArmor ? [] : ['apparmor=0']),
    'quiet',
    ...kernelWords,
  ];
  return [
    ...['-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none', '-serial', 'stdio'],
    ...['-machine', 'q35', '-accel', 'tcg,thread=multi,tb-size=1024', '-cpu', 'max'],
    ...['-smp', String(cpus), '-m', String(memoryMb)],
    ...['-kernel', root.kernel, '-initrd', root.initrd, '-append', words.join(' ')],
    ...['-drive', `file=/proc/self/fd/${fd.disk},if=none,id=disk,format=qcow2,cache=writeback`],
    ...['-device', 'virtio-blk-pci,drive=disk'],
    ...(extraDisk === undefined
      ? []
      : [
          ...['-drive', `file=${extraDisk},if=none,id=extra,format=raw,readonly=on`],
          ...['-device', 'virtio-blk-pci,drive=extra'],
        ]),
    ...['-device', 'virtio-serial-pci', '-chardev', `socket,id=agent,fd=${fd.agent}`],
    ...['-device', 'virtserialport,chardev=agent,name=agent'],
    ...(lanCard === undefined
      ? []
      : ['-netdev', `socket,id=lan,fd=${fd.lan}`, '-device', card('lan', `,mac=${lanCard}`)]),
    // `restrict` keeps the machine from the host and from everything behind it.
    ...(forwards.size === 0
      ? []
      : ['-netdev', `user,id=user,restrict=on${ports}`, '-device', card('user', '')]),
  ];
}

const card = (network: string, more: string) => `virtio-net-pci,netdev=${network},romfile=${more}`;

export interface QemuProcess {
  readonly console: NodeJS.ReadableStream;
  readonly agent: Duplex;
  readonly lan: Duplex;
  /** Resolves to how QEMU ended: its exit status or the signal that killed it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  kill(): void;
}

/** Starts QEMU on an open disk. The kernel kills it when this process ends, however that happens. */
export function startQemu(argv: readonly string[], disk: number): QemuProcess {
  const child: ChildProcess = spawn(
    'setpriv',
    ['--pdeathsig', 'KILL', 'qemu-system-x86_64', ...argv],
    // A process group of its own keeps Ctrl-C from the machine, which the test ends itself.
    { detached: true, stdio: ['ignore', 'pipe', 'inherit', disk, 'pipe', 'pipe'] },
  );
  const ended = once(child, 'exit').then(([code, signal]) => signal ?? code);
  const streams: readonly unknown[] = child.stdio;
  return {
    console: streams[1] as NodeJS.ReadableStream,
    agent: streams[fd.agent] as Duplex,
    lan: streams[fd.lan] as Duplex,
    ended,
    kill: () => child.kill('SIGKILL'),
  };
}
