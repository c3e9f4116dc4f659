/**
 * The folders of local volumes that this server makes by itself, in a directory of their own. One is made when a pod first has it
 * and removed when its volume goes; nothing but a direct entry of the directory, named as the volume, is ever touched.
 */
import { chmod, mkdir, mkdtemp, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { localProvisioner } from '../../api/core/v1/local-volumes.ts';
import type { PersistentVolume } from '../../api/core/v1/types.gen.ts';
import { provisionedBy } from '../../api/core/v1/volume-binding.ts';
import { nodeOf } from '../../api/core/v1/volume-recycling.ts';
import type { Exec } from '../../base/exec.ts';
import { found, removeEntry } from './entries.ts';

export interface LocalVolumesOptions {
  readonly dataDir: string;
  readonly nodeName: string;
  readonly exec: Exec;
}

/** Of one that is not made yet: no volume is called so. */
const draftPrefix = '..new-';

export const localVolumesDirectory = (dataDir: string) => join(dataDir, 'local-volumes');

export class LocalVolumes {
  readonly #options: LocalVolumesOptions;
  readonly #directory: string;

  constructor(options: LocalVolumesOptions) {
    this.#options = options;
    this.#directory = localVolumesDirectory(options.dataDir);
  }

  /** Whether the volume's folder is one of those here, and may be made and removed. */
  isOwn(volume: PersistentVolume): boolean {
    const { name, annotations } = volume.metadata;
    const isLocal = annotations?.[provisionedBy] === localProvisioner;
    return (
      isLocal && nodeOf(volume) === this.#options.nodeName && volume.spec.local?.path === this.#folder(name)
    );
  }

  /** Makes the folder, for whoever the pods run as; without effect where it is. There in one step. */
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

  /** What an agent left that was killed while it made folders; before the first is made. Only empty ones: nothing is ever in them. */
  async removeDrafts(): Promise<void> {
    const names = await readdir(this.#directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    for (const name of names) if (name.startsWith(draftPrefix)) await rmdir(join(this.#directory, name));
  }

  /** Of one that is its own. */
  async remove({ metadata: { name } }: PersistentVolume, signal: AbortSignal): Promise<void> {
    await removeEntry(this.#folder(name), this.#options.exec, signal);
  }

  /** Names of volumes are labels with dots between them: none leads elsewhere. */
  #folder(name: string): string {
    return join(this.#directory, name);
  }
}
