/** A block device as a file system: formatted where there is nothing on it (upstream: mount-utils FormatAndMount), and mounted. */
import { mkdir, stat } from 'node:fs/promises';
import { type Exec, ExecError } from '../../base/exec.ts';
import { isMountPoint } from './mounts.ts';
import { VolumeError } from './plan/volume-error.ts';

export interface DeviceToMount {
  readonly device: string;
  /** A mount point that is made for it. */
  readonly target: string;
  /** Of what is there already the kernel knows it; undefined: ext4 where there is nothing. */
  readonly fsType: string | undefined;
  readonly options: readonly string[];
}

/** By the device's number: none is looked at while it is formatted. */
const turns = new Map<number, Promise<unknown>>();

/** Without effect where something is mounted already. Rejects with VolumeError, and never formats what holds anything known. */
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
    throw new VolumeError(`${JSON.stringify(fsType)} is no type of a file system`);
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

/** By what is read from the device itself, not remembered of it. */
async function contentOf(device: string, exec: Exec) {
  try {
    const args = ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', '--', device];
    const { stdout } = await exec('blkid', args);
    return { something: stdout.trim() !== '', type: /^TYPE=(.+)$/m.exec(stdout)?.[1] };
  } catch (error) {
    // It knows nothing of what is there.
    if (error instanceof ExecError && error.failure.code === 2) return { something: false, type: undefined };
    throw error;
  }
}

/** Large devices take a while. */
async function format(device: string, type: string, exec: Exec): Promise<void> {
  const flags = /^ext[34]$/.test(type) ? ['-F', '-m0'] : [];
  await exec(`mkfs.${type}`, [...flags, '--', device], { lengthy: true });
}
