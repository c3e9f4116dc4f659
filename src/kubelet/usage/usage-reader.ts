/**
 * The only reader of the usage of pods and the node: from cgroups, namespaces and file systems, never from
 * the engine. It reads on request, and for a while after a request every ten seconds, so that the next
 * request gets rates over a sensible interval. Without requests it costs nothing.
 */
import { join } from 'node:path';
import { claimNameOf } from '../../api/core/v1/pod/claims.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Volume } from '../../api/core/v1/types.gen.ts';
import { type Clock, nextTurn, type Timer } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Exec } from '../../os/exec.ts';
import type { ObservedPod } from '../runtime/observed-pod.ts';
import type { ContainerState, SandboxState } from '../runtime/runtime.ts';
import { servedMountPoints } from '../volumes/mounts.ts';
import { DirectorySizes } from './directory-sizes.ts';
import { GroupReader } from './group-reader.ts';
import { readNowIfThere } from './kernel-text.ts';
import { readLogSize, readWritableLayer } from './layers.ts';
import { readMachine } from './machine-reader.ts';
import { CpuHistory, PodCpuTotals } from './plan/cpu-history.ts';
import { interfacesIn } from './plan/network-files.ts';
import type { ContainerReading, PodReading, UsageSnapshot, VolumeReading } from './snapshot.ts';
import { VolumeFileSystems } from './volume-file-systems.ts';

export interface UsageReaderOptions {
  readonly pods: () => readonly Pod[];
  readonly observe: (uid: string) => ObservedPod;
  /**
   * Returns the path of a pod's volume; undefined for a volume that is not measured or does not exist yet.
   */
  readonly volume: (pod: Pod, volume: Volume) => string | undefined;
  /** Directory of the engine; undefined while it is not known. */
  readonly engineDirectory: () => string | undefined;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly log: Logger;
  /** Directory of /proc and /sys: '/' except in tests. */
  readonly root?: string;
}

/** A request within this time gets the same snapshot. */
const freshMs = 1_000;
export const everyMs = 10_000;
/** Time after a request during which reading continues; Prometheus requests at least once a minute. */
const readingPeriodMs = 90_000;
/** Minimum interval of measuring logs, the same as for directories. */
const logMs = 60_000;
/** Number of pods read in one turn of the event loop, which blocks it for less than a millisecond. */
const atOnce = 2;

export class UsageReader {
  readonly groups: GroupReader;
  readonly #options: UsageReaderOptions;
  readonly #history = new CpuHistory();
  readonly #totals = new PodCpuTotals();
  readonly #sizes: DirectorySizes;
  readonly #fileSystems: VolumeFileSystems;
  #reading: Promise<UsageSnapshot> | undefined;
  #last: UsageSnapshot | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #requestedAt = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;
  #known: ReadonlySet<string> = new Set();
  /** Writable directories of running containers, by container id; they do not change. */
  readonly #layers = new Map<string, string>();
  /** Last sizes of containers' logs, by container id. */
  readonly #logs = new Map<string, NonNullable<ContainerReading['log']>>();
  #closed = false;

  constructor(options: UsageReaderOptions) {
    this.#options = options;
    this.groups = new GroupReader(options.root);
    this.#sizes = new DirectorySizes(options);
    this.#fileSystems = new VolumeFileSystems(options);
  }

  /**
   * Returns the usage, at most `oldestMs` milliseconds old. Rejects when the kernel's files are missing or
   * cannot be parsed.
   */
  read(oldestMs = freshMs): Promise<UsageSnapshot> {
    const { clock } = this.#options;
    this.#requestedAt = clock.monotonic();
    this.#goOn();
    if (this.#last && clock.monotonic() - this.#lastAt < oldestMs) return Promise.resolve(this.#last);
    return this.#readNow();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await Promise.allSettled([this.#reading, this.#sizes.close()]);
  }

  #goOn(): void {
    const { clock, log } = this.#options;
    if (this.#timer || this.#closed) return;
    this.#timer = clock.after(everyMs, () => {
      this.#timer = undefined;
      if (this.#closed || clock.monotonic() - this.#requestedAt > readingPeriodMs) return;
      this.#goOn();
      this.#readNow().catch((error) =>
        log.debug('cannot read what pods use', { error: errorMessage(error) }),
      );
    });
  }

  #readNow(): Promise<UsageSnapshot> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<UsageSnapshot> {
    const { clock, pods, root } = this.#options;
    const at = clock.now();
    const node = await readMachine(clock, this.#history, root);
    const all = pods();
    const served = await servedMountPoints();
    const readings: PodReading[] = [];
    for (let first = 0; first < all.length; first += atOnce) {
      const some = await Promise.all(
        all.slice(first, first + atOnce).map((pod) => this.#readPod(pod, served)),
      );
      readings.push(...some.filter((reading) => reading !== undefined));
      // Reading all pods without a pause would block the event loop.
      await nextTurn(clock);
    }
    this.#forget(all);
    this.#last = { at, node, pods: readings };
    this.#lastAt = clock.monotonic();
    return this.#last;
  }

  async #readPod(pod: Pod, served: readonly string[]): Promise<PodReading | undefined> {
    const { clock, observe } = this.#options;
    const { uid } = pod.metadata;
    const { sandboxes, containers } = observe(uid);
    const sandbox = sandboxes.find(({ state }) => state === 'running');
    const running = containers
      .filter(({ state }) => state === 'running')
      .toSorted((a, b) => a.createdAt - b.createdAt);
    if (!sandbox && running.length === 0) return undefined;
    const [own, found, interfaces, volumes] = await Promise.all([
      sandbox && this.#readContainer(pod, sandbox),
      Promise.all(running.map((container) => this.#readContainer(pod, container))),
      sandbox?.ip === undefined ? undefined : this.#interfaces(sandbox.pid),
      this.#readVolumes(pod, served),
    ]);
    const read = found.filter((reading) => reading !== undefined);
    const used = new Map([...read, ...(own ? [own] : [])].map(({ id, cpu }) => [id, cpu.total]));
    const at = clock.now();
    return {
      pod,
      startedAt: sandbox?.createdAt ?? Math.min(...running.map(({ createdAt }) => createdAt)),
      at,
      cpu: this.#history.take(uid, { at, total: this.#totals.take(uid, used) }),
      containers: read,
      sandbox: own,
      interfaces,
      volumes,
    };
  }

  async #readContainer(
    pod: Pod,
    container: ContainerState | SandboxState,
  ): Promise<ContainerReading | undefined> {
    const { clock } = this.#options;
    const { id, kind } = container;
    const at = clock.now();
    const [path, cpu, memory, details] = await Promise.all([
      this.groups.path(container),
      this.groups.cpu(container),
      this.groups.memory(container),
      this.groups.details(container),
    ]);
    if (path === undefined || !cpu || !memory) return undefined;
    const name = kind === 'sandbox' ? 'POD' : container.name;
    const { namespace, name: podName, uid } = pod.metadata;
    const layer = kind === 'sandbox' ? undefined : await this.#layer(container);
    return {
      id,
      fullName: `k8s_${name}_${podName}_${namespace}_${uid}_${container.attempt}`,
      name,
      image: kind === 'sandbox' ? '' : container.image,
      startedAt: (kind === 'container' ? container.startedAt : undefined) ?? container.createdAt,
      path,
      at,
      cpu: { ...cpu, ...this.#history.take(id, { at, total: cpu.total }) },
      memory,
      ...details,
      layer: layer === undefined ? undefined : this.#sizes.get(layer),
      log: kind === 'sandbox' ? undefined : await this.#log(id, at),
    };
  }

  #interfaces(pid: number): PodReading['interfaces'] {
    const text = readNowIfThere(join(this.#options.root ?? '/', `proc/${pid}/net/dev`));
    return text === undefined ? undefined : interfacesIn(text);
  }

  async #layer({ id, pid }: ContainerState): Promise<string | undefined> {
    const known = this.#layers.get(id);
    if (known !== undefined) return known;
    const found = await readWritableLayer(pid, this.#options.root);
    if (found !== undefined) this.#layers.set(id, found);
    return found;
  }

  async #log(id: string, at: number): Promise<ContainerReading['log']> {
    const known = this.#logs.get(id);
    if (known && at >= known.at && at - known.at < logMs) return known;
    const directory = this.#options.engineDirectory();
    const size = directory === undefined ? undefined : await readLogSize(directory, id);
    if (!size) return undefined;
    const found = { at, ...size };
    this.#logs.set(id, found);
    return found;
  }

  async #readVolumes(pod: Pod, served: readonly string[]): Promise<readonly VolumeReading[]> {
    const read = this.#volumesOf(pod).map(async ({ name, directory, isOwn, ...more }) => {
      // Storage that is not the pod's own may be too large to be measured in time: as upstream, its file
      // system's usage is reported.
      const counted = isOwn ? this.#sizes.get(directory) : undefined;
      const on = counted || !isOwn ? await this.#fileSystems.usage(directory, served) : undefined;
      const at = this.#options.clock.now();
      const size = counted ?? (on && { at, bytes: on.size - on.free, inodes: on.inodes - on.inodesFree });
      return size && on ? [{ name, ...more, size, on }] : [];
    });
    return (await Promise.all(read)).flat();
  }

  /** Returns the volumes that the node creates; a path of the machine is not the pod's. */
  #volumesOf(pod: Pod) {
    return (pod.spec.volumes ?? []).flatMap((volume) => {
      const directory = this.#options.volume(pod, volume);
      if (directory === undefined) return [];
      const { name, emptyDir, nfs } = volume;
      const claim = claimNameOf(pod, volume);
      const isOwn = claim === undefined && !nfs;
      return [{ name, directory, claim, isOwn, isEphemeral: isOwn && emptyDir?.medium !== 'Memory' }];
    });
  }

  #forget(pods: readonly Pod[]): void {
    const uids = new Set(pods.map(({ metadata }) => metadata.uid));
    const ids = new Set<string>();
    for (const uid of uids) {
      const { sandboxes, containers } = this.#options.observe(uid);
      for (const { id, state } of [...sandboxes, ...containers]) if (state === 'running') ids.add(id);
    }
    for (const id of this.#known) {
      if (ids.has(id)) continue;
      this.groups.forget(id);
      this.#layers.delete(id);
      this.#logs.delete(id);
    }
    this.#known = ids;
    this.#history.keep(new Set(['node', 'agent', ...uids, ...ids]));
    this.#totals.keep(uids);
    const volumes = pods.flatMap((pod) => this.#volumesOf(pod));
    this.#fileSystems.keep(new Set(volumes.map(({ directory }) => directory)));
    const own = volumes.flatMap(({ directory, isOwn }) => (isOwn ? [directory] : []));
    this.#sizes.want([...this.#layers.values(), ...own]);
  }
}
