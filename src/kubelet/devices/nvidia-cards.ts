/**
 * The NVIDIA cards of this machine, found through the files of their driver; where NVIDIA's own device plugin
 * runs, that plugin offers them.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { keepDoing } from '../../base/keep-doing.ts';
import type { Logger } from '../../base/log.ts';
import type { DeviceManager } from './device-manager.ts';
import type { DeviceSource } from './device-source.ts';
import { numberOf, whole } from './file-devices.ts';
import { followKernelLog } from './kernel-log.ts';
import { type Device, DeviceError, type GivenDevices } from './plan/device.ts';
import { nvidiaFile, nvidiaResource, nvidiaShared, readCard } from './plan/nvidia-files.ts';
import { busAddress, type CardNews, readCardNews } from './plan/xid-errors.ts';

export interface NvidiaCardsOptions {
  /** Directory in which the driver lists its cards; it reports no changes. */
  readonly directory?: string;
  /** Directory of the cards' device files. */
  readonly dev?: string;
  /** Path of the log in which the driver reports errors. Default /dev/kmsg. */
  readonly kernelLog?: string;
  readonly manager: Pick<DeviceManager, 'set' | 'get'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns true when the engine itself can give cards to a container, with the driver's libraries. */
  readonly hasHook: () => boolean;
}

const lookMs = 30_000;

interface FoundCard {
  readonly uuid: string;
  /** Address of the card on its bus; undefined where the driver's directory has no such name. */
  readonly address: string | undefined;
  readonly file: string;
}

export class NvidiaCards implements DeviceSource {
  readonly resource = nvidiaResource;
  readonly #options: NvidiaCardsOptions;
  #devices: readonly Device[] = [];
  #cards: readonly FoundCard[] = [];
  /** The Xid because of which a card is no longer given to containers, by the card's address. */
  readonly #failed = new Map<string, number>();
  /** Serializes the checks. */
  #looking: Promise<void> = Promise.resolve();
  readonly #found = Promise.withResolvers<void>();

  constructor(options: NvidiaCardsOptions) {
    this.#options = options;
  }

  get devices(): readonly Device[] {
    return this.#devices;
  }

  /** Checks the cards. A card is unhealthy when the driver no longer has it, and when it has had an error. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look());
    return this.#looking;
  }

  async #deviceOf({ uuid, address, file }: FoundCard): Promise<Device> {
    const isReadable = (await numberOf(file)) !== undefined;
    return { id: uuid, healthy: isReadable && !this.#failed.has(address ?? '') };
  }

  async #look(): Promise<void> {
    const { directory = '/proc/driver/nvidia/gpus', dev = '/dev', manager } = this.#options;
    const cards = await cardsIn(directory, dev);
    // A card that the driver released is initialized anew when the driver lists it again.
    const there = new Set(cards.map(({ address }) => address));
    for (const { address } of this.#cards)
      if (address !== undefined && !there.has(address)) this.#failed.delete(address);
    const now = await Promise.all(cards.map((card) => this.#deviceOf(card)));
    const lost = this.#devices
      .filter(({ id }) => !cards.some(({ uuid }) => uuid === id))
      .map(({ id }) => ({ id, healthy: false }));
    const devices = [...now, ...lost].toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const isSame = JSON.stringify(devices) === JSON.stringify(this.#devices);
    this.#cards = cards;
    this.#devices = devices;
    if (cards.length > 0) this.#found.resolve();
    const offered = manager.get(this.resource);
    if (devices.length > 0 && (offered === undefined || (offered === this && !isSame))) manager.set(this);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#lookAgain(signal), this.#watchErrors(signal)]);
  }

  async #lookAgain(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    await keepDoing({ clock, signal, restMs: lookMs, restsFirst: true }, () => this.look());
    this.#found.resolve();
  }

  /** Watches the kernel's log. On a machine without cards the log is not read. */
  async #watchErrors(signal: AbortSignal): Promise<void> {
    const { kernelLog, clock, log } = this.#options;
    await this.#found.promise;
    const onRecord = (line: string) => this.#take(readCardNews(line));
    await followKernelLog({ path: kernelLog, clock, log, onRecord }, signal);
  }

  #take(news: CardNews | undefined): void {
    if (news === undefined) return;
    if (news.kind === 'loaded') this.#failed.clear();
    else if (this.#failed.has(news.address)) return;
    else {
      this.#failed.set(news.address, news.xid);
      this.#options.log.warn('a card has failed and is given to no more containers', {
        card: news.address,
        xid: news.xid,
      });
    }
    void this.look();
  }

  async give(ids: readonly string[]): Promise<Partial<GivenDevices>> {
    if (this.#options.hasHook()) return { nvidia: ids };
    const shared: string[] = [];
    for (const path of nvidiaShared(this.#options.dev ?? '/dev'))
      if ((await numberOf(path)) !== undefined) shared.push(path);
    const nodes = ids.map((id) => {
      const card = this.#cards.find(({ uuid }) => uuid === id);
      if (card === undefined) throw new DeviceError(`the driver has no card ${id} any more`);
      return card.file;
    });
    return { nodes: [...nodes, ...shared].map(whole), env: { NVIDIA_VISIBLE_DEVICES: ids.join(',') } };
  }
}

async function cardsIn(directory: string, dev: string): Promise<readonly FoundCard[]> {
  const names = await readdir(directory).catch(() => []);
  const cards: FoundCard[] = [];
  for (const name of names) {
    const information = await readFile(join(directory, name, 'information'), 'utf8').catch(() => '');
    const card = readCard(information);
    if (card) cards.push({ uuid: card.uuid, address: busAddress(name), file: nvidiaFile(card, dev) });
  }
  return cards;
}
