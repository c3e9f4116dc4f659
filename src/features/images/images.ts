/** Images that the cluster holds, for clusters without a registry. */
import type { Feature } from '../feature.ts';
import type { FunctionFlags } from '../functions/api/settings.ts';
import { imageRoles } from './roles.ts';
import type { ImageStore } from './server/image-store.ts';
import { imagesServer } from './server/images-server.ts';

export interface ImageSettings extends Partial<Pick<FunctionFlags, 'python-image' | 'nodejs-image'>> {
  /** Blobs of images on this master; absent: it keeps none. */
  readonly imageStore?: ImageStore;
}

export const images: Feature<ImageSettings> = {
  name: 'images',
  roles: imageRoles,
  server: (settings, context) => {
    const { imageStore: store, 'python-image': python, 'nodejs-image': nodejs } = settings;
    // Nodes build functions from these images for any pod of a function.
    const shared = [python, nodejs].flatMap((image) => image ?? []);
    return imagesServer({ store, shared }, context);
  },
  controllers: [],
};
