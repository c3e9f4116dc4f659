/** Facts about this machine: its name, hardware and software, as Linux reports them. */
import { readFile, statfs } from 'node:fs/promises';
import { arch, availableParallelism, hostname, release, totalmem } from 'node:os';
import { readMemoryLimit } from './node-usage.ts';
import type { NodeFacts } from './plan/node-status.ts';

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', arm: 'arm' };

/** Reads the facts. `dataDir` must exist; its file system provides the pods' ephemeral storage. */
export async function readNodeFacts(dataDir: string, kubeletVersion: string): Promise<NodeFacts> {
  const [osRelease, machineID, systemUUID, bootID, appArmor, storage, memoryLimit] = await Promise.all([
    readOr('/etc/os-release', ''),
    readOr('/etc/machine-id', ''),
    readOr('/sys/class/dmi/id/product_uuid', ''),
    readOr('/proc/sys/kernel/random/boot_id', ''),
    readOr('/sys/module/apparmor/parameters/enabled', ''),
    statfs(dataDir),
    readMemoryLimit(),
  ]);
  return {
    hostname: hostname(),
    architecture: architectures[arch()] ?? arch(),
    kernelVersion: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(osRelease)?.[1] ?? 'Linux',
    machineID: machineID.trim(),
    // A machine without firmware tables has no system UUID; its machine ID is unique as well.
    systemUUID: systemUUID.trim() || machineID.trim(),
    bootID: bootID.trim(),
    hasAppArmor: appArmor.startsWith('Y'),
    cpus: availableParallelism(),
    memoryBytes: Math.min(totalmem(), memoryLimit ?? totalmem()),
    storageBytes: storage.blocks * storage.bsize,
    kubeletVersion,
  };
}

async function readOr(path: string, otherwise: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES') return otherwise;
    throw error;
  }
}
