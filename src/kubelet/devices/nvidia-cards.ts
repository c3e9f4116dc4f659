/** NVIDIA's cards of this machine, found by the files of their driver; where NVIDIA's own device plugin runs, it offers them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, sleep } from '../../base/clock.ts';
import type { DeviceManager } from './device-manager.ts';
import type { DeviceSource } from './device-source.ts';
import { numberOf, whole } from './file-devices.ts';
import { type Device, DeviceError, type GivenDevices } from './plan/device.ts';
import { nvidiaFile, nvidiaResource, nvidiaShared, readCard } from './plan/nvidia-files.ts';

export interface NvidiaCardsOptions {
  /** Where the driver says which cards it has; it tells no changes. */
  readonly directory?: string;
  /** Where the cards' own files are. */
  readonly dev?: string;
  readonly manager: Pick<DeviceManager, 'set' | 'get'>;
  readonly clock: Clock;
  /** Whether the engine itself can give cards to a container, with the driver's libraries. */
  readonly hasHook: () => boolean;
}

const lookMs = 30_000;

export class NvidiaCards implements DeviceSource {
  readonly resource = nvidiaResource;
  readonly #options: NvidiaCardsOptions;
  #devices: readonly Device[] = [];
  #files: ReadonlyMap<string, string> = new Map();

  constructor(options: NvidiaCardsOptions) {
    this.#options = options;
  }

  get devices(): readonly Device[] {
    return this.#devices;
  }

  /** A card that was there and that the driver has no longer is not healthy. */
  async look(): Promise<void> {
    const { directory = '/proc/driver/nvidia/gpus', dev = '/dev' } = this.#options;
    const files = await filesOfCards(directory, dev);
    const now: Device[] = [];
    for (const [uuid, file] of files) now.push({ id: uuid, healthy: (await numberOf(file)) !== undefined });
    const lost = this.#devices.filter(({ id }) => !files.has(id)).map(({ id }) => ({ id, healthy: false }));
    const devices = [...now, ...lost].toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const isSame = JSON.stringify(devices) === JSON.stringify(this.#devices);
    this.#files = files;
    this.#devices = devices;
    const { manager } = this.#options;
    const offered = manager.get(this.resource);
    if (devices.length > 0 && (offered === undefined || (offered === this && !isSame))) manager.set(this);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#options.clock, lookMs, signal).catch(() => undefined);
      if (!signal.aborted) await this.look();
    }
  }

  async give(ids: readonly string[]): Promise<Partial<GivenDevices>> {
    if (this.#options.hasHook()) return { nvidia: ids };
    const files = ids.map((id) => this.#files.get(id));
    const shared: string[] = [];
    for (const path of nvidiaShared(this.#options.dev ?? '/dev'))
      if ((await numberOf(path)) !== undefined) shared.push(path);
    const nodes = files.map((file, index) => {
      if (file === undefined) throw new DeviceError(`the driver has no card ${ids[index]} any more`);
      return file;
    });
    return { nodes: [...nodes, ...shared].map(whole), env: { NVIDIA_VISIBLE_DEVICES: ids.join(',') } };
  }
}

/** The file of each card, by its UUID. */
async function filesOfCards(directory: string, dev: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(directory).catch(() => []);
  const files = new Map<string, string>();
  for (const name of names) {
    const information = await readFile(join(directory, name, 'information'), 'utf8').catch(() => '');
    const card = readCard(information);
    if (card) files.set(card.uuid, nvidiaFile(card, dev));
  }
  return files;
}
