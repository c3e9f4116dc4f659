/** Kinds persistentVolumeClaim and ephemeral: the volume to which a claim is bound, with any storage. */
import { claimNameOf } from '../../../api/core/v1/pod/claims.ts';
import { measuredPathOfSource, placeOfSource, prepareSource } from './persistent-source.ts';
import type { PodVolume, VolumeKind, VolumeTools } from './volume-kind.ts';

export const claim: VolumeKind = {
  has: ({ persistentVolumeClaim, ephemeral }) =>
    persistentVolumeClaim !== undefined || ephemeral !== undefined,
  place: ({ persistentVolumeClaim }) => ({
    path: '',
    readOnly: persistentVolumeClaim?.readOnly ?? false,
    isAtomic: false,
  }),
  async locate(tools, of) {
    const place = await placeOfSource(tools, of, await tools.claims.of(of.pod, of.volume));
    return { ...place, readOnly: place.readOnly || of.place.readOnly };
  },
  measured(tools, of) {
    const found = tools.claims.known(of.pod, of.volume);
    return found && measuredPathOfSource(tools, of, found);
  },
  basis: ({ sources }, { pod, volume }) =>
    sources.version('claim', pod.metadata.namespace ?? '', claimNameOf(pod, volume) ?? ''),
  steps: [{ operation: 'MountVolume.SetUp', run: setUp }],
};

async function setUp(tools: VolumeTools, of: PodVolume): Promise<undefined> {
  await prepareSource(tools, of, await tools.claims.find(of.pod, of.volume));
}
