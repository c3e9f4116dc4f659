/** The chores of an agent for volumes that are no longer used, for each kind of storage. */
import { dirname, join } from 'node:path';
import type { Exec } from '../../os/exec.ts';
import type { ClaimedVolumes } from './claimed-volumes.ts';
import { emptyFolder, removeContent } from './empty-folder.ts';
import type { LocalVolumes } from './local-volumes.ts';
import type { Shares } from './shares.ts';
import type { VolumeChoresOptions } from './volume-chores.ts';

export interface ChoreTools {
  /** The agent's own directory, inside the node's. */
  readonly dataDir: string;
  /** Returns the engine's directory of images and containers; undefined while it is not known. */
  readonly engineDirectory: () => string | undefined;
  readonly exec: Exec;
  readonly localVolumes: Pick<LocalVolumes, 'isOwn' | 'remove'>;
  readonly shares: Pick<Shares, 'removeFolder' | 'within'>;
  readonly claims: Pick<ClaimedVolumes, 'isShared'>;
}

export const choreSteps = (tools: ChoreTools): VolumeChoresOptions['run'] => ({
  async remove(volume, signal) {
    const { localVolumes, shares } = tools;
    if (localVolumes.isOwn(volume)) await localVolumes.remove(volume, signal);
    else if (volume.spec.nfs) await shares.removeFolder(volume, signal);
    else throw new Error('its path was not created by this node');
  },

  async empty(volume, signal) {
    const { dataDir, engineDirectory, exec, shares, claims } = tools;
    const { name } = volume.metadata;
    // The PersistentVolume may have been deleted while a pod of this node still ends.
    if (claims.isShared(name, '')) throw new Error('a pod of this node still uses it');
    const { hostPath } = volume.spec;
    if (!hostPath) return shares.within(volume, (root) => removeContent(root, exec, signal));
    const engine = engineDirectory();
    const kept = [dirname(dataDir), ...(engine === undefined ? [] : [engine])];
    const target = join(dataDir, 'emptied', name);
    await emptyFolder({ path: hostPath.path, target, kept }, exec, signal);
  },
});
