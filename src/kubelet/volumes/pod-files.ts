/**
 * A pod's files on disk: <data>/pods/<uid>/ with its name files, its volumes and its containers' termination
 * messages; <data>/volume-mounts/<uid>/ with mounts of external storage for the pod;
 * <data>/volume-subpaths/<uid>/ with the parts of volumes that its containers mount. Every step is safe to
 * repeat; removal never leaves the pod's own directory.
 */
import { chmod, mkdir, open, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Exec } from '../../os/exec.ts';
import { removeTree } from '../../os/remove-tree.ts';
import { unmountUnder } from './mounts.ts';
import { ownPlaces } from './plan/volumes.ts';
import { removeMountPoints } from './sub-paths.ts';

export interface PodFilesOptions {
  readonly dataDir: string;
  readonly exec: Exec;
}

/** Maximum bytes of a termination message, as in Kubernetes. */
const messageLimit = 4096;

export class PodFiles {
  readonly #options: PodFilesOptions;

  constructor(options: PodFilesOptions) {
    this.#options = options;
  }

  directory(uid: string): string {
    return join(this.#options.dataDir, 'pods', uid);
  }

  /**
   * Returns the directory of mounted parts of volumes. It is not below the pod's directory, which is measured
   * and removed as a whole.
   */
  subPaths(uid: string): string {
    return join(this.#options.dataDir, 'volume-subpaths', uid);
  }

  /**
   * Returns the directory of mounts of external storage for the pod, for the same reason not below the pod's
   * directory.
   */
  mounts(uid: string): string {
    return join(this.#options.dataDir, 'volume-mounts', uid);
  }

  /** Makes the pod's directory. */
  async make(uid: string): Promise<void> {
    await mkdir(this.directory(uid), { recursive: true, mode: 0o750 });
  }

  /** Creates an empty file for the container's termination message; returns its path. */
  async makeTerminationFile(uid: string, container: string, attempt: number): Promise<string> {
    const path = join(this.directory(uid), 'containers', container, String(attempt));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '');
    // The container may write the file as any user.
    await chmod(path, 0o666);
    return path;
  }

  /** Returns the message; '' when there is none. */
  async readTerminationMessage(path: string): Promise<string> {
    if (path === '') return '';
    try {
      await using file = await open(path);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(messageLimit), 0, messageLimit, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    }
  }

  /** Removes the pod's volumes and leaves its other files. Rejects as `remove`. */
  async removeVolumes(uid: string, signal?: AbortSignal): Promise<void> {
    const { exec } = this.#options;
    const directory = ownPlaces(this.directory(uid));
    await removeMountPoints(this.subPaths(uid), exec);
    await removeMountPoints(this.mounts(uid), exec);
    await unmountUnder(directory, exec);
    await removeTree(directory, exec, signal);
  }

  /**
   * Removes all files of the pod. Rejects when something could not be removed, or with the signal's reason
   * when that aborts.
   */
  async remove(uid: string, signal?: AbortSignal): Promise<void> {
    const directory = this.directory(uid);
    const { exec } = this.#options;
    // Parts of volumes are unmounted before the volumes.
    await removeMountPoints(this.subPaths(uid), exec);
    await removeMountPoints(this.mounts(uid), exec);
    await unmountUnder(directory, exec);
    await removeTree(directory, exec, signal);
  }
}
