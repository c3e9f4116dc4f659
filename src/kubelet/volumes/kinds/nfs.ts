/** Kind nfs: a directory of another machine, mounted separately for each pod. */
import { join } from 'node:path';
import type { PodVolume, VolumeKind, VolumePlace, VolumeTools } from './volume-kind.ts';

const locate = ({ mountsOf }: VolumeTools, { pod, volume, place }: PodVolume): VolumePlace => ({
  ...place,
  path: join(mountsOf(pod.metadata.uid), volume.name),
});

export const nfs: VolumeKind = {
  has: ({ nfs }) => nfs !== undefined,
  place: ({ nfs }) => ({ path: '', readOnly: nfs?.readOnly ?? false, isAtomic: false }),
  locate: async (tools, of) => locate(tools, of),
  measured: (tools, of) => locate(tools, of).path,
  steps: [
    {
      operation: 'MountVolume.SetUp',
      async run(tools, of) {
        const { nfs } = of.volume;
        if (nfs) await tools.shares.mount(nfs, locate(tools, of).path);
        return undefined;
      },
    },
  ],
};
