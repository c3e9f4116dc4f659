/** NVIDIA cards by the files of their driver: one directory each below /proc/driver/nvidia/gpus. */

export interface NvidiaCard {
  /** UUID such as `GPU-6c5f…`. */
  readonly uuid: string;
  /** Minor number of the card's file in /dev. */
  readonly minor: number;
}

/** Parses a card's file `information`; returns undefined for a card that the driver cannot use. */
export function readCard(information: string): NvidiaCard | undefined {
  const fields = new Map(
    information.split('\n').flatMap((line) => {
      const at = line.indexOf(':');
      return at < 0 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()] as const];
    }),
  );
  const uuid = fields.get('GPU UUID') ?? '';
  const minor = fields.get('Device Minor') ?? '';
  if (!/^GPU-[0-9a-f-]+$/i.test(uuid) || !/^\d+$/.test(minor)) return undefined;
  return { uuid, minor: Number(minor) };
}

/**
 * Returns the driver's files that every program needs which uses a card; not every machine has all of them.
 */
export const nvidiaShared = (dev: string) =>
  ['nvidiactl', 'nvidia-uvm', 'nvidia-uvm-tools', 'nvidia-modeset'].map((name) => `${dev}/${name}`);

export const nvidiaFile = ({ minor }: NvidiaCard, dev: string) => `${dev}/nvidia${minor}`;

export const nvidiaResource = 'nvidia.com/gpu';
