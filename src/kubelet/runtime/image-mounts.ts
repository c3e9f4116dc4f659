/**
 * Mounts of images into containers, in the Docker API's form. Pure.
 *
 * Docker makes a layer for each mount and names it after the container and the image as the request names it,
 * so one image can be mounted twice only under two names. Each mount of the image therefore uses a shorter
 * prefix of its id. A layer is left behind for good when the same request fails later, so image mounts come
 * after all other mounts, which are more likely to fail.
 */
import type { Docker } from '../../docker/client.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import type { ImageMount } from './container-config.ts';

/** Oldest API version with image mounts (Docker 28); older engines reject such a mount or ignore it. */
export const imageMountApi = '1.48';

/** Shortest prefix of an id's 64 digits that still identifies one image. */
const minDigits = 24;
/** Maximum number of mounts of one image into a container: one for each length of the prefix. */
const maxMounts = 64 - minDigits + 1;

/** Returns the mounts; throws RuntimeError when one image is mounted more often than it has names. */
export function imageMounts(wanted: readonly ImageMount[]): readonly Docker.MountSettings[] {
  const names = new Set<string>();
  return wanted.map(({ imageId, target, subPath }) => {
    let name = imageId.replace(/^sha256:/, '');
    while (names.has(name)) name = name.slice(0, -1);
    if (name.length < minDigits)
      throw new RuntimeError(
        'Failed',
        `Docker cannot mount an image more than ${maxMounts} times into a container: ${imageId}`,
      );
    names.add(name);
    return {
      Type: 'image',
      Source: name,
      Target: target,
      ReadOnly: true,
      ...(subPath !== '' && { ImageOptions: { Subpath: subPath } }),
    } as unknown as Docker.MountSettings;
  });
}

interface Inspected {
  readonly Mounts?: readonly {
    readonly Type?: string;
    readonly Source: string;
    readonly Destination: string;
  }[];
  readonly HostConfig: {
    readonly Mounts?: readonly {
      readonly Target: string;
      readonly ImageOptions?: { readonly Subpath?: string };
    }[];
  };
}

/**
 * Returns the part of an image that is missing, when that is why a container was not started. It is found in
 * Docker's message, which names the directory on this machine. Returns undefined when there was
 * another cause.
 */
export function missingPart({ Mounts = [], HostConfig }: Inspected, message: string): string | undefined {
  // The path of one mount may be a prefix of another's of the same image.
  const [mount] = Mounts.filter(({ Type, Source }) => Type === 'image' && message.includes(Source)).toSorted(
    (a, b) => b.Source.length - a.Source.length,
  );
  const requested = HostConfig.Mounts?.find(({ Target }) => Target === mount?.Destination);
  const subPath = requested?.ImageOptions?.Subpath;
  return mount && subPath !== undefined
    ? `${JSON.stringify(subPath)} of the image for ${mount.Destination}`
    : undefined;
}
