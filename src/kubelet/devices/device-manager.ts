/**
 * The devices of this machine: their number in the Node's status, and their allocation, each to one
 * container. The engine stores the allocation in the labels of the containers. Only the allocations of
 * containers that do not exist yet are kept here.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { isRecord } from '../../apimachinery/equality.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { type Replaceable, replaceable } from '../../base/current.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { replaceFile } from '../../os/replace-file.ts';
import type { ContainerState } from '../runtime/runtime.ts';
import type { DeviceSource } from './device-source.ts';
import { choiceFor, chosen, deviceRequests, type Holding } from './plan/choose-devices.ts';
import { bothGiven, DeviceError, type GivenDevices, nothingGiven } from './plan/device.ts';
import { countAway, countOf, type DeviceCounts } from './plan/device-counts.ts';

export interface DeviceManagerOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns all containers on this machine, running or not. */
  readonly containers: () => readonly ContainerState[];
  /** Returns true when the pod still holds its devices. */
  readonly isActive: (uid: string) => boolean;
}

/**
 * Time that a resource stays in the capacity after its source is gone (pkg/kubelet/cm/devicemanager:
 * endpointStopGracePeriod).
 */
const awayMs = 300_000;

export class DeviceManager {
  readonly counts: Replaceable<DeviceCounts> = replaceable(new Map());
  readonly #options: DeviceManagerOptions;
  readonly #sources = new Map<string, DeviceSource>();
  /** Resources whose source is gone, with their last number of devices. */
  readonly #away = new Map<string, { readonly capacity: number; readonly timer: Timer }>();
  /** Resources that this Node had and no longer has. */
  readonly #gone = new Set<string>();
  /** Devices given to containers that may not exist yet. */
  readonly #given: Holding[] = [];
  /** Serializes allocations. */
  #turn: Promise<unknown> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();
  /** Capacities that wait to be written; undefined when there are none. Newer ones replace them. */
  #unwritten: Record<string, number> | undefined;

  constructor(options: DeviceManagerOptions) {
    this.#options = options;
  }

  /** Loads the capacities of an earlier agent: their sources count as away until they are set again. */
  async load(): Promise<void> {
    for (const [resource, capacity] of Object.entries(await this.#read()))
      if (typeof capacity === 'number') this.#setAway(resource, capacity);
    this.#publish();
  }

  /**
   * Adds a source, or updates it after its devices have changed. A later source of the same resource replaces
   * the earlier one.
   */
  set(source: DeviceSource): void {
    const { resource } = source;
    this.#away.get(resource)?.timer.cancel();
    this.#away.delete(resource);
    this.#gone.delete(resource);
    this.#sources.set(resource, source);
    this.#publish();
  }

  /** Marks a source as gone; it may come back. */
  away(source: DeviceSource): void {
    const { resource, devices } = source;
    if (this.#sources.get(resource) !== source) return;
    this.#sources.delete(resource);
    this.#setAway(resource, devices.length);
    this.#publish();
  }

  get(resource: string): DeviceSource | undefined {
    return this.#sources.get(resource);
  }

  /** Returns the number of devices by resource that can be given now. */
  allocatable(): Record<string, string> {
    return Object.fromEntries(
      [...this.#sources.values()].map((source) => [
        source.resource,
        String(countOf(source.devices).allocatable),
      ]),
    );
  }

  /** Allocates the container's devices. Rejects with DeviceError when they are not available now. */
  giveTo(pod: Pod, container: string): Promise<GivenDevices> {
    const resources = new Set([...this.#sources.keys(), ...this.#away.keys(), ...this.#gone]);
    const wanted = deviceRequests(pod, container, resources);
    if (wanted.size === 0) return Promise.resolve(nothingGiven);
    const given = this.#turn.then(async () => {
      let all = nothingGiven;
      for (const [resource, count] of wanted)
        all = bothGiven(all, await this.#give(pod, container, resource, count));
      return all;
    });
    this.#turn = given.catch(() => undefined);
    return given;
  }

  async #give(pod: Pod, container: string, resource: string, count: number): Promise<GivenDevices> {
    const source = this.#sources.get(resource);
    if (!source)
      throw new DeviceError(
        `nothing on this node offers ${resource} now: its device plugin is not registered`,
      );
    const choice = choiceFor(
      pod,
      container,
      resource,
      count,
      source.devices,
      this.#holdings(pod.metadata.uid),
    );
    const isChoice = choice.first.length < count && choice.free.length > count - choice.first.length;
    const available = [...choice.first, ...choice.free];
    try {
      const preferred = isChoice ? await source.preferred?.(available, choice.first, count) : undefined;
      const ids = chosen(choice, preferred);
      const given = await source.give(ids);
      await source.beforeStart?.(ids);
      this.#remember({ uid: pod.metadata.uid, container, resource, ids });
      return { ...nothingGiven, ...given, ids: { [resource]: ids } };
    } catch (error) {
      throw new DeviceError(`cannot allocate ${count} of ${resource}: ${errorMessage(error)}`, {
        cause: error,
      });
    }
  }

  /**
   * Returns the allocations: for this pod every one that it ever had, newest first; for other pods those that
   * they still hold.
   */
  #holdings(uid: string): readonly Holding[] {
    const { containers, isActive } = this.#options;
    const kept = this.#given.filter((holding) => isActive(holding.uid));
    this.#given.splice(0, this.#given.length, ...kept);
    const labeled = containers()
      .filter(({ pod }) => pod.uid === uid || isActive(pod.uid))
      .toSorted((one, other) => other.createdAt - one.createdAt)
      .flatMap(({ pod, name, devices = {} }) =>
        Object.entries(devices).map(([resource, ids]) => ({ uid: pod.uid, container: name, resource, ids })),
      );
    return newestOfEach([...kept, ...labeled]);
  }

  #remember(holding: Holding): void {
    const same = this.#given.findIndex((other) => key(other) === key(holding));
    if (same >= 0) this.#given.splice(same, 1);
    this.#given.push(holding);
  }

  #setAway(resource: string, capacity: number): void {
    const timer = this.#options.clock.after(awayMs, () => {
      this.#away.delete(resource);
      this.#gone.add(resource);
      this.#options.log.info('the devices of a resource have been removed from this node', { resource });
      this.#publish();
    });
    this.#away.set(resource, { capacity, timer });
  }

  #publish(): void {
    const counts: DeviceCounts = new Map([
      ...[...this.#gone].map((name) => [name, undefined] as const),
      ...[...this.#away].map(([name, { capacity }]) => [name, countAway(capacity)] as const),
      ...[...this.#sources.values()].map((source) => [source.resource, countOf(source.devices)] as const),
    ]);
    this.counts.replace(counts);
    if (this.#unwritten === undefined) this.#writing = this.#writing.then(() => this.#writeNewest());
    this.#unwritten = Object.fromEntries(
      [...counts].flatMap(([name, count]) => (count ? [[name, count.capacity]] : [])),
    );
  }

  get #file(): string {
    return join(this.#options.dataDir, 'devices.json');
  }

  async #read(): Promise<Record<string, unknown>> {
    try {
      const value: unknown = JSON.parse(await readFile(this.#file, 'utf8'));
      return isRecord(value) ? value : {};
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      this.#options.log.warn('cannot read the stored devices', { error: errorMessage(error) });
      return {};
    }
  }

  async #writeNewest(): Promise<void> {
    const known = this.#unwritten;
    this.#unwritten = undefined;
    try {
      await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
      await replaceFile(this.#file, JSON.stringify(known), { mode: 0o600 });
    } catch (error) {
      this.#options.log.warn('cannot store the devices', { error: errorMessage(error) });
    }
  }

  /** Resolves when the pending writes are done. */
  async close(): Promise<void> {
    for (const { timer } of this.#away.values()) timer.cancel();
    await this.#writing;
  }
}

const key = ({ uid, container, resource }: Holding) => `${uid} ${container} ${resource}`;

/** Returns the newest allocation of each key; earlier ones in the list are newer. */
function newestOfEach(holdings: readonly Holding[]): readonly Holding[] {
  const newest = new Map<string, Holding>();
  for (const holding of holdings) if (!newest.has(key(holding))) newest.set(key(holding), holding);
  return [...newest.values()];
}
