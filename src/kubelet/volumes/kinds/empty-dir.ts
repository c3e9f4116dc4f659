/**
 * Kind emptyDir: a directory that is empty when the pod starts, on disk or in memory, and is removed with the
 * pod.
 */
import { chmod, chown, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isMountPoint } from '../mounts.ts';
import { memoryVolumeBytes, ownPlace } from '../plan/volumes.ts';
import type { PodVolume, VolumeKind, VolumeTools } from './volume-kind.ts';

export const emptyDir: VolumeKind = {
  // A volume without any source is an emptyDir, as in Kubernetes.
  has: ({ name: _, emptyDir, ...others }) => Object.keys(others).length === 0 && isKnown(emptyDir?.medium),
  place: ({ name }, podDirectory) => ({
    path: ownPlace(podDirectory, name),
    readOnly: false,
    isAtomic: false,
  }),
  steps: [{ operation: 'MountVolume.SetUp', run: setUp }],
};

const isKnown = (medium = '') => medium === '' || medium === 'Memory';

async function setUp(tools: VolumeTools, { pod, volume, place: { path } }: PodVolume): Promise<undefined> {
  const { medium, sizeLimit } = volume.emptyDir ?? {};
  const { fsGroup } = pod.spec.securityContext;
  if (medium !== 'Memory') return makeDirectory(path, fsGroup);
  await mkdir(path, { recursive: true });
  // Content of a mounted volume belongs to the containers.
  if (await isMountPoint(path)) return;
  const size = memoryVolumeBytes(pod, sizeLimit, tools.allocatableMemory);
  // The mode is the same as for a tmpfs mounted by the kernel: a user cannot remove another user's files.
  const owned = fsGroup === undefined ? 'mode=1777' : `mode=3777,gid=${fsGroup}`;
  await tools.exec('mount', ['-t', 'tmpfs', '-o', `${owned},size=${size}`, 'tmpfs', path]);
}

/**
 * Creates the directory in one step, so that an existing one is complete: its mode and owner, which
 * containers may have changed, are kept.
 */
async function makeDirectory(path: string, fsGroup: number | undefined): Promise<undefined> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found) return;
  await mkdir(dirname(path), { recursive: true });
  const draft = await mkdtemp(join(dirname(path), '..new-'));
  try {
    if (fsGroup !== undefined) await chown(draft, 0, fsGroup);
    await chmod(draft, fsGroup === undefined ? 0o777 : 0o2777);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}
