/** emptyDir: a directory that the pod begins with empty, on disk or in memory, and that goes with it. */
import { chmod, chown, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isMountPoint } from '../mounts.ts';
import { memoryVolumeBytes, ownPlace } from '../plan/volumes.ts';
import type { PodVolume, VolumeKind, VolumeTools } from './volume-kind.ts';

export const emptyDir: VolumeKind = {
  // Without any source it is one, as in Kubernetes.
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
  // What containers have made of one that is mounted is theirs.
  if (await isMountPoint(path)) return;
  const size = memoryVolumeBytes(pod, sizeLimit, tools.allocatableMemory);
  // As the kernel makes one, so that a user cannot take away what is another's.
  const owned = fsGroup === undefined ? 'mode=1777' : `mode=3777,gid=${fsGroup}`;
  await tools.exec('mount', ['-t', 'tmpfs', '-o', `${owned},size=${size}`, 'tmpfs', path]);
}

/** There in one step, so that one that is there is whole: what containers have made of its mode and owner is theirs. */
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
