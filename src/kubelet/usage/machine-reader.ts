/** Resource usage of the whole machine and of this process. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { readIfThere } from './kernel-text.ts';
import { cpuUsageV2, numberIn } from './plan/cgroup-files.ts';
import type { CpuHistory } from './plan/cpu-history.ts';
import { blockDevices, machineMemory, machineStat, processUsage } from './plan/machine-files.ts';
import { interfacesIn } from './plan/network-files.ts';
import type { NodeReading } from './snapshot.ts';

/** Reads the usage. Rejects when the kernel's files are missing or cannot be parsed. */
export async function readMachine(clock: Clock, history: CpuHistory, root = '/'): Promise<NodeReading> {
  const at = clock.now();
  const [stat, meminfo, vmstat, network, own, v1, v2, partitions] = await Promise.all([
    readFile(join(root, 'proc/stat'), 'utf8'),
    readFile(join(root, 'proc/meminfo'), 'utf8'),
    readIfThere(join(root, 'proc/vmstat')),
    readIfThere(join(root, 'proc/self/net/dev')),
    readFile(join(root, 'proc/self/stat'), 'utf8'),
    readIfThere(join(root, 'sys/fs/cgroup/cpuacct/cpuacct.usage')),
    readIfThere(join(root, 'sys/fs/cgroup/cpu.stat')),
    readIfThere(join(root, 'proc/partitions')),
  ]);
  const machine = machineStat(stat);
  // Nanoseconds from the root cgroup where it has them, otherwise hundredths of a second.
  const total = numberIn(v1) ?? cpuUsageV2(v2 ?? '')?.total ?? machine.cpu;
  const process = processUsage(own, machine.bootedAt);
  return {
    bootedAt: machine.bootedAt,
    at,
    cpu: history.take('node', { at, total }),
    memory: machineMemory(meminfo, vmstat ?? ''),
    interfaces: interfacesIn(network ?? ''),
    devices: blockDevices(partitions ?? ''),
    agent: { ...process, at, rate: history.take('agent', { at, total: process.cpu }).rate },
  };
}
