/**
 * Directories of other machines (NFS), and the folders in them that this node creates for provisioned
 * volumes.
 */
import { access, chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PersistentVolume } from '../../api/core/v1/types.gen.ts';
import { folderOfShare } from '../../api/core/v1/volume/local-volumes.ts';
import { shareFault } from '../../api/core/v1/volume/nfs-share.ts';
import { errorMessage } from '../../base/log.ts';
import { type Exec, ExecError } from '../../os/exec.ts';
import { found, removeEntry } from './entries.ts';
import { mountedFor } from './mounted-for.ts';
import { isMountPoint } from './mounts.ts';
import { VolumeError } from './plan/volume-error.ts';

export interface Share {
  readonly server: string;
  readonly path: string;
  readonly readOnly?: boolean | undefined;
  readonly options?: readonly string[];
}

export class Shares {
  readonly #exec: Exec;
  /** Directory of shares that are mounted only as long as the agent itself uses them. */
  readonly #directory: string;

  constructor({ dataDir, exec }: { readonly dataDir: string; readonly exec: Exec }) {
    this.#exec = exec;
    this.#directory = join(dataDir, 'shares');
  }

  /** Mounts a share; has no effect where something is mounted already. Rejects with VolumeError. */
  async mount(share: Share, target: string): Promise<void> {
    // A mounted share is not accessed: its server may be away.
    if (await isMountPoint(target)) return;
    await mkdir(target, { recursive: true, mode: 0o750 });
    const fault = shareFault(share.server, share.path);
    if (fault !== undefined) throw new VolumeError(`the share cannot be mounted: ${fault}`);
    const { server, path, readOnly = false, options = [] } = share;
    const host = server.includes(':') && !server.startsWith('[') ? `[${server}]` : server;
    const all = [...(readOnly ? ['ro'] : []), ...options];
    const given = all.length > 0 ? ['-o', all.join(',')] : [];
    try {
      await this.#exec('mount', ['-t', 'nfs', ...given, '--', `${host}:${path}`, target]);
    } catch (cause) {
      const why = (await lacking()) ?? errorMessage(cause);
      throw new VolumeError(`mounting ${host}:${path} failed: ${why}`, { cause });
    }
  }

  /** Mounts the share of a volume; creates the volume's folder where the volume has one of its own. */
  async mountVolume(volume: PersistentVolume, target: string): Promise<void> {
    const { nfs, mountOptions: options = [] } = volume.spec;
    if (!nfs) return;
    try {
      await this.mount({ ...nfs, options }, target);
    } catch (error) {
      const share = isMissing(error) ? folderOfShare(volume) : undefined;
      if (!share) throw error;
      await this.#within(volume, share, async (root) => makeFolder(join(root, volume.metadata.name)));
      await this.mount({ ...nfs, options }, target);
    }
  }

  /** Removes the folder of a volume that has one of its own, and nothing else of the share. */
  async removeFolder(volume: PersistentVolume, signal: AbortSignal): Promise<void> {
    const share = folderOfShare(volume);
    if (!share) throw new Error('it has no folder of its own on the share');
    await this.#within(volume, share, (root) =>
      removeEntry(join(root, volume.metadata.name), this.#exec, signal),
    );
  }

  /** Mounts the volume's share, or its directory of the share, separately for as long as `use` takes. */
  async within<T>(volume: PersistentVolume, use: (root: string) => Promise<T>): Promise<T> {
    const { nfs } = volume.spec;
    if (!nfs) throw new Error('it is not a share');
    return this.#within(volume, { server: nfs.server, path: nfs.path }, use);
  }

  #within<T>(
    { metadata: { name }, spec: { mountOptions: options = [] } }: PersistentVolume,
    share: Share,
    use: (root: string) => Promise<T>,
  ): Promise<T> {
    const target = join(this.#directory, name);
    return mountedFor(
      target,
      this.#exec,
      () => this.mount({ ...share, options }, target),
      () => use(target),
    );
  }
}

/** Creates a folder that is writable for any user that pods run as. */
async function makeFolder(path: string): Promise<void> {
  const entry = await found(path);
  if (entry?.isDirectory()) return;
  if (entry) throw new VolumeError(`${JSON.stringify(path)} of the share is not a directory`);
  await mkdir(path);
  await chmod(path, 0o777);
}

/** Returns true when the server has no such directory. */
const isMissing = (error: unknown) =>
  error instanceof VolumeError &&
  error.cause instanceof ExecError &&
  /No such file or directory/.test(error.cause.failure.stderr);

/**
 * Returns the reason why this machine cannot mount NFS; undefined when it can. Must be called only after a
 * failure, because a mount makes the kernel load its module.
 */
async function lacking(): Promise<string | undefined> {
  const helper = await access('/sbin/mount.nfs').then(
    () => true,
    () => false,
  );
  if (!helper) return 'this machine has no mount.nfs; install the package nfs-common';
  const known = await readFile('/proc/filesystems', 'utf8');
  return /\tnfs4?$/m.test(known)
    ? undefined
    : "this machine's kernel has no NFS; run the pod on a node that has it, or load the module nfs";
}
