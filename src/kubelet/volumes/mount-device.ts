/**
 * Mounts a block device as a file system, and formats it first when it is empty (upstream: mount-utils
 * FormatAndMount).
 */
import { mkdir, stat } from 'node:fs/promises';
import { type Exec, ExecError } from '../../os/exec.ts';
import { isMountPoint } from './mounts.ts';
import { VolumeError } from './plan/volume-error.ts';

export interface DeviceToMount {
  readonly device: string;
  /** Mount point, which is created. */
  readonly target: string;
  /**
   * Type of the file system. Undefined: the kernel detects an existing one, and an empty device gets ext4.
   */
  readonly fsType: string | undefined;
  readonly options: readonly string[];
}

/** Operations in progress, by device number: no device is probed while it is being formatted. */
const turns = new Map<number, Promise<unknown>>();

/**
 * Mounts the device; has no effect where something is mounted already. Rejects with VolumeError, and never
 * formats a device with known content.
 */
export async function mountDevice(wanted: DeviceToMount, exec: Exec): Promise<void> {
  const { rdev } = await stat(wanted.device);
  const before = turns.get(rdev);
  const turn = Promise.resolve(before?.catch(() => undefined)).then(() => mountNow(wanted, exec));
  turns.set(rdev, turn);
  try {
    await turn;
  } finally {
    if (turns.get(rdev) === turn) turns.delete(rdev);
  }
}

async function mountNow({ device, target, fsType, options }: DeviceToMount, exec: Exec): Promise<void> {
  if (fsType !== undefined && !/^[a-z0-9]+$/.test(fsType))
    throw new VolumeError(`${JSON.stringify(fsType)} is not a type of file system`);
  await mkdir(target, { recursive: true, mode: 0o750 });
  if (await isMountPoint(target)) return;
  const found = await contentOf(device, exec);
  const type = fsType ?? found.type ?? 'ext4';
  if (!found.something) await format(device, type, exec);
  const given = options.length > 0 ? ['-o', options.join(',')] : [];
  await exec('mount', ['-t', type, ...given, '--', device, target]).catch((cause: unknown) => {
    const has = found.type !== undefined && found.type !== type ? `, it already contains ${found.type}` : '';
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new VolumeError(`failed to mount device ${device} as ${type}${has}: ${why}`, { cause });
  });
}

/** Returns the device's content, read from the device itself and not from blkid's cache. */
async function contentOf(device: string, exec: Exec) {
  try {
    const args = ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', '--', device];
    const { stdout } = await exec('blkid', args);
    return { something: stdout.trim() !== '', type: /^TYPE=(.+)$/m.exec(stdout)?.[1] };
  } catch (error) {
    // Exit status 2: blkid recognizes nothing on the device.
    if (error instanceof ExecError && error.failure.code === 2) return { something: false, type: undefined };
    throw error;
  }
}

/** Formats the device; large devices take long. */
async function format(device: string, type: string, exec: Exec): Promise<void> {
  const flags = /^ext[34]$/.test(type) ? ['-F', '-m0'] : [];
  await exec(`mkfs.${type}`, [...flags, '--', device], { lengthy: true });
}
