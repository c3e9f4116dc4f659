/**
 * Folders of local volumes that this node creates itself, in a directory of their own. A folder is created
 * when a pod first uses it and removed with its volume; only direct entries of the directory, named after
 * their volumes, are ever changed.
 */
import { chmod, mkdir, mkdtemp, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PersistentVolume } from '../../api/core/v1/types.gen.ts';
import { provisionedBy } from '../../api/core/v1/volume/binding.ts';
import { localProvisioner } from '../../api/core/v1/volume/local-volumes.ts';
import { nodeOf } from '../../api/core/v1/volume/recycling.ts';
import type { Exec } from '../../os/exec.ts';
import { found, removeEntry } from './entries.ts';

export interface LocalVolumesOptions {
  readonly dataDir: string;
  readonly nodeName: string;
  readonly exec: Exec;
}

/** Prefix of a folder that is not complete yet: no volume has such a name. */
const draftPrefix = '..new-';

export const localVolumesDirectory = (dataDir: string) => join(dataDir, 'local-volumes');

export class LocalVolumes {
  readonly #options: LocalVolumesOptions;
  readonly #directory: string;

  constructor(options: LocalVolumesOptions) {
    this.#options = options;
    this.#directory = localVolumesDirectory(options.dataDir);
  }

  /** Returns true when the volume's folder is one of this directory, and may be created and removed. */
  isOwn(volume: PersistentVolume): boolean {
    const { name, annotations } = volume.metadata;
    const isLocal = annotations?.[provisionedBy] === localProvisioner;
    return (
      isLocal && nodeOf(volume) === this.#options.nodeName && volume.spec.local?.path === this.#folder(name)
    );
  }

  /**
   * Creates the folder in one step, writable for any user that pods run as; has no effect where it exists.
   */
  async make({ metadata: { name } }: PersistentVolume): Promise<void> {
    const folder = this.#folder(name);
    await mkdir(this.#directory, { recursive: true, mode: 0o711 });
    if (await found(folder)) return;
    const draft = await mkdtemp(join(this.#directory, draftPrefix));
    try {
      await chmod(draft, 0o777);
      await rename(draft, folder);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
  }

  /**
   * Removes unfinished folders of an agent that was killed while creating them; must be called before the
   * first folder is created. Only empty folders are removed: unfinished ones never contain anything.
   */
  async removeDrafts(): Promise<void> {
    const names = await readdir(this.#directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    for (const name of names) if (name.startsWith(draftPrefix)) await rmdir(join(this.#directory, name));
  }

  /** Removes the folder of a volume for which `isOwn` is true. */
  async remove({ metadata: { name } }: PersistentVolume, signal: AbortSignal): Promise<void> {
    await removeEntry(this.#folder(name), this.#options.exec, signal);
  }

  /**
   * Returns the folder's path. Names of volumes are labels separated by dots, so none leads to another
   * directory.
   */
  #folder(name: string): string {
    return join(this.#directory, name);
  }
}
