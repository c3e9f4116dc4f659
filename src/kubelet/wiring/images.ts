/** Wires the room `images`: pulling images, and removing unused ones. */
import { ImageGc } from '../images/image-gc.ts';
import { ImagePuller } from '../images/image-puller.ts';
import { ImageRecord } from '../images/image-record.ts';
import { defaultImageThresholds } from '../images/plan/images-to-free.ts';
import { Pulls } from '../images/pulls.ts';
import type { Shared } from './shared.ts';

export type ImagesRoom = ReturnType<typeof wireImages>;

export function wireImages(shared: Shared) {
  const { client, runtime, events, clock, log, dataDir, nodeState, startRecords, readUsage } = shared;
  const record = new ImageRecord({ dataDir, clock, log });
  const pulls = new Pulls();
  const images = new ImagePuller({
    ...{ client, runtime, events, clock, record, pulls },
    atOnce: shared.maxParallelImagePulls ?? 3,
    onPulled: (uid, period) => startRecords.pulled(uid, period),
  });
  const imageCollector = new ImageGc({
    ...{ runtime, record, events, clock, log },
    clusterImages: () => images.clusterImages,
    thresholds: shared.imageGc ?? defaultImageThresholds,
    readUsage: async () => {
      const { imagefs, nodefs } = await readUsage();
      return imagefs ?? nodefs;
    },
    node: () => nodeState.node,
  });
  return { record, pulls, images, imageCollector };
}
