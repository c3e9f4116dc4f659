/** Images on one master: uploads, archives, and the access of nodes to them. */

import { newStatusError } from '../../../apimachinery/status-error.ts';
import type { Handler } from '../../../apiserver/request/request-scope.ts';
import type { Subresource } from '../../../apiserver/subresources/subresources.ts';
import type { ServerPart, ServerPartContext } from '../../../kube-apiserver/server-part.ts';
import { archiveSubresource, imageResource, uploadSubresource } from '../api/image.ts';
import { sendArchive } from './archive.ts';
import { ImageChores } from './image-chores.ts';
import { ImageObjects } from './image-objects.ts';
import type { ImageStore } from './image-store.ts';
import { imageNodeAccess } from './node-access.ts';
import { uploads } from './upload.ts';

export interface ImagesServerOptions {
  /** Absent: this master keeps no images, and accepts no uploads. */
  readonly store?: ImageStore | undefined;
  /** Images that every node may get. */
  readonly shared: readonly string[];
}

export function imagesServer({ store, shared }: ImagesServerOptions, context: ServerPartContext): ServerPart {
  const { clock, log, handler, nodeConnection } = context;
  let made: ImageObjects | undefined;
  const objects = () => {
    if (!made) throw new Error('the server has not been made yet');
    return made;
  };
  const chores = store && new ImageChores({ store, objects, clock, log: log.named('images') });
  const methods = store ? uploads({ store, objects }) : { GET: noStore, PUT: noStore, POST: noStore };
  const upload: Subresource = { ...bytes('ImageUpload'), methods, longRunning: 'call', takesPath: true };
  const archive: Subresource = {
    ...bytes('ImageArchive'),
    methods: { GET: sendArchive({ store, objects, nodeConnection }) },
    longRunning: 'stream',
  };
  return {
    feature: (server) => {
      made = new ImageObjects(server, handler);
      return {
        subresources: {
          [`${imageResource.group}/${imageResource.plural}`]: {
            [uploadSubresource]: upload,
            [archiveSubresource]: archive,
          },
        },
        nodeAccess: imageNodeAccess(server, shared),
      };
    },
    start: () => chores?.start(),
    stop: () => void chores?.stop(),
  };
}

const bytes = (kind: string) => ({
  kind: { group: imageResource.group, version: imageResource.version, kind },
  answersBytes: true,
});

const noStore: Handler = () => {
  throw newStatusError('ServiceUnavailable', 'this master keeps no images');
};
