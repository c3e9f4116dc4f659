/**
 * Images that containers have among their files, as the Docker API has them. Pure.
 *
 * Docker makes a layer for each mount and names it after the container and the image as the request has it, so one image may be
 * mounted twice only by two names. Each mount of it has a shorter beginning of its id. A layer is left behind for good when the
 * same request fails later, so they come after all other mounts, of which more can be wrong.
 */
import type { Docker } from '../../docker/client.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import type { ImageMount } from './runtime.ts';

/** Docker 28: older ones refuse such a mount, or do not know it. */
export const imageMountApi = '1.48';

/** Of the 64 digits of an id: so many are of one image alone. */
const fewestDigits = 24;

/** Throws RuntimeError for more mounts of one image than there are names for. */
export function imageMounts(wanted: readonly ImageMount[]): readonly Docker.MountSettings[] {
  const names = new Set<string>();
  return wanted.map(({ imageId, target, subPath }) => {
    let name = imageId.replace(/^sha256:/, '');
    while (names.has(name)) name = name.slice(0, -1);
    if (name.length < fewestDigits)
      throw new RuntimeError('Failed', `Docker cannot mount one image so often: ${imageId}`);
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
 * The part of an image for which a container was not started, by what Docker said of that: it names the directory on this
 * machine. Undefined when it was something else.
 */
export function missingPart({ Mounts = [], HostConfig }: Inspected, said: string): string | undefined {
  // The name of one may begin with that of another of the same image.
  const [mount] = Mounts.filter(({ Type, Source }) => Type === 'image' && said.includes(Source)).toSorted(
    (a, b) => b.Source.length - a.Source.length,
  );
  const asked = HostConfig.Mounts?.find(({ Target }) => Target === mount?.Destination);
  const subPath = asked?.ImageOptions?.Subpath;
  return mount && subPath !== undefined
    ? `${JSON.stringify(subPath)} of the image for ${mount.Destination}`
    : undefined;
}
